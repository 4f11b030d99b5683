// SPDX-License-Identifier: MIT OR Apache-2.0
import { checkProcesses, cores, inContext, threadRules } from "#host";
import { abortSignal, checked, type Rules, type Test, whole, wholeFrom } from "../error/checked.js";
import { type ClearwayError, caused, invalid, messageOf } from "../error/clearway-error.js";
import { queueMicrotask, structuredClone } from "../globals.js";
import type { ThreadOptions } from "../host/host.js";
import type { CallTiming } from "../stats/timings.js";
import { adaptiveWindow, type WindowSetting } from "../stream/credit.js";
import type { Placement } from "../task/task.js";
import { findMemory } from "../transfer/find-memory.js";
import { workerIndexOf } from "./worker-of-key.js";

/**
 * What the pool does with a new call when the queue is full.
 *
 * - `wait`: the call waits above the limits. No call is lost.
 * - `fail`: the call fails with `queue-full`.
 * - `dropOldest`: the oldest waiting call of the lowest priority fails with `dropped`.
 * - `dropNewest`: the new call fails with `dropped`.
 */
export type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";

/** Number of workers: fixed, one per core, or between two bounds. See {@link PoolOptions.size}. */
export type PoolSize =
  | number
  | "cpu"
  | { min?: number | undefined; max?: number | "cpu" | undefined; idleMs?: number | undefined };

/** Options of a pool. Each has a default. `Setup` is the parameter of the module's `setup`. */
export interface PoolOptions<Setup = undefined> extends ThreadOptions {
  /**
   * The number of workers: a fixed number, `"cpu"` for one per core, or bounds. Between the bounds, the pool starts workers under load and
   * ends a worker after `idleMs` milliseconds (default 30,000) without work. Default `{ min: 1, max: "cpu" }`. If `max` is `"cpu"`, a `min`
   * above the number of cores also raises `max`. At most 1,024.
   */
  size?: PoolSize | undefined;
  /** Number of tasks that one worker runs at once. Default 1. Use a larger number for tasks that mostly wait. */
  concurrency?: number | undefined;
  /**
   * Limits of the queue: the number of waiting calls, and the bytes of binary memory in their arguments. Default 16,384 calls and 256 MiB,
   * with `wait`. Infinity is allowed.
   *
   * With 0 `items`, no call waits for another one: a call without a free worker fails with `queue-full`, or with `dropped` if `whenFull` says
   * so. A call may then still wait for a worker that starts. `wait` is refused.
   *
   * With `wait`, calls above the limits wait too. A producer can await `room()` before its next call. A call that alone exceeds `bytes` is
   * accepted if no other call waits.
   *
   * Before the first worker is ready, every call waits, except one call that each starting worker receives early. Calls that were sent to a
   * worker count neither for the limits nor in `stats().queue`.
   */
  queue?: { items?: number | undefined; bytes?: number | undefined; whenFull?: WhenFull | undefined } | undefined;
  /**
   * The window of streams: how far a task may run ahead of its reader. Default 1 MiB, and 16 values at first: without `items`, the window
   * grows up to 1,024 values while the reader reads half of it in less than a millisecond.
   */
  window?: { items?: number | undefined; bytes?: number | undefined } | undefined;
  /** If true, the pool throws `would-copy` instead of copying binary memory, in arguments and results. Default false. */
  strict?: boolean | undefined;
  /** Maximum time for a cancelled task to stop, in milliseconds. After that, the pool replaces the worker. Default 1,000. */
  graceMs?: number | undefined;
  /**
   * Data for the `setup` that the module passes to `expose()`. Copied when the pool is made. Each worker's `setup` receives a copy, before
   * the worker's first call. Throws `not-cloneable` if it cannot be copied.
   */
  setup?: Setup | undefined;
  /** Maximum time for a worker to start, in milliseconds, including the module's `setup`. Default 30,000. */
  startTimeoutMs?: number | undefined;
  /**
   * If true, the pool measures the wait in the queue, the transit, the run and the return of every call. A function also receives these times,
   * after each call; `onError` receives what it throws. Default false. The pool always counts calls.
   */
  metrics?: boolean | ((call: CallTiming) => void) | undefined;
  /**
   * The pool replaces a worker, between calls, after this number of tasks, at this age, or at this heap size. The heap size has an effect
   * in Node and Chromium only.
   */
  recycle?: { tasks?: number | undefined; ageMs?: number | undefined; heapMb?: number | undefined } | undefined;
  /**
   * How calls and results reach the other thread. With `"auto"`, small ones are sent through shared memory if the host has it (Node,
   * cross-origin isolated pages), and all others through a port. With `"port"`, all are sent through a port. Default `"auto"`.
   */
  carrier?: "auto" | "port" | undefined;
  /**
   * How long the copy of one result, or of one value of a stream, may hold this thread, in milliseconds. A larger value crosses in pieces of
   * about 2 ms, with turns of the event loop between them, and arrives as the same plain objects. False turns this off. Default 4. Has no
   * effect with `processes: true`.
   */
  slices?: number | false | undefined;
  /**
   * Loads the task module for inline runs if `source` is a factory: `() => import("./images.tasks.js")`. The pool calls it once, when
   * needed.
   */
  module?: (() => Promise<unknown>) | undefined;
  /**
   * Whether the pool warns of slow use, once for each kind: a copy that takes over 50 ms, a queue that only grows, calls that wait for callbacks
   * of their own pool, and a large argument that is copied although it could be moved. Default: in development, where `process.env.NODE_ENV` is not `"production"`. Node prints a warning
   * with `process.emitWarning` and a code, browsers with `console.warn`.
   */
  warnings?: boolean | undefined;
  /** Name for warnings, and for the workers in debuggers: `NAME-0`. Default `"pool"`. */
  name?: string | undefined;
  /**
   * Receives errors that no call receives, such as an uncaught error in an idle worker. Without this listener, the pool prints
   * them with `console.error`.
   */
  onError?: { method(error: unknown): void }["method"] | undefined; // `(error: Error) => …` fits a method only
  /**
   * Called when a worker is ready for calls, and when one has ended. Like `onError` and `onDrain`, it is called in a microtask. If it throws,
   * the error is an uncaught error of the app and does not affect the pool.
   */
  onWorker?: { method(event: WorkerEvent): void }["method"] | undefined;
  /**
   * Called when calls have waited in the queue and none waits any more, because workers took them, or because they were cancelled or
   * dropped. A call that is sent in the tick in which it is made has not waited.
   */
  onDrain?: (() => void) | undefined;
}

