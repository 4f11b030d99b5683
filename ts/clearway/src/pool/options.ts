// SPDX-License-Identifier: MIT OR Apache-2.0
import { cores, inContext, limitRules } from "#host";
import { checked, type Rules, type Test, whole } from "../error/checked.js";
import { invalid } from "../error/clearway-error.js";
import type { ResourceLimits } from "../host/host.js";
import type { Placement } from "../placement/owner.js";
import { defaultWindow, type Window } from "../stream/credit.js";

export type { Placement };

/** What the pool does with a call when the queue is full. Each word names the lost call; `wait` loses none. */
export type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";

/** Number of workers. */
export type PoolSize = number | "cpu" | { min?: number; max?: number | "cpu"; idleMs?: number };

/** Settings of a pool. Each has a default. */
export interface PoolOptions {
  /**
   * A fixed number of workers, `"cpu"` for one per core, or bounds. Between the bounds, the pool grows under load and shrinks
   * after `idleMs` (default 30,000) without work. Default `{ min: 1, max: "cpu" }`. A `min` above the number of cores raises a `max`
   * of `"cpu"`.
   */
  size?: PoolSize;
  /** Number of tasks that one worker runs at once. Default 1. Use more for tasks that mostly wait. */
  concurrency?: number;
  /**
   * Limits of the queue: the number of calls that wait, and the bytes of binary memory in their arguments. Default 16,384 calls and
   * 256 MiB, `wait`. With `wait`, calls above the limits wait too, and `room()` tells a producer when to go on. A call that
   * alone exceeds `bytes` is accepted when no other call waits. Infinity is allowed. Before the first worker is ready, every
   * call waits, except one that each starting worker receives early. Calls that are with a worker count neither here nor in
   * `stats().queue`.
   */
  queue?: { items?: number; bytes?: number; whenFull?: WhenFull };
  /** The window of streams: how far a task may be ahead of its reader. Default 16 values, 1 MiB. */
  window?: Partial<Window>;
  /** Throw `would-copy` instead of copying binary memory, in arguments and results. Default false. */
  strict?: boolean;
  /** Longest time for a cancelled task to stop before the pool replaces its worker, in milliseconds. Default 1,000. */
  graceMs?: number;
  /** Longest time for a worker to start, in milliseconds. Default 30,000. */
  startTimeoutMs?: number;
  /** Measure queue wait, transit, run and return of every call. Default false. The pool always counts calls. */
  metrics?: boolean;
  /** Limits of a worker's memory (Node). The pool replaces a worker that reaches them; its call fails with `out-of-memory`. */
  resourceLimits?: ResourceLimits;
  /** Replace a worker, between calls, after this number of tasks, at this age, or above this heap size (Node, Chromium). */
  recycle?: { tasks?: number; ageMs?: number; heapMb?: number };
  /**
   * What carries calls and results. `"auto"`: small ones cross through shared memory where it exists (Node, cross-origin
   * isolated pages), all others by port. `"port"`: all cross by port. Default `"auto"`.
   */
  carrier?: "auto" | "port";
  /**
   * Experimental. Where calls of plain functions run, unless a call says it itself. Streams, tasks that hold resources and calls that
   * can be cancelled always run in workers. Default: the placement that each task declares, or else `worker`.
   */
  placement?: Placement;
  /** Longest time for inline runs on the caller's thread in one turn (on a page: in one frame), in milliseconds. Default 1. */
  inlineBudgetMs?: number;
  /** Loads the task module for inline runs if `source` is a factory: `() => import("./images.tasks.js")`. Called once, when needed. */
  module?(): Promise<unknown>;
  /** Shown in debuggers and error messages. Default `"pool"`. */
  name?: string;
  /**
   * Receives errors that belong to no call, such as an uncaught error in an idle worker. Without it, the pool prints such an error with
   * `console.error`.
   */
  onError?(error: unknown): void;
}

/** Settings of one call, or of many: `pool.with(options).call.name()`. */
export interface CallOptions {
  /** Cancels the call. The call rejects with the signal's reason at once, and the task's own signal aborts. */
  signal?: AbortSignal;
  /** Longest time for the task, in milliseconds from its start in the worker. */
  timeoutMs?: number;
  /** Longest time for the whole call, in milliseconds from the call (for a stream, from its first `next()`). */
  deadlineMs?: number;
  /** Calls with the same key go to the same worker, one after the other. */
  key?: string | number;
  /** Calls of higher priority go first. Default 0. Calls of equal priority keep their order. */
  priority?: number;
  /** As {@link PoolOptions.strict}, for this call. */
  strict?: boolean;
  /** As {@link PoolOptions.placement}, for this call. */
  placement?: Placement;
  /** As {@link PoolOptions.window}, for this call. */
  window?: Partial<Window>;
  /**
   * Receives the values that the task passes to `progress()`, in order, never after the result; in Node in the `AsyncLocalStorage`
   * context of the call. While this thread is more than 8,192 values or 4 MiB behind, the worker keeps only the newest value. The last
   * value always arrives. An error that it throws ends the call.
   */
  onProgress?(value: unknown): void;
  /**
   * How often to run the call again when its worker dies. Only for tasks that may run twice. Streams and calls with moved
   * arguments are never run again: their arguments are gone. Default 0.
   */
  retries?: number;
}

