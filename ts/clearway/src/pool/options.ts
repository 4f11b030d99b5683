// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ResourceLimits } from "../host/host.js";
import type { Placement } from "../placement/owner.js";
import type { Window } from "../stream/credit.js";

export type { Placement };

/** What happens to a call when the queue is full. Each word names what is lost; `wait` loses nothing. */
export type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";

/** How many workers. */
export type PoolSize = number | "cpu" | { min?: number; max?: number | "cpu"; idleMs?: number };

/** Settings of a pool. Every one has a default that is good for a start. */
export interface PoolOptions {
  /**
   * A fixed number of workers, `"cpu"` for one a core, or bounds between which the pool grows under load and shrinks
   * after `idleMs` (default 30,000) without work. Default `{ min: 1, max: "cpu" }`; a `min` above the cores raises a `max` of `"cpu"`.
   */
  size?: PoolSize;
  /** How many tasks one worker runs at once. Default 1; more is for tasks that mostly wait. */
  concurrency?: number;
  /**
   * How many calls may wait, and how many bytes of binary memory their arguments may hold. Default 16,384 calls and
   * 256 MiB, `wait`. `wait` holds further calls back in line, and `room()` tells a producer when to go on. A call that
   * alone exceeds `bytes` is let in when nothing else waits. Infinity is allowed. Before the first worker is ready every
   * call waits, but for one a starting worker that is sent ahead, and counts here and in `stats().queue`; afterwards what is
   * with a worker does not.
   */
  queue?: { items?: number; bytes?: number; whenFull?: WhenFull };
  /** The window of streams: how far a task may run ahead of its reader. Default 16 values, 1 MiB. */
  window?: Partial<Window>;
  /** Throw `would-copy` instead of copying binary memory, in arguments and results. Default false. */
  strict?: boolean;
  /** How long a cancelled task may take to stop before its worker is replaced, in milliseconds. Default 1,000. */
  graceMs?: number;
  /** How long a worker may take to start, in milliseconds. Default 30,000. */
  startTimeoutMs?: number;
  /** Measure queue wait, transit, run and return of every call. Default false; counters are always kept. */
  metrics?: boolean;
  /** Limits on a worker's memory (Node). A worker that reaches them is replaced; its call fails with `out-of-memory`. */
  resourceLimits?: ResourceLimits;
  /** Replace a worker, between calls, after so many tasks, at such an age, or above such a heap (Node, Chromium). */
  recycle?: { tasks?: number; ageMs?: number; heapMb?: number };
  /**
   * What carries calls and answers. `"auto"`: small ones travel by shared memory where there is any (Node, cross-origin
   * isolated pages), the rest by port. `"port"`: all by port. Default `"auto"`.
   */
  carrier?: "auto" | "port";
  /**
   * Where calls of plain functions run that do not say it themselves; streams, tasks that hold resources and calls that
   * can be cancelled always go to workers. Default: what each task says, which is `worker` unless it says `auto`.
   */
  placement?: Placement;
  /** For how long inline runs may hold the caller's thread in one turn (on a page: in one frame), in milliseconds. Default 1. */
  inlineBudgetMs?: number;
  /** The task module for inline runs, where `source` is a factory: `() => import("./images.tasks.js")`. Called once, when needed. */
  module?(): Promise<unknown>;
  /** Shown in debuggers and error messages. Default `"pool"`. */
  name?: string;
  /**
   * Receives errors that belong to no call: an uncaught error in a worker that was idle. Without it such an error is printed by
   * `console.error`.
   */
  onError?(error: unknown): void;
}

/** Settings of one call, or of many: `pool.with(options).call.name()`. */
export interface CallOptions {
  /** Cancels the call. It rejects with the signal's reason at once; the task hears of it by its own signal. */
  signal?: AbortSignal;
  /** How long the task may run, in milliseconds, from its start in the worker. */
  timeoutMs?: number;
  /** How long all of it may take, in milliseconds, from the call (for a stream, from its first `next()`). */
  deadlineMs?: number;
  /** Calls with the same key go to the same worker, one after the other while any is under way. */
  key?: string | number;
  /** Higher goes first; default 0. Calls of equal priority keep their order. */
  priority?: number;
  /** As {@link PoolOptions.strict}, for this call. */
  strict?: boolean;
  /** As {@link PoolOptions.placement}, for this call. */
  placement?: Placement;
  /** As {@link PoolOptions.window}, for this call. */
  window?: Partial<Window>;
  /**
   * Receives what the task tells by `progress()`, in order, never after the result; in Node in the `AsyncLocalStorage` context of the
   * call. While this thread is more than 8,192 values or 4 MiB behind, only the newest waits to be sent; the last value is never left
   * out. What it throws ends the call.
   */
  onProgress?(value: unknown): void;
  /**
   * Run again, so many times at most, when the worker died under it. Only for tasks that may run twice, and never for
   * streams or calls with moved arguments (those are gone). Default 0.
   */
  retries?: number;
}
