// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs a piece of work under the published probe, a timer of 1 ms. The scenario `students` measures the same with Clearway's meter.
import { measureFrameDrops } from "clearway/meter";
import { frameDropsOf } from "../mechanism/frame-drops.js";
import type { Measured } from "../protocol/measured.js";
import type { Json, Value } from "../protocol/message.js";

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