/** The start or the end of a worker. See {@link PoolOptions.onWorker}. */
export type WorkerEvent =
  | {
      /** The worker is ready for calls: its module is loaded, and its `setup` has ended. */
      readonly type: "started";
      /** Index of the worker. Its name in debuggers ends with this number. A worker that replaces another one may have its index. */
      readonly worker: number;
    }
  | {
      /** The worker's thread has ended. A worker that never became ready has this event only. */
      readonly type: "exited";
      readonly worker: number;
      /** The error with which the worker's calls fail. Undefined if the pool retired, recycled, closed or terminated the worker. */
      readonly error: ClearwayError | undefined;
    };

/** Options of calls: `pool.with(options).call.name()`. The options apply to one call or to many. */
export interface CallOptions<Progress = unknown> {
  /** Cancels the call. The call then rejects with the signal's reason at once, and the task's own signal aborts. */
  signal?: AbortSignal | undefined;
  /** Maximum time for the task, in milliseconds from its start in the worker. */
  timeoutMs?: number | undefined;
  /** Maximum time for the whole call, in milliseconds from the call. For a stream, the time counts from its first `next()`. */
  deadlineMs?: number | undefined;
  /** Calls with the same key run in the same worker, one after the other. A stream that waits for its reader does not hold its key. */
  key?: string | number | undefined;
  /** Priority in the queue. Calls of higher priority run first. Calls of equal priority keep their order. Default 0. */
  priority?: number | undefined;
  /** The same as {@link PoolOptions.strict}, for this call. */
  strict?: boolean | undefined;
  /**
   * Where the call runs. Default: the placement of the task, otherwise `"worker"`. A task whose own placement is `"worker"` always runs there,
   * and so does every call that only a worker can serve (see {@link Placement}).
   */
  placement?: Placement | undefined;
  /** The same as {@link PoolOptions.slices}, for this call. */
  slices?: number | false | undefined;
  /** The same as {@link PoolOptions.window}, for this call. */
  window?: { items?: number | undefined; bytes?: number | undefined } | undefined;
  /**
   * Receives the values that the task passes to `progress()`, in order and never after the result. In Node, it runs in the
   * `AsyncLocalStorage` context of the call.
   *
   * While more than 8,192 values or 4 MiB wait for this thread, the worker keeps only the newest value. The last value always arrives. If
   * `onProgress` throws, or rejects while the call is open, the call fails with that error.
   */
  onProgress?: { method(value: Progress): void }["method"] | undefined; // checked as a method's parameter
  /**
   * How many times the pool runs the call again when its worker dies. Only for tasks that may run twice. The pool never repeats streams or
   * calls with moved arguments, because their arguments are gone. Default 0.
   */
  retries?: number | undefined;
}

