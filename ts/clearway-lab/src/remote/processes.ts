// SPDX-License-Identifier: MIT OR Apache-2.0
// The worker processes of one measurement. Each runs work/remote-worker.ts, and ends when its stdin ends. Node only.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { readLines } from "../protocol/lines.js";
import type { RemotePlace } from "./kind.js";

/** What a worker process is started with. */
export interface WorkerArguments {
  kind: string;
  place: RemotePlace;
}

/** The first and only line that a worker process writes: it now answers calls. */
export interface WorkerReady {
  address?: string;
}

export interface WorkerProcesses {
  /** The workers' own addresses. Empty if a server finds them. */
  addresses: string[];
  /** Rejects when a worker process ends before `close`. */
  failed: Promise<never>;
  close(): Promise<void>;
}

/** Starts `count` worker processes. Resolves when all of them answer calls. */
export async function startWorkers(args: WorkerArguments, count: number): Promise<WorkerProcesses> {
  const program = fileURLToPath(new URL("./work-remote-worker.js", import.meta.url));
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, [program, JSON.stringify(args)], { stdio: ["pipe", "pipe", "inherit"] }),
  );
  const failed = Promise.race(children.map(failureOf));
  failed.catch(() => {});
  const close = async () => {
    await Promise.all(children.map(end));
  };
  try {
    const ready = await Promise.race([failed, Promise.all(children.map(readyLineOf))]);
    return { addresses: ready.flatMap(({ address }) => address ?? []), failed, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readyLineOf(child: ChildProcess): Promise<WorkerReady> {
  const first = await readLines(child.stdout!).next();
  if (first.done) throw new Error("a worker process ended before it answered calls");
  return first.value as WorkerReady;
}

async function failureOf(child: ChildProcess): Promise<never> {
  const [code, signal] = await once(child, "exit");
  throw new Error(`a worker process ended too early: code=${code} signal=${signal}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  // Nothing that a worker process holds outlives the measurement's own server, so it may end at once.
  child.kill("SIGKILL");
  await exited;
}
