// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs a piece of work under Clearway's meter and converts the meter's report into the figures of this family.
import { measure } from "clearway/meter";
import type { Measured } from "../protocol/measured.js";
import type { Json, Value } from "../protocol/message.js";
import { droppedFrames, hitchMsPerSecond } from "../statistics/stalls.js";

/**
 * Shorter stalls are not recorded, and a run without any reports this as its longest stall. Stacks are not sampled: they help a
 * running app to find the cause, and cost the measured thread time.
 */
const FLOOR_MS = 1;

/** Meters `work` once. Worker start and warm-up should be done before, so that they do not count. */
export async function metered(work: () => Promise<Json>): Promise<Measured> {
  let result: Json = null;
  const { report } = await measure(
    async () => {
      result = await work();
    },
    { hz: 60, floorMs: FLOOR_MS, stacks: false },
  );
  const stalls = report.stalls.map((stall) => ({ at: stall.startMs, ms: stall.lengthMs }));
  const lengths = stalls.map((stall) => stall.ms);
  const ms = (value: number): Value => ({ unit: "ms", value });
  return {
    samples: {},
    values: {
      totalRuntime: ms(report.durationMs),
      longestStall: ms(Math.max(report.longestMs, FLOOR_MS)),
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