/** The options of a pool, validated and with defaults. */
export interface Settings
  extends ThreadOptions,
    Omit<
      Required<PoolOptions>,
      | keyof ThreadOptions
      | "setup"
      | "onDrain"
      | "warnings"
      | "size"
      | "queue"
      | "window"
      | "recycle"
      | "module"
      | "slices"
    > {
  slices: number | false | undefined;
  onDrain: (() => void) | undefined;
  warnings: boolean | undefined;
  /** A copy of the data for `setup`. */
  setup: unknown;
  module: (() => Promise<unknown>) | undefined;
  min: number;
  max: number;
  idleMs: number;
  queue: { items: number; bytes: number; whenFull: WhenFull };
  window: WindowSetting;
  recycle: { tasks: number; ageMs: number; heapMb: number };
  /** Whether the app passed `onError`. */
  hasOnError: boolean;
}

/** The options of calls, validated and with defaults. Made once per `with()`, not once per call. */
export interface CallSettings {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number | undefined;
  readonly deadlineMs: number | undefined;
  readonly onProgress: CallOptions["onProgress"] | undefined;
  /** A broadcast's key is a symbol. */
  readonly key: CallOptions["key"] | symbol | undefined;
  /** Index of the worker that serves the call's key. -1 without a key. */
  readonly workerIndex: number;
  readonly placement: Placement | undefined;
  readonly priority: number;
  readonly strict: boolean;
  readonly window: WindowSetting;
  readonly slices: number | false | undefined;
  readonly retries: number;
  /** Whether the call may be cancelled: it has a signal, a timeout or a deadline. */
  readonly limited: boolean;
  /** Whether the call may wait although the queue is full: a mapping waits for room before it reads an input, whose size it cannot know. */
  readonly waits?: boolean;
  /** Whether the call runs in a child process. Never true in browsers. */
  readonly toProcess?: boolean | undefined;
  /** Receives the errors of sources that close. */
  readonly onError: (error: unknown) => void;
  /** The caller's stack, if it was captured before the call. */
  readonly callerStack: string | undefined;
}

const window = { items: whole(1), bytes: 1 };
// Each thread takes some megabytes. A system refuses the thread that is one too many by ending the process.
const workersMax = 1024;
const workers: Test = (value) => {
  const must = wholeFrom(value, 1, workersMax);
  return value === "cpu" || must === true || `"cpu" or ${must}`;
};

// Rules for the options of a worker. The rules apply to `pool()` and `run()`.
const workerRules = {
  graceMs: 0,
  startTimeoutMs: 1,
  ...threadRules,
  setup: () => true as const,
  name: "string",
  warnings: "boolean",
};

const slices: Test = (value) => value === false || (typeof value === "number" && value >= 0) || "false, or 0 or more";
const itemsRule: Test = (value) => value === 0 || (typeof value === "number" && value >= 1) || "0, or 1 or more";

const poolRules: Rules = {
  ...workerRules,
  size: (value) => typeof value === "object" || workers(value),
  concurrency: whole(1),
  queue: { items: itemsRule, bytes: 1, whenFull: ["wait", "fail", "dropOldest", "dropNewest"] },
  window,
  slices,
  strict: "boolean",
  metrics: (value) => typeof value === "boolean" || typeof value === "function" || "true, false or a function",
  recycle: { tasks: 1, ageMs: 1, heapMb: 1 },
  carrier: ["auto", "port"],
  module: "function",
  onError: "function",
  onWorker: "function",
  onDrain: "function",
};

