// SPDX-License-Identifier: MIT OR Apache-2.0
// The options of `clearway serve`, and how they become options of clearway-nats.
import { readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { InvalidArgumentError } from "commander";
import { UsageError } from "./errors.js";
import { didYouMean } from "./nearest.js";

export const MODES = ["request", "durable"] as const;
export type Mode = (typeof MODES)[number];

/** The address that is used without --nats and without NATS_URL: a server on this machine. */
export const DEFAULT_SERVER = "nats://127.0.0.1:4222";

/** Largest number of threads of a worker process. More than a few for each core only wait for each other. */
const THREADS_MAX = 1024;

export interface ServeArguments {
  nats?: string[];
  module?: string;
  version?: string;
  concurrency: number;
  /** How long the running calls may take after a signal, in milliseconds. */
  drain: number;
  mode: Mode[];
  idempotent?: string[];
  creds?: string;
  nkey?: string;
  tlsCa?: string;
  tlsCert?: string;
  tlsKey?: string;
}

/** How to log in to NATS. A secret is never an argument, because other users of the machine see the arguments of every process. */
export interface Login {
  user?: string;
  pass?: string;
  token?: string;
  /** The content of a file of credentials (a JWT and a seed). */
  creds?: Uint8Array;
  /** The seed of an NKEY. */
  seed?: Uint8Array;
  tls?: { caFile?: string; certFile?: string; keyFile?: string };
}

const SCHEMES = ["nats", "tls"];

/** Parses addresses of servers with commas: `nats://10.0.0.1:4222,nats://10.0.0.2:4222`. The scheme may be left out. */
export function parseServers(text: string): string[] {
  const addresses = text.split(",").map((each) => each.trim());
  for (const address of addresses) {
    const scheme = /^([^/]*):\/\//.exec(address)?.[1];
    if (scheme !== undefined && !SCHEMES.includes(scheme))
      throw new InvalidArgumentError(
        `an address begins with ${SCHEMES.map((each) => `${each}://`).join(" or ")}, or has no scheme: ${hidden(address)}.${didYouMean(scheme, SCHEMES)}`,
      );
    const url = urlOf(address);
    if (url === undefined || url.hostname === "" || !/^\/?$/.test(url.pathname))
      throw new InvalidArgumentError(`"${hidden(address)}" is no address such as ${DEFAULT_SERVER}`);
    if (url.username !== "" || url.password !== "")
      throw new InvalidArgumentError(
        "an address must not contain a password, because other users see the arguments of a process: set NATS_USER and NATS_PASSWORD, or NATS_TOKEN",
      );
  }
  return addresses;
}

function urlOf(address: string): URL | undefined {
  try {
    return new URL(address.includes("://") ? address.replace(/^\w+:/, "http:") : `http://${address}`);
  } catch {
    return undefined;
  }
}

/** Returns an address without a user and a password. */
function hidden(address: string): string {
  return address.replace(/\/\/[^@/]*@/, "//");
}

/** Parses a number of threads: `cpu`, or an integer. */
export function parseConcurrency(text: string): number {
  if (text === "cpu") return os.availableParallelism();
  const value = Number(text);
  if (text.trim() === "" || !Number.isInteger(value) || value < 1 || value > THREADS_MAX)
    throw new InvalidArgumentError(
      `it is cpu (a thread for each core), or a number of threads from 1 to ${THREADS_MAX}.${didYouMean(text, ["cpu"])}`,
    );
  return value;
}

/** Parses modes with commas. */
export function parseModes(text: string): Mode[] {
  const names = [...new Set(text.split(",").map((each) => each.trim()))];
  const stranger = names.find((name) => !(MODES as readonly string[]).includes(name));
  if (stranger !== undefined)
    throw new InvalidArgumentError(
      `unknown mode "${stranger}". Modes: ${MODES.join(", ")}.${didYouMean(stranger, MODES)}`,
    );
  return names as Mode[];
}

/** Parses names of tasks with commas. */
export function parseTasks(text: string): string[] {
  const names = text.split(",").map((each) => each.trim());
  if (names.includes(""))
    throw new InvalidArgumentError("names of tasks are separated by one comma each, such as resize,rotate");
  return names;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const VERSION = /^[A-Za-z0-9][A-Za-z0-9.+-]{0,63}$/;

export function parseModule(text: string): string {
  if (!NAME.test(text)) throw new InvalidArgumentError("a name has 1 to 64 letters, digits, hyphens and underscores");
  return text;
}

export function parseVersion(text: string): string {
  if (!VERSION.test(text))
    throw new InvalidArgumentError(
      "a version has 1 to 64 letters, digits, dots, hyphens and plus signs, and begins with a letter or a digit",
    );
  return text;
}

/** Returns the name of a module by its file: `images` for `images.tasks.js`. Throws a UsageError if that is no name. */
export function moduleNameOf(file: string): string {
  const name = path.basename(file, path.extname(file)).replace(/\.tasks$/, "");
  if (!NAME.test(name))
    throw new UsageError(`the name of ${path.basename(file)} cannot be the module's name: give one with --module`);
  return name;
}

/** Returns the servers to connect to: those of --nats, or of the variable NATS_URL, or the one on this machine. */
export function serversOf({ nats }: ServeArguments, env: NodeJS.ProcessEnv): string[] {
  if (nats !== undefined) return nats;
  const given = env["NATS_URL"];
  if (given === undefined || given === "") return [DEFAULT_SERVER];
  try {
    return parseServers(given);
  } catch (error) {
    throw new UsageError(`NATS_URL: ${(error as Error).message}`);
  }
}

/** Returns the login: from files that options name, and from the variables of NATS's own command line. */
export function loginOf(options: ServeArguments, env: NodeJS.ProcessEnv): Login {
  const fromEnv = (name: string) => (env[name] === undefined || env[name] === "" ? undefined : env[name]);
  const [user, pass, token] = [fromEnv("NATS_USER"), fromEnv("NATS_PASSWORD"), fromEnv("NATS_TOKEN")];
  const creds = options.creds ?? fromEnv("NATS_CREDS");
  const nkey = options.nkey ?? fromEnv("NATS_NKEY");
  const ways = Object.entries({ NATS_USER: user, NATS_TOKEN: token, "--creds": creds, "--nkey": nkey }).filter(
    ([, each]) => each !== undefined,
  );
  if (ways.length > 1)
    throw new UsageError(`there is more than one login: ${ways.map(([name]) => name).join(" and ")}. Keep one of them`);
  const tls = {
    ...given("caFile", readable("--tls-ca", options.tlsCa ?? fromEnv("NATS_CA"))),
    ...given("certFile", readable("--tls-cert", options.tlsCert ?? fromEnv("NATS_CERT"))),
    ...given("keyFile", readable("--tls-key", options.tlsKey ?? fromEnv("NATS_KEY"))),
  };
  if ("certFile" in tls !== "keyFile" in tls) throw new UsageError("--tls-cert and --tls-key go together");
  return {
    ...given("user", user),
    ...given("pass", pass),
    ...given("token", token),
    ...given("creds", creds === undefined ? undefined : contentOf("--creds", creds)),
    ...given("seed", nkey === undefined ? undefined : seedOf(contentOf("--nkey", nkey))),
    ...(Object.keys(tls).length > 0 && { tls }),
  };
}

function given<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [P in K]?: V });
}

function readable(option: string, file: string | undefined): string | undefined {
  if (file !== undefined) contentOf(option, file);
  return file;
}

function contentOf(option: string, file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UsageError(`${option}: ${file} cannot be read (${(error as Error).message})`);
  }
}

/** Takes the seed from a file, which may end with a newline. */
function seedOf(content: Uint8Array): Uint8Array {
  return new TextEncoder().encode(new TextDecoder().decode(content).trim());
}
