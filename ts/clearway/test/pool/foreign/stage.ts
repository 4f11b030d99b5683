// SPDX-License-Identifier: MIT OR Apache-2.0
import { getEventListeners } from "node:events";
import type { Worker } from "node:worker_threads";
import { type Pool, type PoolOptions, pool, type WorkerSource } from "clearway";
import { globals } from "../../../src/globals.js";
import type { Misdeed } from "../../fixtures/misdeeds.js";
import { inProcesses } from "../../fixtures/pools.js";

// `releaseMs` in `host/node.ts`: an idle worker is unreferenced after this time, even when its pool has ended by then.
const shortMs = 10;

/** Starts counting this thread's timers. */
function watchTimers(): { left(): Promise<string[]>; restore(): void } {
  const { setTimeout: set, clearTimeout: clear } = globals;
  const waiting = new Map<unknown, number>();
  let emptied: (() => void) | undefined;
  const gone = (timer: unknown): void => {
    if (waiting.delete(timer) && waiting.size === 0) emptied?.();
  };
  globals.setTimeout = (act, ms = 0) => {
    const timer = set(() => {
      gone(timer);
      act();
    }, ms);
    waiting.set(timer, ms);
    return timer;
  };
  globals.clearTimeout = (timer) => {
    gone(timer);
    clear(timer);
  };
  return {
    /** Returns the remaining timers, after the short ones have fired. */
    left: async () => {
      const long = [...waiting.values()].filter((ms) => ms > shortMs).map((ms) => `a timer of ${ms} ms`);
      if (long.length === 0 && waiting.size > 0) {
        await new Promise<void>((resolve) => {
          emptied = resolve;
          // These timers are unreferenced. This keeps the process alive until they have fired.
          for (const timer of waiting.keys()) (timer as NodeJS.Timeout).ref();
        });
      }
      return long;
    },
    restore: () => {
      globals.setTimeout = set;
      globals.clearTimeout = clear;
    },
  };
}

export type Foreign = typeof import("../../fixtures/foreign.tasks.js");

export const foreignUrl = new URL("../../fixtures/built/foreign.tasks.js", import.meta.url);

/** The environment of a point: a pool, and everything else that a point may need. */
export interface Stage {
  readonly pool: Pool<Foreign>;
  /** The misbehaviour of the foreign code. A function on the caller's side, a name in a worker. */
  readonly act: Misdeed;
  readonly name: string;
  /** Signals whose remaining listeners are counted at the end. */
  readonly signals: AbortSignal[];
  /** Watches a promise in addition to those that a point returns. */
  follow(promise: PromiseLike<unknown>): void;
}

/** Configures a stage's pool, when the configuration itself is the point. */
export interface Setting {
  source?(act: Misdeed, name: string): WorkerSource;
  options?(act: Misdeed): PoolOptions;
}

const carrier = process.env["CLEARWAY_CARRIER"] === "port" ? "port" : "auto";

/** The pool and signals of one stage. */
export interface Played {
  readonly pool: Pool<Foreign>;
  readonly signals: AbortSignal[];
}

/** Creates a pool, lets `play` use it, and ends it. Returns a list of leftovers, which must be empty. */
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
    const from = source?.(act, name) ?? foreignUrl;
    const processes = inProcesses && typeof from !== "function";
    const made = pool<Foreign>(from, { carrier, processes, ...shared, ...options?.(act) });
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
      "child processes": process.getActiveResourcesInfo().filter((kind) => kind === "ProcessWrap").length,
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
