// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, test } from "vitest";
import { globals } from "../../src/globals.js";
import { frameDropsOf } from "../../src/meter/measure.js";
import { measureFrameDrops } from "../../src/meter.js";

const { clock, setInterval, clearInterval } = globals;
afterEach(() => {
  Object.assign(globals, { clock, setInterval, clearInterval });
});

/** Replaces the clock and the timer. */
function scripted() {
  const script = { nowMs: 0, probe: undefined as (() => void) | undefined };
  globals.clock = () => script.nowMs;
  globals.setInterval = (act, ms) => {
    expect(ms).toBe(1);
    script.probe = act;
    return 1 as never;
  };
  globals.clearInterval = () => {
    script.probe = undefined;
  };
  return script;
}

describe("measureFrameDrops", () => {
  test("counts a blocked thread as one lag, and stops its timer", async () => {
    const script = scripted();
    const drops = await measureFrameDrops(() => {
      script.nowMs = 1001;
      return "rows";
    });
    expect(drops).toMatchObject({ value: "rows", hz: 60, totalMs: 1001, probes: 1, lagMeanMs: 1001, lagMaxMs: 1001 });
    expect(drops).toMatchObject({ dropped: 59, droppedAsPublished: 63, drops: [{ startMs: 0, lagMs: 1001 }] });
    expect(drops.verdict).toBe("Jank: 59 frames dropped, max lag 1001 ms");
    expect(script.probe).toBeUndefined();
  });

  test("takes the time between two probes as a lag, and lists those that are longer than a frame", async () => {
    const script = scripted();
    const drops = await measureFrameDrops(
      async () => {
        for (const atMs of [1, 3, 33]) {
          script.nowMs = atMs;
          script.probe?.();
        }
        script.nowMs = 34;
      },
      { hz: 120 },
    );
    expect(drops).toMatchObject({ lagsMs: [1, 2, 30, 1], totalMs: 34, probes: 4, lagMeanMs: 8.5 });
    expect(drops).toMatchObject({ dropped: 3, droppedAsPublished: 4, drops: [{ startMs: 3, lagMs: 30 }] });
  });

  test.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw "failed";
      },
    ],
    ["rejects", () => Promise.reject("failed")],
  ])("rejects with the error of a function that %s, and stops its timer", async (_, run) => {
    const script = scripted();
    await expect(measureFrameDrops(run)).rejects.toBe("failed");
    expect(script.probe).toBeUndefined();
  });

  test("sees a thread that is really blocked", async () => {
    const { lagMaxMs, dropped } = await measureFrameDrops(() => {
      for (const from = performance.now(); performance.now() - from < 100; );
    });
    expect(lagMaxMs).toBeGreaterThanOrEqual(99);
    expect(dropped).toBeGreaterThanOrEqual(5);
  });

  test("refuses what is not a function, and an invalid rate", async () => {
    await expect(measureFrameDrops(5 as never)).rejects.toThrow("fn must be a function: fn=number");
    await expect(measureFrameDrops(() => 1, { hz: 0 })).rejects.toThrow("hz must be over 0, at most 1000: hz=0");
    await expect(measureFrameDrops(() => 1, { hertz: 1 } as never)).rejects.toThrow("hertz must be a known option");
  });
});

test("the line of a smooth run has the lags and the number of probes", () => {
  expect(frameDropsOf([8, 2], 10, 60).verdict).toBe("Smooth: max lag 8 ms, average 5 ms, 2 probes");
  expect(frameDropsOf([0.4251], 0.4251, 60).verdict).toBe("Smooth: max lag 0.43 ms, average 0.43 ms, 1 probe");
  expect(frameDropsOf([], 0, 60)).toMatchObject({ lagMeanMs: 0, lagMaxMs: 0, dropped: 0, droppedAsPublished: 0 });
});
