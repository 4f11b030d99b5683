// SPDX-License-Identifier: MIT OR Apache-2.0
import { dispose } from "../../globals.js";
import { hzDefault, meterRules, type Rules, wholeNumber } from "../options.js";
import type { Stall, StallCause } from "../report.js";

// The metrics, their units and their buckets. The names follow OpenTelemetry's conventions. Prometheus's names follow from them by
// OpenTelemetry's own rules: dots become underscores, the unit is appended, then `_total` for counters.

export interface Instrument {
  readonly name: string;
  /** Unit in the Unified Code for Units of Measure: `s`, or an annotation in braces. */
  readonly unit: "s" | "{frame}";
  readonly description: string;
}

export const stallDuration: Instrument = {
  name: "clearway.stall.duration",
  unit: "s",
  description: "Length of the intervals in which the thread could not answer an event, by cause.",
};

/** The counters. Each counts the part of a stall that its name says. */
export const counters = {
  gc: {
    name: "clearway.stall.gc.time",
    unit: "s",
    description: "Time in stalls for which garbage collection paused the thread.",
  },
  machine: {
    name: "clearway.stall.machine.time",
    unit: "s",
    description: "Time in stalls for which the machine ran other threads.",
  },
  hitch: {
    name: "clearway.hitch.time",
    unit: "s",
    description: "Time by which stalls exceed a frame at the configured rate, 60 Hz by default.",
  },
  frames: {
    name: "clearway.frame.dropped",
    unit: "{frame}",
    description: "Frames that stalls drop at the configured rate, computed from the lengths of the stalls.",
  },
  mark: {
    name: "clearway.mark.stall.time",
    unit: "s",
    description: "Time in stalls that fell into a mark of the app, by the label of the mark.",
  },
} as const satisfies Record<string, Instrument>;

export type CounterName = keyof typeof counters;

/**
 * Upper bounds of the histogram's buckets, in seconds: a frame at 120, 60 and 30 Hz, then 50 ms (a long task), 100 ms (perceived as
 * instant), and powers up to a thread that hangs.
 */
export const boundsS: readonly number[] = [0.00833, 0.01667, 0.03333, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The attributes of the metrics, by their names in OpenTelemetry and in Prometheus. */
export const causeAttribute = { openTelemetry: "clearway.stall.cause", prometheus: "cause" } as const;
export const markAttribute = { openTelemetry: "clearway.mark.label", prometheus: "mark" } as const;

/** Options of every exporter of metrics. */
export interface MetricsOptions {
  /** Frame rate for hitches and dropped frames, in hertz. Default: 60 in a page. Elsewhere there are no frames, and no such series by default. */
  readonly hz?: number | undefined;
  /**
   * The maximum number of different mark labels per scope. Default: 100. The time of further labels counts for the label `_other`, so that
   * labels with unbounded values cannot fill the memory of an app or of a database.
   */
  readonly marksMax?: number | undefined;
}

/** The stalls of one thread, or of another part that is measured on its own. */
export interface StallScope {
  /**
   * Counts a stall. Pass this function as `onStall` to `watch()`, or call it with the stalls of a report. Needs no `this`, never throws,
   * and does nothing after `close()`.
   */
  readonly onStall: (stall: Stall) => void;
  /** Ends the scope. Further calls do nothing. */
  close(): void;
  /** Ends the scope at the end of a `using` block. */
  [Symbol.dispose](): void;
}

export const metricsRules: Rules = { hz: meterRules["hz"]!, marksMax: wholeNumber(0) };
export const metricsDefaults = { hz: hzDefault, marksMax: 100 } as const;

/** Whether this thread draws frames. */
export const hasFrames = (): boolean => "document" in globalThis;

/** The label that gets the time of all marks beyond `marksMax`. */
const otherMark = "_other";

/** Returns an object that ends with `close` in a `using` block. Older browsers lack the symbol; compilers use this same fallback. */
export function disposable<T extends object>(scope: T, close: () => void): T & { [Symbol.dispose](): void } {
  return Object.assign(scope, { [dispose]: close }) as T & { [Symbol.dispose](): void };
}

/** The labels that the metrics themselves have, or that Prometheus computes with. */
const reserved = new Set<string>([causeAttribute.prometheus, markAttribute.prometheus, "le", "quantile"]);

/**
 * Returns a copy of the labels in the order of their names, without empty ones: Prometheus takes an empty label for none. Throws `RangeError`
 * for a name that is reserved, that is among the metrics' `own`, or that Prometheus does not allow, and `TypeError` for a value that is not a string.
 */
export function checkedLabels(
  labels: Readonly<Record<string, string>>,
  own: readonly string[] = [],
): [name: string, value: string][] {
  const taken = new Set([...reserved, ...own]);
  if (typeof labels !== "object" || !labels) throw new TypeError(`labels must be an object: labels=${String(labels)}`);
  const entries = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, value] of entries) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name.startsWith("__") || taken.has(name)) {
      const none = `not __ at the start, not ${[...taken].join(", ")}`;
      throw new RangeError(`a label must have letters, digits and _ (${none}): label=${JSON.stringify(name)}`);
    }
    if (typeof value !== "string") throw new TypeError(`the label ${name} must be a string: ${name}=${typeof value}`);
  }
  return entries.filter(([, value]) => value !== "");
}