/** A pool's options, validated and with defaults. */
export interface Settings
  extends Omit<
    Required<PoolOptions>,
    "size" | "resourceLimits" | "queue" | "window" | "recycle" | "placement" | "module"
  > {
  placement: Placement | undefined;
  module: (() => Promise<unknown>) | undefined;
  min: number;
  max: number;
  idleMs: number;
  queue: { items: number; bytes: number; whenFull: WhenFull };
  window: Window;
  recycle: { tasks: number; ageMs: number; heapMb: number };
  resourceLimits: ResourceLimits | undefined;
  /** Whether the app passed `onError`. */
  hears: boolean;
}

/** Options of calls, validated and with defaults. Made once per `with()`, not once per call. */
export interface CallSettings {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number | undefined;
  readonly deadlineMs: number | undefined;
  readonly onProgress: CallOptions["onProgress"] | undefined;
  readonly key: CallOptions["key"] | undefined;
  /** Index of the worker that serves its key; -1 without a key. */
  readonly place: number;
  readonly placement: Placement | undefined;
  readonly priority: number;
  readonly strict: boolean;
  readonly window: Window;
  readonly retries: number;
  /** Whether the call may be cancelled: it has a signal, a timeout or a deadline. */
  readonly limited: boolean;
}

const placement = ["auto", "worker", "inline"];
const window = { items: whole(1), bytes: 1 };
const workers: Test = (value) => value === "cpu" || whole(1)(value) === true || '"cpu" or a whole number, 1 or more';

// Options of each worker. `run()` has them too.
const workerRules = {
  graceMs: 0,
  startTimeoutMs: 1,
  resourceLimits: limitRules,
  name: "string",
};

const poolRules: Rules = {
  ...workerRules,
  size: (value) => typeof value === "object" || workers(value),
  concurrency: whole(1),
  queue: { items: 1, bytes: 1, whenFull: ["wait", "fail", "dropOldest", "dropNewest"] },
  window,
  strict: "boolean",
  metrics: "boolean",
  recycle: { tasks: 1, ageMs: 1, heapMb: 1 },
  carrier: ["auto", "port"],
  placement,
  inlineBudgetMs: 0,
  module: "function",
  onError: "function",
};

const callRules: Rules = {
  signal: (value) => typeof (value as AbortSignal | null)?.addEventListener === "function" || "an AbortSignal",
  timeoutMs: 0,
  deadlineMs: 0,
  key: "string or number",
  priority: (value) => Number.isFinite(value) || "a finite number",
  strict: "boolean",
  placement,
  window,
  onProgress: "function",
  retries: 0,
};

/** The options of `run()`. */
export const runRules: Rules = { ...workerRules, ...callRules };

const never = Number.POSITIVE_INFINITY;
const defaults = {
  concurrency: 1,
  graceMs: 1_000,
  startTimeoutMs: 30_000,
  inlineBudgetMs: 1,
  carrier: "auto",
  strict: false,
  metrics: false,
  name: "pool",
  queue: { items: 16_384, bytes: 256 * 2 ** 20, whenFull: "wait" },
  recycle: { tasks: never, ageMs: never, heapMb: never },
  window: defaultWindow,
};

function boundsOf(size: PoolOptions["size"] = {}): { min: number; max: number; idleMs: number } {
  const bounds: { min?: PoolSize; max?: PoolSize } =
    typeof size === "object"
      ? checked(size, { min: whole(0), max: workers, idleMs: 0 }, undefined, "size")
      : { min: size, max: size };
  const [min, max] = [bounds.min ?? 1, bounds.max ?? "cpu"].map((each) => (each === "cpu" ? cores() : each)) as [
    number,
    number,
  ];
  // A `min` above the number of cores is allowed.
  if (bounds.max === undefined || bounds.max === "cpu")
    return { idleMs: 30_000, ...bounds, min, max: Math.max(min, max) };
  if (min > max) throw invalid("size.min", `at most size.max (${max})`, min);
  return { idleMs: 30_000, ...bounds, min, max };
}

/** Validates a pool's options and adds the defaults. Throws `invalid-argument` for the first bad one, by name. */
export function settingsOf(options: PoolOptions): Settings {
  const given = checked(options, poolRules, defaults);
  const onError = given.onError && inContext(given.onError);
  return {
    ...(given as Settings),
    ...boundsOf(given.size),
    hears: !!onError,
    // In a microtask of its own: an error that the listener throws is uncaught, and does not affect the pool.
    onError: (error) => queueMicrotask(() => onError?.call(options, error)),
  };
}

/** Validates a call's options and adds the defaults. Throws `invalid-argument` for the first bad one, by name. */
export function callSettingsOf(options: CallOptions, { max, window, strict }: Settings): CallSettings {
  const given = checked(options, callRules, { window, strict, priority: 0, retries: 0 }) as CallOptions & CallSettings;
  const { signal, timeoutMs, deadlineMs, key } = given;
  return {
    signal,
    timeoutMs,
    deadlineMs,
    onProgress: given.onProgress,
    key,
    place: key === undefined ? -1 : placeOfKey(key, max),
    placement: given.placement,
    priority: given.priority,
    strict: given.strict,
    window: given.window,
    retries: given.retries,
    limited: (signal ?? timeoutMs ?? deadlineMs) !== undefined,
  };
}

/** Returns the index of the worker that serves a key. It never changes in a pool. Hashes the key's UTF-16 units with FNV-1a. */
export function placeOfKey(key: string | number, places: number): number {
  const text = String(key);
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % places;
}
