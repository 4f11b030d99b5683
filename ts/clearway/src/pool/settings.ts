// SPDX-License-Identifier: MIT OR Apache-2.0
import { cores, inContext, limitRules } from "#host";
import { checked, type Rules, type Test, whole } from "../error/checked.js";
import { invalid } from "../error/clearway-error.js";
import type { ResourceLimits } from "../host/host.js";
import { defaultWindow, type Window } from "../stream/credit.js";
import type { CallOptions, Placement, PoolOptions, PoolSize, WhenFull } from "./options.js";
import { placeOfKey } from "./placement.js";

/** A pool's settings, checked and complete. */
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
  /** Whether somebody gets what `onError` is told. */
  hears: boolean;
}

/** The options of calls, checked and complete: made once for `with()`, not once a call. */
export interface CallSettings {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number | undefined;
  readonly deadlineMs: number | undefined;
  readonly onProgress: CallOptions["onProgress"] | undefined;
  readonly key: CallOptions["key"] | undefined;
  /** The place of its key among the pool's workers; -1 for any. */
  readonly place: number;
  readonly placement: Placement | undefined;
  readonly priority: number;
  readonly strict: boolean;
  readonly window: Window;
  readonly retries: number;
  /** Whether it may be told to stop: it has a signal, a timeout or a deadline. */
  readonly limited: boolean;
}

const placement = ["auto", "worker", "inline"];
const window = { items: whole(1), bytes: 1 };
const workers: Test = (value) => value === "cpu" || whole(1)(value) === true || '"cpu" or a whole number, 1 or more';

// What concerns each worker, also that of `run()`.
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
  // A machine of fewer cores is no reason to refuse what was asked for.
  if (bounds.max === undefined || bounds.max === "cpu")
    return { idleMs: 30_000, ...bounds, min, max: Math.max(min, max) };
  if (min > max) throw invalid("size.min", `at most size.max (${max})`, min);
  return { idleMs: 30_000, ...bounds, min, max };
}

/** Completes and checks a pool's options. Throws `invalid-argument` naming the first bad one. */
export function settingsOf(options: PoolOptions): Settings {
  const given = checked(options, poolRules, defaults);
  const onError = given.onError && inContext(given.onError);
  return {
    ...(given as Settings),
    ...boundsOf(given.size),
    hears: !!onError,
    // In a turn of its own: what the listener throws is nobody's but the host's, and the pool goes on.
    onError: (error) => queueMicrotask(() => onError?.call(options, error)),
  };
}

/** Completes and checks the options of a call. Throws `invalid-argument` naming the first bad one. */
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
