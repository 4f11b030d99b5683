// SPDX-License-Identifier: MIT OR Apache-2.0
// The options of `clearway-nats serve`, and how they become options of `serveTasks`.
import { existsSync, readFileSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, extname, resolve } from "node:path";

/** A mistake in the command line. The command prints its message without a stack, and exits with status 2. */
export class UsageError extends Error {}

/** The address that is used without --nats and without NATS_URL: a server on this machine. */
const DEFAULT_SERVER = "nats://127.0.0.1:4222";

/** Longest duration of a timer, in milliseconds. */
const MS_MAX = 2 ** 31 - 1;

/** Options of the command that say how to reach NATS. */
export interface ConnectArguments {
  nats?: string | undefined;
  creds?: string | undefined;
  nkey?: string | undefined;
  "tls-ca"?: string | undefined;
  "tls-cert"?: string | undefined;
  "tls-key"?: string | undefined;
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

/** Parses addresses of servers with commas: `nats://10.0.0.1:4222,nats://10.0.0.2:4222`. The scheme may be left out. */
export function parseServers(text: string): string[] {
  const addresses = parseNames(text);
  for (const address of addresses) {
    const url = urlOf(address);
    if (url === undefined || url.hostname === "" || !/^\/?$/.test(url.pathname))
      throw new UsageError(`"${address.replace(/\/\/[^@/]*@/, "//")}" is no address such as ${DEFAULT_SERVER}`);
    if (url.username !== "" || url.password !== "")
      throw new UsageError(
        "an address must not contain a password, because other users see the arguments of a process: set NATS_USER and NATS_PASSWORD, or NATS_TOKEN",
      );
  }
  return addresses;
}

function urlOf(address: string): URL | undefined {
  const [, host = address] = /^(?:nats|tls):\/\/(.*)$/.exec(address) ?? [];
  try {
    return host.includes("://") ? undefined : new URL(`http://${host}`);
  } catch {
    return undefined;
  }
}

/** Parses names with commas. */
export const parseNames = (text: string): string[] => text.split(",").map((each) => each.trim());

/** Parses a number of threads: `cpu` (one for each core), or an integer of 1 or more. */
export function parseConcurrency(text: string): number {
  if (text === "cpu") return availableParallelism();
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new UsageError(`--concurrency is cpu (a thread for each core), or a number of threads: ${text}`);
  return Number(text);
}

/** Parses a duration: `500`, `500ms` or `2s`. Returns milliseconds. */
export function parseDuration(text: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(text) ?? [];
  const ms = Number(digits) * (unit === "s" ? 1000 : 1);
  if (!(ms > 0 && ms <= MS_MAX)) throw new UsageError(`--drain is a duration such as 500ms or 25s: ${text}`);
  return ms;
}

/** Returns the absolute path of a task module. Throws a UsageError if it is no file. */
export function findModule(name: string): string {
  const file = resolve(name);
  if (!existsSync(file) || !statSync(file).isFile()) throw new UsageError(`${name} is no file`);
  return file;
}

/** Returns the name of a module by its file: `images` for `images.tasks.js`. */
export const moduleNameOf = (file: string): string => basename(file, extname(file)).replace(/\.tasks$/, "");

/** Returns the servers to connect to: those of --nats, or of the variable NATS_URL, or the one on this machine. */
export function serversOf({ nats }: ConnectArguments, env: NodeJS.ProcessEnv): string[] {
  if (nats !== undefined) return parseServers(nats);
  const given = env["NATS_URL"];
  if (given === undefined || given === "") return [DEFAULT_SERVER];
  try {
    return parseServers(given);
  } catch (error) {
    throw new UsageError(`NATS_URL: ${(error as Error).message}`);
  }
}

/** Returns the login: from files that options name, and from the variables of NATS's own command line. */
export function loginOf(options: ConnectArguments, env: NodeJS.ProcessEnv): Login {
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
    ...given("caFile", readable("--tls-ca", options["tls-ca"] ?? fromEnv("NATS_CA"))),
    ...given("certFile", readable("--tls-cert", options["tls-cert"] ?? fromEnv("NATS_CERT"))),
    ...given("keyFile", readable("--tls-key", options["tls-key"] ?? fromEnv("NATS_KEY"))),
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
