// SPDX-License-Identifier: MIT OR Apache-2.0
import type { StallReport } from "./report.js";
import type { Stall } from "./stall.js";
import { summarize } from "./summarize.js";

/** Throws `RangeError` unless `ratio` is a number over 0, at most 1000: a wrong unit is likelier than such a device. */
export function checkRatio(ratio: number): void {
  if (!(typeof ratio === "number" && ratio > 0 && ratio <= 1000))
    throw new RangeError(`ratio must be over 0, at most 1000: ratio=${ratio}`);
}

/**
 * Converts a report to another device's time: every stall gets `ratio` times as long, and all figures are computed again.
 *
 * `ratio` is how many times as long the same work takes on that device: `ratio` in a file of `clearway ratio`, or
 * `there.factor / here.factor` of two device factors. The time between stalls stays the same. The frames are estimated, because the display
 * of that device was not there. The floor grows with the stalls: stalls that were too short here are missing, so measure with a small
 * `floorMs`. The label of the result names the ratio.
 *
 * Returns new data and leaves `report` as it is. Throws `RangeError` if `ratio` is not a number over 0, at most 1000.
 */
export function scaleReport(report: StallReport, ratio: number): StallReport {
  checkRatio(ratio);
  /** Returns a copy in which the named numbers are multiplied. */
  const times = <Fields extends object>(fields: Fields, ...names: (keyof Fields)[]): Fields => {
    const copy = { ...fields };
    for (const name of names) (copy[name] as number) *= ratio;
    return copy;
  };
  let addedMs = 0;
  const stalls = report.stalls.map((stall): Stall => {
    const startMs = stall.startMs + addedMs;
    addedMs += stall.lengthMs * (ratio - 1);
    return {
      ...times(stall, "lengthMs", "errorMs", "machineMs", "gcMs"),
      startMs,
      scripts: stall.scripts.map((script) => times(script, "durationMs", "layoutMs")),
      marks: stall.marks.map((mark) => times(mark, "overlapMs")),
    };
  });
  return summarize({
    ...report,
    label: `${report.label ?? "This thread"} (x ${ratio.toFixed(2)})`,
    durationMs: report.durationMs + addedMs,
    // A report does not say when its covered time began, but its first stall did not begin before.
    coveredFromMs: (report.droppedStalls && report.stalls[0]?.startMs) || 0,
    hz: report.hitch.hz,
    floorMs: report.floorMs * ratio,
    stalls,
    frames: undefined,
  });
}
