// SPDX-License-Identifier: MIT OR Apache-2.0
import { cores } from "#host";
import { invalid } from "../error/clearway-error.js";
import type { ResourceLimits } from "../host/host.js";
import { defaultWindow, type Window } from "../stream/credit.js";
import type { CallOptions, Placement, PoolOptions, WhenFull } from "./options.js";
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

const anyNumber = "a number";
const wholeNumber = "a whole number";
const workers = '"cpu" or a whole number';
const placements: readonly Placement[] = ["auto", "worker", "inline"];
const noLimit = [Number.POSITIVE_INFINITY] as const;

// What a number may be: where it is not given, at least, of which kind.
type Rule = readonly [otherwise: number | "cpu", least?: number, what?: string];

// The numbers of a group of options: each value or its default, checked.
function numbersOf<Name extends string>(
  group: { readonly [Each in NoInfer<Name>]?: unknown } | undefined,
  prefix: string,
  rules: Record<Name, Rule>,
): Record<Name, number> {
  const numbers = {} as Record<Name, number>;
  for (const name in rules) {
    const [otherwise, least = 1, what = anyNumber] = rules[name];
    let value = group?.[name] ?? otherwise;
    if (value === "cpu" && what === workers) value = cores();
    if (!(typeof value === "number" && value >= least && (what === anyNumber || Number.isInteger(value)))) {
      throw invalid(prefix + name, `${what}, ${least} or more`, value);
    }
    numbers[name] = value;
  }
  return numbers;
}

// A word of a list, checked.
function wordOf<Word>(name: string, value: Word, words: readonly Word[]): Word {
  if (words.includes(value)) return value;
  throw invalid(name, `one of ${words.join(", ")}`, value);
}

function windowOf(window: Partial<Window> | undefined, { items, bytes }: Window): Window {
  return numbersOf(window, "window.", { items: [items, 1, wholeNumber], bytes: [bytes] });
}

function placementOf({ placement }: { placement?: Placement }): Placement | undefined {
  return placement === undefined ? placement : wordOf("placement", placement, placements);
}

function boundsOf(size: PoolOptions["size"] = {}): { min: number; max: number; idleMs: number } {
  const bounds = typeof size === "object" ? size : {};
  const fixed = bounds === size ? undefined : numbersOf({ size }, "", { size: [1, 1, workers] }).size;
  const numbers = numbersOf(bounds, "size.", {
    max: [fixed ?? "cpu", 1, workers],
    min: [fixed ?? 1, 0, wholeNumber],
    idleMs: [30_000, 0],
  });
  const { min, max } = numbers;
  // A machine of fewer cores is no reason to refuse what was asked for.
  if (bounds.max === undefined || bounds.max === "cpu") numbers.max = Math.max(min, max);
  else if (min > max) throw invalid("size.min", `at most size.max (${max})`, min);
  return numbers;
}

/** Completes and checks a pool's options. Throws `invalid-argument` naming the first bad one. */
export function settingsOf(options: PoolOptions): Settings {
  const { queue, recycle, module, resourceLimits, strict = false, metrics = false, name = "pool" } = options;
  return {
    ...boundsOf(options.size),
    ...numbersOf(options, "", {
      concurrency: [1, 1, wholeNumber],
      graceMs: [1_000, 0],
      startTimeoutMs: [30_000],
      inlineBudgetMs: [1, 0],
    }),
    queue: {
      ...numbersOf(queue, "queue.", { items: [16_384], bytes: [256 * 2 ** 20] }),
      whenFull: wordOf("queue.whenFull", queue?.whenFull ?? "wait", ["wait", "fail", "dropOldest", "dropNewest"]),
    },
    recycle: numbersOf(recycle, "recycle.", { tasks: noLimit, ageMs: noLimit, heapMb: noLimit }),
    window: windowOf(options.window, defaultWindow),
    carrier: wordOf("carrier", options.carrier ?? "auto", ["auto", "port"]),
    placement: placementOf(options),
    module,
    resourceLimits,
    strict,
    metrics,
    name,
    // In a turn of its own: what the listener throws is nobody's but the host's, and the pool goes on.
    onError: (error) => queueMicrotask(() => options.onError?.(error)),
  };
}

/** Completes and checks the options of a call. Throws `invalid-argument` naming the first bad one. */
export function callSettingsOf(options: CallOptions, settings: Settings): CallSettings {
  const { signal, timeoutMs, deadlineMs, key, priority = 0, strict = settings.strict, onProgress } = options;
  const { retries } = numbersOf(options, "", { timeoutMs: [0, 0], deadlineMs: [0, 0], retries: [0, 0] });
  if (!Number.isFinite(priority)) throw invalid("priority", "a finite number", priority);
  if (signal !== undefined && typeof signal.addEventListener !== "function") {
    throw invalid("signal", "an AbortSignal", signal);
  }
  return {
    signal,
    timeoutMs,
    deadlineMs,
    onProgress,
    key,
    place: key === undefined ? -1 : placeOfKey(key, settings.max),
    placement: placementOf(options),
    priority,
    strict,
    window: options.window ? windowOf(options.window, settings.window) : settings.window,
    retries,
    limited: (signal ?? timeoutMs ?? deadlineMs) !== undefined,
  };
}
