// SPDX-License-Identifier: MIT OR Apache-2.0
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { ServeOptions } from "../../src/options/serve.js";

/** Options of {@link startWorker}. */
export interface WorkerOptions extends Omit<ServeOptions, "connection" | "module" | "onError"> {
  module?: string;
  /** By how much the clock of the process is wrong. */
  skewMs?: number;
}

/** A worker process that serves the tasks of `work.tasks.ts`. It ends with its test. */
export interface WorkerProcess {
  readonly pid: number;
  /** Kills the process at once, and settles when it has ended. */
  kill(): Promise<void>;
  /** Settles when the process has ended. */
  readonly exited: Promise<void>;
}

const program = fileURLToPath(new URL("./worker.mjs", import.meta.url));

/** Starts a worker process and waits until calls reach it. Uses the built package. */
export async function startWorker(options: WorkerOptions): Promise<WorkerProcess> {
  const all = { module: "work", pool: { size: { min: 1, max: 2 } }, ...options };
  const child = fork(program, [JSON.stringify(all)], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let log = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-10_000);
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  onTestFinished(kill);
  await Promise.race([
    once(child, "message"),
    exited.then(() => {
      throw new Error(`the worker process ended before it was ready:\n${log}`);
    }),
  ]);
  return { pid: child.pid!, kill, exited };
}
