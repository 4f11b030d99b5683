#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway-nats serve FILE`: a worker process that serves a task module to remote pools until a signal ends it. The exit status is 0 after a
// signal, 1 if it cannot serve, 2 for a wrong argument, and 130 after a second signal.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { credsAuthenticator, nkeyAuthenticator } from "@nats-io/transport-node";
import { onInterruption } from "../../../../scripts/interruption.mjs";
import { visible } from "../../../../scripts/terminal-text.mjs";
import type { ConnectOptions } from "../options/connect.js";
import type { Mode } from "../options/serve.js";
import { serveTasks } from "../serve-tasks.js";
import {
  findModule,
  type Login,
  loginOf,
  moduleNameOf,
  parseConcurrency,
  parseDuration,
  parseNames,
  serversOf,
  UsageError,
} from "./options.js";

const HELP = `Usage: clearway-nats serve <file> [options]

Serves a task module, whose default export is expose({ ... }), to remote pools over NATS.

  --nats <servers>         the NATS servers, with commas; default: NATS_URL, or nats://127.0.0.1:4222
  --module <name>          the name by which callers find the module; default: images for images.tasks.js
  --version <version>      the version that callers ask for; default: 0
  --concurrency <threads>  worker threads: cpu (default: one for each core), or a number
  --mode <modes>           request (default), durable (needs JetStream), or both with a comma
  --idempotent <tasks>     the tasks that durable mode may run again, with commas; default: none
  --drain <duration>       how long the running calls may take after a signal; default: 25s
  --creds <file>           log in with NATS's file of credentials
  --nkey <file>            log in with the seed of an NKEY
  --tls-ca <file>          the certificates that the server's certificate must come from
  --tls-cert <file>        this client's certificate
  --tls-key <file>         the key of this client's certificate

clearway-nats --help prints this text, and clearway-nats --version the version.

NATS_URL, NATS_USER and NATS_PASSWORD, NATS_TOKEN, NATS_CREDS, NATS_NKEY, NATS_CA, NATS_CERT and NATS_KEY have the
meaning that they have for the command nats. The first Ctrl-C or SIGTERM takes no more calls, lets the running ones
finish and ends with status 0. A second one ends at once.
`;

const OPTIONS = {
  nats: { type: "string" },
  module: { type: "string" },
  version: { type: "string" },
  concurrency: { type: "string", default: "cpu" },
  mode: { type: "string", default: "request" },
  idempotent: { type: "string" },
  drain: { type: "string", default: "25s" },
  creds: { type: "string" },
  nkey: { type: "string" },
  "tls-ca": { type: "string" },
  "tls-cert": { type: "string" },
  "tls-key": { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

const print = (text: string): void => void process.stdout.write(visible(text));
const printError = (text: string): void => void process.stderr.write(visible(text));
const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(textOf(error));
  }
}

/** Serves until a signal arrives and the running calls have finished. Returns the exit status. */
async function run(args: string[]): Promise<number> {
  if (args.length === 1 && args[0] === "--version") {
    const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
    print(`${(JSON.parse(manifest) as { version: string }).version}\n`);
    return 0;
  }
  const { values, positionals } = parse(args);
  if (values.help) {
    print(HELP);
    return 0;
  }
  const [command, name, ...rest] = positionals;
  if (command !== "serve" || name === undefined || rest.length > 0)
    throw new UsageError("name one task module: clearway-nats serve <file>; see clearway-nats --help");
  const file = findModule(name);
  const modes = parseNames(values.mode) as Mode[];
  if (values.idempotent !== undefined && !modes.includes("durable"))
    throw new UsageError("--idempotent is for durable mode, which runs calls again: add --mode durable");
  const { version, module = moduleNameOf(file) } = values;
  const size = parseConcurrency(values.concurrency);
  const timeoutMs = parseDuration(values.drain);
  const servers = serversOf(values, process.env);
  const nats = connection(loginOf(values, process.env));
  const stop = new AbortController();
  onInterruption((isFirst) => {
    if (!isFirst) process.exit(130);
    printError("stopping: the running calls finish (press Ctrl-C again to end at once)\n");
    stop.abort();
  });
  const server = await serveTasks(pathToFileURL(file), {
    servers,
    nats,
    module,
    modes,
    pool: { size },
    ...(version !== undefined && { version }),
    ...(values.idempotent !== undefined && { idempotent: parseNames(values.idempotent) }),
    onError: (error) => printError(`warning: ${textOf(error)}\n`),
  }).catch((error: unknown) => {
    throw readable(error, name);
  });
  const threads = `${size} ${size === 1 ? "thread" : "threads"}`;
  print(`serving ${module} ${version ?? "0"} (${modes.join(", ")}) on ${servers.join(", ")} with ${threads}\n`);
  const signalled = new Promise<void>((resolve) => {
    stop.signal.addEventListener("abort", () => resolve(), { once: true });
    if (stop.signal.aborted) resolve();
  });
  await Promise.race([signalled, server.closed]);
  if (!stop.signal.aborted) throw new Error("the connection to NATS has ended for good; the warnings above say why");
  await server.close({ timeoutMs });
  return 0;
}

/** Returns the options of NATS's client for a login. */
function connection({ creds, seed, ...plain }: Login): NonNullable<ConnectOptions["nats"]> {
  if (seed !== undefined) return { ...plain, authenticator: nkeyAuthenticator(seed) };
  if (creds === undefined) return plain;
  try {
    return { ...plain, authenticator: credsAuthenticator(creds) };
  } catch (error) {
    throw new UsageError(`--creds: the file has no credentials of NATS (${textOf(error)})`);
  }
}

/** Turns an error of the start into one that says what to do. */
function readable(error: unknown, file: string): Error {
  const { code } = (error ?? {}) as { code?: unknown };
  const text = textOf(error);
  if (code === "connect-failed")
    return new Error(`${text}. Start a server (nats-server -js), or name another one with --nats`);
  if (code === "invalid-argument") return new UsageError(text);
  return new Error(`${file} cannot be served: ${text}`);
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  printError(`error: ${textOf(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