/** Rules for the options of calls. */
export const callRules: Rules = {
  signal: abortSignal,
  timeoutMs: 0,
  deadlineMs: 0,
  key: "string or number",
  priority: (value) => Number.isFinite(value) || "a finite number",
  strict: "boolean",
  placement: ["inline", "worker"],
  window,
  slices,
  onProgress: "function",
  retries: 0,
};

/** Rules for the options of `run()`. */
export const runRules: Rules = { ...workerRules, ...callRules };

const never = Number.POSITIVE_INFINITY;
const defaults = {
  concurrency: 1,
  graceMs: 1_000,
  startTimeoutMs: 30_000,
  carrier: "auto",
  strict: false,
  metrics: false,
  name: "pool",
  queue: { items: 16_384, bytes: 256 * 2 ** 20 },
  recycle: { tasks: never, ageMs: never, heapMb: never },
  window: adaptiveWindow,
};

function boundsOf(size: PoolSize = {}): { min: number; max: number; idleMs: number } {
  const given: Exclude<PoolSize, number | string> =
    typeof size === "object"
      ? checked(size, { min: (value) => wholeFrom(value, 0, workersMax), max: workers, idleMs: 0 }, undefined, "size")
      : { min: count(size), max: size };
  const { min = 1, max: most = "cpu", idleMs = 30_000 } = given;
  const max = count(most);
  if (min > max && most !== "cpu") throw invalid("size.min", `at most size.max (${max})`, min);
  // A `min` above the number of cores raises the maximum.
  return { min, max: Math.max(min, max), idleMs };
}

const count = (size: number | "cpu"): number => (size === "cpu" ? cores() : size);

/** Validates the options of a pool and adds the defaults. Throws `invalid-argument`, which names the first invalid option. */
export function settingsOf(options: PoolOptions, rules = poolRules): Settings {
  const given = checked(options, rules, defaults);
  if (hasProcesses && given.processes) checkProcesses(given);
  const { whenFull, ...limits } = given.queue as Settings["queue"];
  if (limits.items === 0 && whenFull === "wait")
    throw invalid("queue.whenFull", "another value if queue.items is 0", whenFull);
  return {
    ...(given as Settings),
    ...boundsOf(given.size),
    queue: { ...limits, whenFull: whenFull ?? (limits.items ? "wait" : "fail") },
    setup: copyOf(given.setup),
    hasOnError: !!given.onError,
    onError: given.onError ? later(options, given.onError) : (error) => printError(`pool "${given.name}":`, error),
    onWorker: later(options, given.onWorker),
    onDrain: given.onDrain && later(options, given.onDrain),
  };
}

/** Prints an error of the app. Reading it may throw. */
export function printError(title: string, error: unknown): void {
  try {
    console.error(title, error);
  } catch {
    console.error(title, "an error that cannot be read");
  }
}

// Calls a listener in its own microtask. An error that the listener throws is then uncaught and does not affect the pool.
function later<Args extends unknown[]>(options: object, listener?: (...args: Args) => void): (...args: Args) => void {
  const bound = listener && inContext(listener);
  return (...args) => {
    if (bound) queueMicrotask(() => bound.call(options, ...args));
  };
}

// Copies the data for `setup`, so that every worker receives the same, also the one that starts tomorrow. The copy has no memory beside its views.
function copyOf(data: unknown): unknown {
  try {
    return data && structuredClone(findMemory(data, 0).value);
  } catch (reason) {
    throw caused("not-cloneable", `setup cannot cross a thread: ${messageOf(reason)}`, reason);
  }
}

/** Validates the options of calls and adds the defaults. Throws `invalid-argument`, which names the first invalid option. */
export function callSettingsOf(options: CallOptions, pool: Settings, rules = callRules): CallSettings {
  const given = checked(options, rules, {
    priority: 0,
    retries: 0,
    window: pool.window,
    strict: pool.strict,
  });
  const { signal, timeoutMs, deadlineMs, key } = given as CallOptions & CallSettings;
  return {
    ...(given as CallSettings),
    workerIndex: key === undefined ? -1 : workerIndexOf(key, pool.max),
    onError: pool.onError,
    limited: (signal ?? timeoutMs ?? deadlineMs) !== undefined,
    ...(hasProcesses && { toProcess: pool.processes }),
  };
}
