// SPDX-License-Identifier: MIT OR Apache-2.0
// The figures of dropped frames, and the published verdict in words.
import { describe, expect, test } from "vitest";
import { type FrameDrops, frameDropsOf } from "../src/isolate/metered.js";
import { jankLine, ms } from "../src/statistics/stalls.js";

const drops = (lagMaxMs: number): FrameDrops => frameDropsOf({ totalMs: lagMaxMs, lagsMs: [lagMaxMs] });

describe("frameDropsOf", () => {
  test("counts the frames of a lag beyond its first as dropped", () => {
    expect(frameDropsOf({ totalMs: 1002, lagsMs: [1, 1001] })).toEqual({
      totalMs: 1002,
      probes: 2,
      lagMeanMs: 501,
      lagMaxMs: 1001,
      dropped60: 59,
      dropped120: 119,
      hitch60: expect.closeTo((1001 - 1000 / 60) / 1.002),
      hitch120: expect.closeTo((1001 - 1000 / 120) / 1.002),
    });
  });

  test("has zeros for a run without a lag", () => {
    expect(frameDropsOf({ totalMs: 0, lagsMs: [] })).toMatchObject({ lagMeanMs: 0, lagMaxMs: 0, hitch60: 0 });
  });
});

describe("the published verdict", () => {
  test("of one way has the words of the published experiment", () => {
    expect(jankLine(drops(1001))).toBe("Jank: 59 frames dropped, max lag 1001 ms");
    expect(jankLine(frameDropsOf({ totalMs: 10, lagsMs: [8, 2] }))).toBe(
      "Smooth: max lag 8 ms, average 5 ms, 2 probes",
    );
    expect(jankLine(drops(3))).toBe("Smooth: max lag 3 ms, average 3 ms, 1 probe");
    expect([ms(0.4251), ms(12.345), ms(1234.5)]).toEqual(["0.43 ms", "12.3 ms", "1235 ms"]);
  });
});
