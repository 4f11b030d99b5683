// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway serve FILE`: a worker process that serves a task module to remote pools over NATS, until a signal ends it.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { ServeOptions } from "clearway-nats/serve";
import { type Command, Option } from "commander";
import type { Compiled } from "../user-code/compile.js";
import { parseDuration } from "./duration-option.js";
import { FailedError, UsageError } from "./errors.js";
import { print, printError } from "./print.js";
import {
  DEFAULT_SERVER,
  type Login,
  loginOf,
  moduleNameOf,
  parseConcurrency,
  parseModes,
  parseModule,
  parseServers,
  parseTasks,
  parseVersion,
  type ServeArguments,
  serversOf,
} from "./serve-options.js";
import { compileFile, findFile } from "./user-file.js";

const HELP = `
NATS_URL, NATS_USER and NATS_PASSWORD, NATS_TOKEN, NATS_CREDS, NATS_NKEY, NATS_CA, NATS_CERT and NATS_KEY have the meaning
that they have for the command nats. The first Ctrl-C or SIGTERM takes no more calls, lets the running ones finish and ends
with status 0. A second one ends at once.`;

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("serve a task module to remote pools over NATS: a worker process (needs the package clearway-nats)")
    .argument("<file>", "the task module, whose default export is expose({ ... })")
    .option("--nats <servers>", `the NATS servers, with commas; default: NATS_URL, or ${DEFAULT_SERVER}`, parseServers)
    .option(
      "--module <name>",
      "the name by which callers find the module; default: images for images.tasks.js",
      parseModule,
    )
    .option("--version <version>", 'the version that callers ask for; default: "0"', parseVersion)
    .addOption(
      new Option("--concurrency <threads>", "worker threads: cpu (one for each core), or a number")
        .argParser(parseConcurrency)
        .default(parseConcurrency("cpu"), "cpu"),
    )
    .addOption(
      new Option("--mode <modes>", "request, durable (needs JetStream), or both with a comma")
        .argParser(parseModes)
        .default(["request"], "request"),
    )
    .option("--idempotent <tasks>", "the tasks that durable mode may run again, with commas; default: none", parseTasks)
    .addOption(
      new Option("--drain <duration>", "how long the running calls may take after a signal")
        .argParser(parseDuration)
        .default(25_000, "25s"),
    )
    .option("--creds <file>", "log in with NATS's file of credentials")
    .option("--nkey <file>", "log in with the seed of an NKEY")
    .option("--tls-ca <file>", "the certificates that the server's certificate must come from")
    .option("--tls-cert <file>", "this client's certificate")
    .option("--tls-key <file>", "the key of this client's certificate")
    .addHelpText("after", HELP)
    .action(async (name: string, options: ServeArguments) => {
      process.exitCode = await serve(name, options);
    });
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Serves until a signal arrives and the running calls have finished. Returns the exit status. */
async function serve(shown: string, options: ServeArguments): Promise<number> {
  const file = findFile(shown);
  if (options.idempotent !== undefined && !options.mode.includes("durable"))
    throw new UsageError("--idempotent is for durable mode, which runs calls again: add --mode durable");
  const servers = serversOf(options, process.env);
  const login = loginOf(options, process.env);
  const module = options.module ?? moduleNameOf(file);
  const packages = new NatsPackages(file);
  const { serveTasks } = await packages.load<typeof import("clearway-nats/serve")>("clearway-nats/serve");
  const stop = new AbortController();
  const onSignal = () => {
    if (stop.signal.aborted) process.exit(130);
    printError("stopping: the running calls finish (press Ctrl-C again to end at once)\n");
    stop.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const target = await moduleUrl(shown, file);
  try {
    const { version, concurrency, mode, idempotent } = options;
    const settings: ServeOptions = {
      servers,
      module,
      modes: mode,
      pool: { size: concurrency },
      nats: await packages.connection(login),
      ...(version !== undefined && { version }),
      ...(idempotent !== undefined && { idempotent }),
      onError: (error) => printError(`warning: ${textOf(error)}\n`),
    };
    const server = await serveTasks(target.url, settings).catch((error: unknown) => {
      throw readable(error, shown);
    });
    const threads = `${concurrency} ${concurrency === 1 ? "thread" : "threads"}`;
    print(`serving ${module} ${version ?? "0"} (${mode.join(", ")}) on ${servers.join(", ")} with ${threads}\n`);
    const signalled = new Promise<void>((resolve) => {
      stop.signal.addEventListener("abort", () => resolve(), { once: true });
      if (stop.signal.aborted) resolve();
    });
    await Promise.race([signalled, server.closed]);
    if (!stop.signal.aborted)
      throw new FailedError(
        "the connection to NATS has ended for good",
        "read the warnings above, and start the process again",
      );
    await server.close({ timeoutMs: options.drain });
    return 0;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    target.compiled?.remove();
  }
}

/** Returns the URL of the module. Compiles it if Node cannot load it as it is. */
async function moduleUrl(shown: string, file: string): Promise<{ url: URL; compiled?: Compiled }> {
  if (/\.[cm]?js$/.test(file)) return { url: pathToFileURL(file) };
  const compiled = await compileFile(shown, [{ file }]);
  return { url: new URL(compiled.urls[0] as string), compiled };
}

/**
 * Loads the packages for NATS: those of the served file's project if it has them, because its tasks must use the same `clearway`, or else
 * those next to this command.
 */
class NatsPackages {
  readonly #places: readonly string[];

  constructor(file: string) {
    this.#places = [file, import.meta.url];
  }

  async load<T>(name: string): Promise<T> {
    for (const place of this.#places) {
      const found = resolved(place, name);
      if (found !== undefined) return (await import(pathToFileURL(found).href)) as T;
    }
    throw new FailedError(
      "clearway serve needs the package clearway-nats, which is not installed",
      `npm install clearway-nats in the project of ${path.basename(this.#places[0] as string)}`,
    );
  }

  /** Returns the options of NATS's client for a login. */
  async connection({ creds, seed, ...plain }: Login): Promise<NonNullable<ServeOptions["nats"]>> {
    if (creds === undefined && seed === undefined) return plain;
    // The client is a package of clearway-nats, and not every package manager shows it to others.
    const own = this.#places.map((place) => resolved(place, "clearway-nats/serve")).find((each) => each !== undefined);
    const client = resolved(own ?? import.meta.url, "@nats-io/transport-node") as string;
    const { credsAuthenticator, nkeyAuthenticator } = (await import(
      pathToFileURL(client).href
    )) as typeof import("@nats-io/transport-node");
    return {
      ...plain,
      authenticator: creds !== undefined ? read(() => credsAuthenticator(creds)) : nkeyAuthenticator(seed),
    };
  }
}

/** Reads credentials. Throws a UsageError if the file has none. */
function read<T>(credentials: () => T): T {
  try {
    return credentials();
  } catch (error) {
    throw new UsageError(`--creds: the file has no credentials of NATS (${textOf(error)})`);
  }
}

/** Returns the path of a package's entry, as `place` would find it. Undefined if it is not installed there. */
function resolved(place: string, name: string): string | undefined {
  try {
    return createRequire(place).resolve(name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "MODULE_NOT_FOUND" || code === "ERR_PACKAGE_PATH_NOT_EXPORTED") return undefined;
    throw error;
  }
}

/** Turns an error of the start into one that says what to do. */
function readable(error: unknown, file: string): Error {
  const { code } = (error ?? {}) as { code?: unknown };
  const text = textOf(error);
  if (code === "connect-failed")
    return new FailedError(text, "start a server (nats-server -js), or name another one with --nats");
  if (code === "invalid-argument") return new UsageError(text);
  return new FailedError(
    `${file} cannot be served: ${text}`,
    "correct the task module, whose default export is expose({ ... })",
  );
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
