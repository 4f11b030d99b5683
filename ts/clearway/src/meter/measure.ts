// SPDX-License-Identifier: MIT OR Apache-2.0
import { kind, observe } from "#meter-host";
import { formatReport } from "./format.js";
import { checkMeterOptions, floorMsDefault, hzDefault, stallsMaxDefault } from "./options.js";
import { Recorder } from "./recorder.js";
import type { StallReport } from "./report.js";

export interface MeasureOptions {
  /** Frame rate that hitches and estimated frames are computed for; 60 unless told. */
  readonly hz?: number;
  /** Stalls shorter than this are not recorded; 4 ms unless told. */
  readonly floorMs?: number;
  readonly label?: string;
  /** Sample the stacks of a held thread (Node); true unless told. */
  readonly stacks?: boolean;
  /** Count the display's real frames (browser); true unless told. Keeps the page rendering: see docs/meter.md. */
  readonly frames?: boolean;
  /** Time between heartbeats; see docs/meter.md for what each host needs it for. */
  readonly beatMs?: number;
}

export interface Measurement<Value> {
  /** What the function returned, or its promise's value. */
  readonly value: Value;
  /** From the call to the value, in milliseconds. The same as `report.durationMs`, but for hidden time. */
  readonly runtimeMs: number;
  readonly report: StallReport;
  toString(): string;
}

/**
 * Runs a function once and reports what it did to this thread. A function that blocks for 100 ms is one stall of
 * 100 ms; an async one has its stalls found until its promise settles. Everything on this thread counts, also what
 * runs besides the function.
 *
 * Waits for the meter's own start (a thread or worker: some 20 ms the first time) before, and for late evidence (some
 * tens of ms) after; neither is counted. Rejects with the function's own error if it throws.
 */
export async function measure<Value>(
  fn: () => Value | PromiseLike<Value>,
  options: MeasureOptions = {},
): Promise<Measurement<Value>> {
  checkMeterOptions(options);
  const floorMs = options.floorMs ?? floorMsDefault;
  const recorder: Recorder = new Recorder({
    host: kind,
    label: options.label,
    hz: options.hz ?? hzDefault,
    floorMs,
    stallsMax: stallsMaxDefault,
    sources: () => observer.sources(),
  });
  const observer = observe(
    { floorMs, stacks: options.stacks ?? true, frames: options.frames ?? true, beatMs: options.beatMs, brief: true },
    recorder,
  );
  try {
    await observer.ready();
    const beginMs = observer.begin();
    recorder.begin(beginMs, Date.now());
    const returned = fn();
    // A plain value ends the run here and now: an `await` would count the rest of the tick.
    const held = !isPromiseLike(returned);
    const value = held ? returned : await returned;
    const endMs = observer.end(held);
    if (held) recorder.call(beginMs, endMs, options.label ?? (fn.name || "the measured function"));
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
