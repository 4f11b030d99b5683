// SPDX-License-Identifier: MIT OR Apache-2.0
import { getEventListeners } from "node:events";
import type { Worker } from "node:worker_threads";
import { type Pool, type PoolOptions, pool, type WorkerSource } from "clearway";
import type { Misdeed } from "../../fixtures/misdeeds.js";
import { watchTimers } from "./timers.js";

export type Foreign = typeof import("../../fixtures/foreign.tasks.js");

export const foreignUrl = new URL("../../fixtures/built/foreign.tasks.js", import.meta.url);

/** Where a point is reached: a pool, and what a point may need beside it. */
export interface Stage {
  readonly pool: Pool<Foreign>;
  /** What foreign code does, in place of what it should. On the caller's side a function, in a worker a name. */
  readonly act: Misdeed;
  readonly name: string;
  /** Signals whose listeners are counted in the end. */
  readonly signals: AbortSignal[];
  /** Follows what has to settle beside what a point returns. */
  follow(promise: PromiseLike<unknown>): void;
}

/** What makes a stage's pool, where that is a point of its own. */
export interface Setting {
  source?(act: Misdeed, name: string): WorkerSource;
  options?(act: Misdeed): PoolOptions;
}

const carrier = process.env["CLEARWAY_CARRIER"] === "port" ? "port" : "auto";

/** What is played on. */
export interface Played {
  readonly pool: Pool<Foreign>;
  readonly signals: AbortSignal[];
}

/** Makes a pool, lets `play` use it, ends it, and says what is left: nothing, else the test fails. */
export async function onStage(
  { source, options }: Setting,
  shared: PoolOptions,
  act: Misdeed,
  name: string,
  play: (played: Played) => Promise<void>,
): Promise<string[]> {
  const timers = watchTimers();
  const living = new Set<Worker>();
  const started = (worker: Worker): void => {
    living.add(worker);
    worker.once("exit", () => living.delete(worker));
  };
  process.on("worker", started);
  const signals: AbortSignal[] = [];
  const left: string[] = [];
  try {
    const made = pool<Foreign>(source?.(act, name) ?? foreignUrl, { carrier, ...shared, ...options?.(act) });
    try {
      await play({ pool: made, signals });
      await made.close();
    } finally {
      await made.terminate();
    }
    const { open, queue, workers } = made.stats();
    for (const [what, count] of Object.entries({
      "open calls": open,
      "calls in the queue": queue.items,
      "bytes in the queue": queue.bytes,
      workers: workers.size,
      threads: living.size,
      "listeners on signals": signals.reduce((sum, each) => sum + getEventListeners(each, "abort").length, 0),
    })) {
      if (count !== 0) left.push(`${count} ${what}`);
    }
    left.push(...(await timers.left()));
  } finally {
    timers.restore();
    process.off("worker", started);
  }
  return left;
}
