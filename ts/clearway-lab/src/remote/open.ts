// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens everything that remote calls of one kind need: the server, the worker processes and the caller. Node only.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { packagesMissing } from "../machine/optional-packages.js";
import { readLines } from "../protocol/lines.js";
import type { RemoteCaller, RemoteKind, RemotePlace } from "./kind.js";

/** The kinds by name. They are loaded on demand: a process that measures one kind has not loaded the libraries of another. */
const loaders = {
  "nats-request": async () => (await import("./jetstream.js")).natsRequestKind,
  jetstream: async () => (await import("./jetstream.js")).jetstreamKind,
  clearway: async () => (await import("./clearway.js")).clearwayRequestKind,
  "clearway-durable": async () => (await import("./clearway.js")).clearwayDurableKind,
} satisfies Record<string, () => Promise<RemoteKind>>;

export type RemoteKindName = keyof typeof loaders;

/** Returns a kind. Rejects with a RangeError if there is none of this name. */
export async function kindOf(name: string): Promise<RemoteKind> {
  if (!Object.hasOwn(loaders, name))
    throw new RangeError(`no such kind: kind=${name} (${Object.keys(loaders).join(", ")})`);
  return loaders[name as RemoteKindName]();
}

export interface OpenRemote extends RemoteCaller {
  /** Rejects when a worker process ends early. Calls to it may then stay pending. */
  failed: Promise<never>;
}

/** Opens a kind with `processes` worker processes. `close` ends the caller, the processes and the server, in this order. */
export async function openRemote(name: RemoteKindName, processes: number): Promise<OpenRemote> {
  const kind = await kindOf(name);
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    const problems: unknown[] = [];
    for (const closer of closers.splice(0).reverse()) await closer().catch((problem) => problems.push(problem));
    if (problems.length > 0) throw problems[0];
  };
  try {
    const server = await startServer();
    closers.push(() => server.close());
    const place: RemotePlace = { url: server.url, name: "clearway-lab" };
    await kind.prepare?.(place);
    const workers = await startWorkers({ kind: name, place }, processes);
    closers.push(() => workers.close());
    const caller = await kind.open(place);
    closers.push(() => caller.close());
    return { ...caller, failed: workers.failed, close };
  } catch (error) {
    // The first problem explains the others.
    await close().catch(() => {});
    throw error;
  }
}

/** What a worker process (work/remote-worker.ts) is started with. It ends when its stdin ends. */
export interface WorkerArguments {
  kind: string;
  place: RemotePlace;
}

interface WorkerProcesses {
  /** Rejects when a worker process ends before `close`. */
  failed: Promise<never>;
  close(): Promise<void>;
}

/** Starts `count` worker processes. Resolves when all of them answer calls: each then writes its first and only line. */
async function startWorkers(args: WorkerArguments, count: number): Promise<WorkerProcesses> {
  const program = fileURLToPath(new URL("./work-remote-worker.js", import.meta.url));
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, [program, JSON.stringify(args)], { stdio: ["pipe", "pipe", "inherit"] }),
  );
  const failed = Promise.race(children.map(failureOf));
  failed.catch(() => {});
  const close = async () => {
    // Nothing that a worker process holds outlives the measurement's own server, so it may end at once.
    await Promise.all(children.map(end));
  };
  try {
    await Promise.race([failed, Promise.all(children.map(readyLineOf))]);
    return { failed, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readyLineOf(child: ChildProcess): Promise<void> {
  const first = await readLines(child.stdout!).next();
  if (first.done) throw new Error("a worker process ended before it answered calls");
}

async function failureOf(child: ChildProcess): Promise<never> {
  const [code, signal] = await once(child, "exit");
  throw new Error(`a worker process ended too early: code=${code} signal=${signal}`);
}

// The NATS server of the family `remote`: finds it, and starts it on loopback with its files in a folder of its own. Each measurement has a new
// server, so that no earlier one has warmed it up or left messages.

/** Debian installs servers in /usr/sbin, which is not on every user's path. */
const FURTHER_FOLDERS = ["/usr/sbin", "/usr/local/sbin"];
const PROGRAM = "nats-server";
const INSTALL =
  "scripts/setup.sh nats, apt-get install nats-server, or https://docs.nats.io/running-a-nats-service/introduction/installation";

/** Returns the path of the server's program. Undefined if it is not installed. */
export function findServer(searched = process.env["PATH"] ?? ""): string | undefined {
  return [...searched.split(path.delimiter), ...FURTHER_FOLDERS]
    .filter((folder) => folder !== "")
    .map((folder) => path.join(folder, PROGRAM))
    .find((each) => existsSync(each));
}

/** Returns why mechanisms that need the server and these packages cannot run here, and the remedy. Undefined if they can. */
export function remoteProblem(
  packages: readonly string[],
  find: typeof findServer = findServer,
  isThere?: (name: string) => boolean,
): string | undefined {
  const missing = packagesMissing(packages, isThere);
  if (missing !== undefined) return missing;
  if (find() === undefined) return `${PROGRAM} is not installed: ${INSTALL}`;
  return undefined;
}

interface RunningServer {
  url: string;
  /** Ends the server and deletes its files. */
  close(): Promise<void>;
}

/** Time in which a server must accept connections, in milliseconds. On a busy machine, the first start takes a second. */
const START_MS = 20_000;
/** Time between two reads of the ports file, in milliseconds. */
const POLL_MS = 5;

/** Starts a server. It ends with this process at the latest: an arm also exits when the lab is killed, because its channel then ends. */
async function startServer(): Promise<RunningServer> {
  const program = findServer();
  if (program === undefined) throw new Error(`${PROGRAM} is not installed`);
  const folder = mkdtempSync(path.join(tmpdir(), `clearway-lab-${PROGRAM}-`));
  // The port -1 is any free port. The server writes it into its ports file.
  const args = ["-a", "127.0.0.1", "-p", "-1", "-js", "-sd", folder, "--ports_file_dir", folder];
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  const remove = (): void => {
    child.kill("SIGKILL");
    // The server may still write while it ends.
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  process.once("exit", remove);
  const close = async (): Promise<void> => {
    await end(child);
    process.off("exit", remove);
    remove();
  };
  try {
    const ports = path.join(folder, `${PROGRAM}_${child.pid}.ports`);
    return { url: await Promise.race([endOf(child), untilStarted(ports)]), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function untilStarted(ports: string): Promise<string> {
  const begin = performance.now();
  for (;;) {
    const found = urlOf(ports);
    if (found !== undefined) return found;
    if (performance.now() - begin > START_MS) throw new Error(`the server did not start within ${START_MS / 1000} s`);
    await sleep(POLL_MS);
  }
}

/** Returns the first address in a ports file. Undefined while the file is missing or incomplete. */
function urlOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { nats?: string[] }).nats?.[0];
  } catch {
    return undefined;
  }
}

/** Rejects when the server ends, with the last that it wrote to stderr. */
function endOf(child: ChildProcess): Promise<never> {
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-2000);
  });
  const ended = new Promise<never>((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      reject(
        new Error(`the server ended: code=${code} signal=${signal} ${said.trim().split("\n").slice(-3).join(" | ")}`),
      ),
    );
  });
  // After the start, nothing awaits this promise.
  ended.catch(() => {});
  return ended;
}

/** Kills a process and waits for its end. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
