// SPDX-License-Identifier: MIT OR Apache-2.0

import { clockStepMs, now } from "#meter-host";
import { OwnPromise, setTimeout } from "../globals.js";
import { clockStepMsMax, tooCoarse } from "./host/host.js";
import { check, wholeNumber } from "./options.js";
import type { Stall, StallReport } from "./report.js";
import { summarize } from "./summarize.js";

/** Throws `RangeError` unless `ratio` is a number over 0, at most 1000: a wrong unit is likelier than such a device. */
function checkRatio(ratio: number): void {
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

/**
 * The duration of the calibration task on the reference device: a two-core virtual machine on an Intel Xeon, Node 20.20. Four processes
 * gave medians of 3.06 to 3.33 ms, over 21 runs each. The value only sets the unit of the factor. A comparison of two devices does not
 * depend on it.
 */
const referenceMs = 3.3;

/** Options of {@link deviceFactor}. */
export interface DeviceFactorOptions {
  /** The number of counted runs of the task. Default: 21. Each run takes about `referenceMs` times the device's factor. */
  readonly runs?: number | undefined;
}

/** The speed of a device, measured with the same task on every device. Plain data: store it to compare devices. */
export interface DeviceFactor {
  readonly kind: "clearway-device-factor";
  readonly version: 1;
  /** `medianMs / referenceMs`: 2 means that this device takes twice as long as the reference. */
  readonly factor: number;
  readonly medianMs: number;
  readonly referenceMs: number;
  /** Quartile of the runs' times. The distance between both quartiles shows how certain the median is. */
  readonly p25Ms: number;
  readonly p75Ms: number;
  readonly runs: number;
}

/**
 * Measures this device's speed.
 *
 * The measurement blocks the thread for one run at a time, which takes a few milliseconds; 13 ms if the clock steps 1 ms. Between two runs
 * the thread can handle events. Rejects with a RangeError if the clock steps more than 5 ms.
 * The factor covers only one kind of work: integer and memory operations on one core. The factor does not cover a display, a disk or a
 * network.
 */
export async function deviceFactor(options: DeviceFactorOptions = {}): Promise<DeviceFactor> {
  check(options, { runs: wholeNumber(3) });
  const { runs = 21 } = options;
  const stepMs = clockStepMs();
  if (stepMs > clockStepMsMax) throw new RangeError(tooCoarse);
  // A run lasts at least ten steps of the clock on the reference device.
  const repeats = Math.ceil((10 * stepMs) / referenceMs) || 1;
  const times: number[] = [];
  // Starts with as many uncounted runs, so that the compiler has optimised the task before the counted runs.
  for (let run = -runs; run < runs; run++) {
    const startMs = now();
    let sum = 0;
    for (let repeat = 0; repeat < repeats; repeat++) sum = calibrationTask();
    const tookMs = (now() - startMs) / repeats;
    if (sum !== calibrationSum) throw new Error(`the calibration task went wrong: sum=${sum}`);
    if (run >= 0) times.push(tookMs);
    await new OwnPromise<void>((resolve) => setTimeout(resolve, 0));
  }
  times.sort((a, b) => a - b);
  const at = (q: number): number => times[Math.min(runs - 1, Math.floor(runs * q))]!;
  const medianMs = at(0.5);
  return {
    kind: "clearway-device-factor",
    version: 1,
    factor: medianMs / referenceMs,
    medianMs,
    referenceMs,
    p25Ms: at(0.25),
    p75Ms: at(0.75),
    runs,
  };
}

/** A duration on another device, estimated by {@link scaleMs}. */
export interface ScaledMs {
  readonly ms: number;
  /** Lower bound, from the quartiles of both devices. */
  readonly lowMs: number;
  readonly highMs: number;
}

/**
 * Estimates how long work of `ms` on the device `here` takes on `there`. Both devices must have been measured. Throws `RangeError` if the
 * ratio of their medians is not a number over 0, at most 1000, such as for a damaged file.
 */
export function scaleMs(ms: number, here: DeviceFactor, there: DeviceFactor): ScaledMs {
  checkRatio(there.medianMs / here.medianMs);
  return {
    ms: (ms * there.medianMs) / here.medianMs,
    lowMs: (ms * there.p25Ms) / here.p75Ms,
    highMs: (ms * there.p75Ms) / here.p25Ms,
  };
}

/** The result that `calibrationTask` must return. If a compiler skipped the work, the result would be different. */
export const calibrationSum = 1251450432;

const words = new Uint32Array(1 << 16);

/**
 * Fills 256 KB with pseudo-random numbers (xorshift), sorts a part of them and computes a checksum. The work uses integers, branches and
 * memory, but no floating-point numbers.
 */
export function calibrationTask(): number {
  let state = 0x9e3779b9;
  for (let round = 0; round < 24; round++) {
    for (let index = 0; index < words.length; index++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      words[index] = state;
    }
  }
  words.subarray(0, 1 << 14).sort();
  let sum = 0;
  for (let index = 0; index < words.length; index++) sum = (Math.imul(sum, 31) + words[index]!) | 0;
  return sum;
}