/** Returns labels as they are written between braces. */
export function labelText(labels: readonly (readonly [name: string, value: string])[]): string {
  return labels.map(([name, value]) => `${name}="${escapedValue(value)}"`).join(",");
}

/**
 * Escapes the characters that end or change a label's value. Different values stay different.
 *
 * Half of a surrogate pair has no form in UTF-8, and Prometheus's parser takes a zero character for the end of the text. Each becomes the
 * replacement character and the code in four hexadecimal digits. So does the replacement character itself.
 */
function escapedValue(value: string): string {
  return value
    .replace(/[\\"\n]/g, (found) => (found === "\n" ? "\\n" : `\\${found}`))
    .replace(/\p{Surrogate}|[\0\ufffd]/gu, (found) => `\ufffd${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** What one stall adds to the metrics. Seconds, except for `frames`. */
interface Amounts extends Record<Exclude<CounterName, "mark">, number> {
  readonly lengthS: number;
  readonly marks: readonly { readonly label: string; readonly timeS: number }[];
}

/** Computes what stalls add, with bounded labels. One object serves one scope. */
export class AmountCounter {
  readonly #labels = new Set<string>();

  constructor(
    private readonly hz: number,
    private readonly marksMax: number,
  ) {}

  of({ lengthMs, gcMs, machineMs, marks }: Stall): Amounts {
    const lengthS = secondsOf(lengthMs);
    // A stall of length b covers b * hz frames, and the last of them still appears, late: see `summarize.ts`.
    const hitch = Math.max(0, lengthS - 1 / this.hz);
    return {
      lengthS,
      gc: secondsOf(gcMs),
      machine: secondsOf(machineMs),
      hitch,
      frames: hitch * this.hz,
      marks: marks.map(({ label, overlapMs }) => ({ label: this.#bounded(label), timeS: secondsOf(overlapMs) })),
    };
  }

  #bounded(label: string): string {
    if (this.#labels.has(label)) return label;
    if (this.#labels.size >= this.marksMax) return otherMark;
    this.#labels.add(label);
    return label;
  }
}

// A counter must not fall and must stay a number, so NaN and negative lengths count as 0.
function secondsOf(ms: number): number {
  return ms > 0 && ms < Number.POSITIVE_INFINITY ? ms / 1000 : 0;
}

/** The counted stalls of one scope. */
export interface ScopeTotals {
  /** The scope's labels as they are written, without braces. Empty if there are none. */
  readonly labels: string;
  readonly causes: Map<StallCause, { count: number; sumS: number; readonly buckets: number[] }>;
  readonly counters: Record<Exclude<CounterName, "mark">, number>;
  /** Stalled seconds by label of a mark. */
  readonly marks: Map<string, number>;
}

export function emptyTotals(labels: string): ScopeTotals {
  return { labels, causes: new Map(), counters: { gc: 0, machine: 0, hitch: 0, frames: 0 }, marks: new Map() };
}

/** Counts one stall. */
export function addTo(totals: ScopeTotals, cause: StallCause, amounts: Amounts): void {
  let own = totals.causes.get(cause);
  if (!own) {
    own = { count: 0, sumS: 0, buckets: boundsS.map(() => 0) };
    totals.causes.set(cause, own);
  }
  own.count++;
  own.sumS += amounts.lengthS;
  const bucket = boundsS.findIndex((bound) => amounts.lengthS <= bound);
  if (bucket >= 0) own.buckets[bucket]!++;
  for (const name of Object.keys(totals.counters) as (keyof ScopeTotals["counters"])[])
    totals.counters[name] += amounts[name];
  for (const { label, timeS } of amounts.marks) totals.marks.set(label, (totals.marks.get(label) ?? 0) + timeS);
}
