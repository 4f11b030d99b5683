// SPDX-License-Identifier: MIT OR Apache-2.0
// The figures of a run of `measureFrameDrops` (clearway/meter) at 60 and 120 Hz.
import { droppedFrames, hitchMsPerSecond } from "../statistics/stalls.js";

/** The lags of a run of measureFrameDrops. */
export interface ProbedRun {
  totalMs: number;
  lagsMs: readonly number[];
}

/** The figures of a run, in milliseconds. */
export interface FrameDrops {
  totalMs: number;
  probes: number;
  lagMeanMs: number;
  /** The longest lag. An event that arrived at its begin waited that long. */
  lagMaxMs: number;
  dropped60: number;
  dropped120: number;
  /** Time by which frames are late, in milliseconds per second. */
  hitch60: number;
  hitch120: number;
}

export function frameDropsOf({ totalMs, lagsMs }: ProbedRun): FrameDrops {
  const sum = lagsMs.reduce((total, lag) => total + lag, 0);
  return {
    totalMs,
    probes: lagsMs.length,
    lagMeanMs: lagsMs.length === 0 ? 0 : sum / lagsMs.length,
    // A loop: a run of minutes has more lags than a call may have arguments.
    lagMaxMs: lagsMs.reduce((longest, lag) => Math.max(longest, lag), 0),
    dropped60: droppedFrames(lagsMs, 60),
    dropped120: droppedFrames(lagsMs, 120),
    hitch60: hitchMsPerSecond(lagsMs, totalMs, 60),
    hitch120: hitchMsPerSecond(lagsMs, totalMs, 120),
  };
}
