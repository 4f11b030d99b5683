// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs a piece of work under Clearway's meter. Converts the meter's report into the figures of the family `isolate`.
import { measure, measureFrameDrops } from "clearway/meter";
import type { Measured } from "../protocol/measured.js";
import type { Json, Value } from "../protocol/message.js";
import { droppedFrames, hitchMsPerSecond } from "../statistics/stalls.js";

/**
 * Minimum length of a recorded stall, in milliseconds. A run without stalls reports this value as its longest stall. Stacks are
 * not sampled: they help to find causes in a running app, but sampling takes time on the measured thread.
 */
const STALL_MS_MIN = 1;

/** Measures `work` once. The caller starts workers and warms them up first, so that this does not count. */
export async function metered(work: () => Promise<Json>): Promise<Measured> {
  let result: Json = null;
  const { report } = await measure(
    async () => {
      result = await work();
    },
    { hz: 60, floorMs: STALL_MS_MIN, stacks: false },
  );
  const stalls = report.stalls.map((stall) => ({ at: stall.startMs, ms: stall.lengthMs }));
  const lengths = stalls.map((stall) => stall.ms);
  const ms = (value: number): Value => ({ unit: "ms", value });
  return {
    samples: {},
    values: {
      totalRuntime: ms(report.durationMs),
      longestStall: ms(Math.max(report.longestMs, STALL_MS_MIN)),
      stalledTotal: ms(report.stalledMs),
      lagMean: ms(report.lagMeanMs),
      hitchRatio60: { unit: "ms/s", value: hitchMsPerSecond(lengths, report.durationMs, 60) },
      hitchRatio120: { unit: "ms/s", value: hitchMsPerSecond(lengths, report.durationMs, 120) },
      droppedFrames60: {
        unit: "frames",
        value: report.frames.estimated ? droppedFrames(lengths, 60) : report.frames.dropped,
      },
      droppedFrames120: { unit: "frames", value: droppedFrames(lengths, 120) },
    },
    timeline: { totalMs: report.durationMs, stalls },
    result,
    notes: [],
  };
}

// Runs a piece of work under the published probe, a timer of 1 ms. The scenario `students` measures the same with Clearway's meter.

/** Measures `work` once. The caller starts workers first, so that their start does not count. */
export async function probed(work: () => Promise<Json>): Promise<Measured> {
  const { value: result, ...run } = await measureFrameDrops(work);
  const drops = frameDropsOf(run);
  const ms = (value: number): Value => ({ unit: "ms", value });
  const frames = (value: number): Value => ({ unit: "frames", value });
  return {
    samples: {},
    values: {
      totalRuntime: ms(drops.totalMs),
      probes: { unit: "count", value: drops.probes },
      longestStall: ms(drops.lagMaxMs),
      lagMean: ms(drops.lagMeanMs),
      hitchRatio60: { unit: "ms/s", value: drops.hitch60 },
      hitchRatio120: { unit: "ms/s", value: drops.hitch120 },
      droppedFrames60: frames(drops.dropped60),
      droppedFrames120: frames(drops.dropped120),
    },
    result,
  };
}

// The figures of a run of `measureFrameDrops` (clearway/meter) at 60 and 120 Hz.

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
