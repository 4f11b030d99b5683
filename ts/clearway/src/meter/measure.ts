// SPDX-License-Identifier: MIT OR Apache-2.0
import { wallMs } from "../globals.js";
import { formatReport } from "./format.js";
import { check, type MeterOptions, meterRules } from "./options.js";
import type { StallReport } from "./report.js";
import { start } from "./watch.js";

/** Options of {@link measure}. */
export interface MeasureOptions extends MeterOptions {}

/** The result of {@link measure}: the function's value and the report of the run. */
export interface Measurement<Value> {
  /** The function's return value, or the value of its promise. */
  readonly value: Value;
  /**
   * The time from the call to the value, in milliseconds. `report.durationMs` is the same time, less the time in which the page was hidden.
   */
  readonly runtimeMs: number;
  readonly report: StallReport;
  /** Returns the report as text, like {@link formatReport}. */
  toString(): string;
}

/**
 * Runs a function once and reports how it stalled this thread.
 *
 * A function that blocks for 100 ms is one stall of 100 ms. For an async function, the meter finds stalls until its promise settles.
 * The report covers everything on this thread, including other work that runs at the same time.
 *
 * Before the run, the call waits until the meter has started a thread or worker. That takes about 20 ms the first time. After the run, the
 * call waits some tens of milliseconds for reports that arrive late, such as garbage collections, which explain the stalls. The measured
 * time includes neither wait.
 *
 * If the function throws, rejects with the function's own error. Rejects with `RangeError` or `TypeError` for an invalid option.
 */
export async function measure<Value>(
  fn: () => Value | PromiseLike<Value>,
  options: MeasureOptions = {},
): Promise<Measurement<Value>> {
  if (typeof fn !== "function") throw new TypeError(`measure() takes a function: fn=${typeof fn}`);
  check(options, meterRules);
  const { recorder, observer } = start(options, { brief: true });
  try {
    await observer.ready();
    const beginMs = observer.begin();
    recorder.begin(beginMs, wallMs());
    const returned = fn();
    // A plain value ends the run at once. An `await` would add the rest of the tick to the run.
    const isSync = !isPromiseLike(returned);
    const blockedUntilMs = isSync ? undefined : observer.blocked();
    const value = isSync ? returned : await returned;
    const endMs = observer.end(isSync);
    recorder.call(beginMs, blockedUntilMs ?? endMs, options.label ?? (fn.name || "the measured function"));
    await observer.settle();
    recorder.explain(endMs);
    const report = recorder.report(endMs);
    return { value, runtimeMs: endMs - beginMs, report, toString: () => formatReport(report) };
  } finally {
    observer.stop();
  }
}

function isPromiseLike<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return (typeof value === "object" || typeof value === "function") && value !== null && "then" in value;
}
