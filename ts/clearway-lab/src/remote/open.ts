// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens everything that remote calls of one kind need: the server, the worker processes and the caller. Node only.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { readLines } from "../protocol/lines.js";
import type { RemoteCaller, RemoteKind, RemotePlace } from "./kind.js";
import { end, startServer } from "./server.js";

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
