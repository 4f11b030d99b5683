// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, test, vi } from "vitest";
import { globals } from "../../src/globals.js";
import { calibrationSum, calibrationTask, type DeviceFactor, deviceFactor, scaleMs } from "../../src/meter/device.js";
import { formatPing } from "../../src/meter/format.js";
import { frameDropsOf } from "../../src/meter/measure.js";
import { bestOffset, ping } from "../../src/meter/ping.js";
import { measureFrameDrops } from "../../src/meter.js";
import { useFakeTimers } from "../fixtures/fake-timers.js";
import fc from "../fixtures/fast-check.js";
import { foreignSignals } from "../fixtures/misdeeds.js";

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

const device = (p25Ms: number, medianMs: number, p75Ms: number): DeviceFactor => ({
  kind: "clearway-device-factor",
  version: 1,
  factor: medianMs / 5,
  medianMs,
  referenceMs: 5,
  p25Ms,
  p75Ms,
  runs: 21,
});

describe("the device factor", () => {
  test("is based on work with the same result on every device and run", () => {
    expect(calibrationTask()).toBe(calibrationSum);
    expect(calibrationTask()).toBe(calibrationSum);
  });

  test("is the median of the measured runs over the reference", async () => {
    const measured = await deviceFactor({ runs: 3 });
    expect(measured.runs).toBe(3);
    expect(measured.factor).toBeCloseTo(measured.medianMs / measured.referenceMs, 9);
    expect(measured.p25Ms).toBeLessThanOrEqual(measured.medianMs);
    expect(measured.medianMs).toBeLessThanOrEqual(measured.p75Ms);
    expect(measured.p25Ms).toBeGreaterThan(0);
  });

  test("converts 5 ms here into 12 ms there, with the spread of both measurements", () => {
    const scaled = scaleMs(5, device(4, 5, 5), device(12, 12, 15));
    expect(scaled.ms).toBe(12);
    expect(scaled.lowMs).toBe(12);
    expect(scaled.highMs).toBe(18.75);
  });

  test("refuses devices whose ratio is not a number over 0, at most 1000", () => {
    for (const [here, there] of [
      [0, 5],
      [5, 0],
      [Number.NaN, 5],
      [5, -5],
    ] as const)
      expect(() => scaleMs(5, device(1, here, 1), device(1, there, 1))).toThrow(
        "ratio must be over 0, at most 1000: ratio=",
      );
  });
});

describe("a ping", () => {
  test("calls any object with a ping method", async () => {
    let pinged = 0;
    const pool = {
      async ping() {
        pinged++;
        return {};
      },
    };
    const report = await ping(pool, { count: 5 });
    expect(pinged).toBe(5);
    expect(report.roundTripMs.n).toBe(5);
    expect(report.samples).toHaveLength(5);
    expect(report.oneWay).toBeUndefined();
  });

  test("calls a plain async function, and reports each sample as it arrives", async () => {
    const seen: number[] = [];
    const report = await ping(async () => {}, { count: 3, onSample: (sample) => seen.push(sample.roundTripMs) });
    expect(seen).toEqual(report.samples.map((sample) => sample.roundTripMs));
  });

  test("omits quantiles that need more samples", async () => {
    expect((await ping(async () => {}, { count: 39 })).roundTripMs.p50).toBeNull();
    const { roundTripMs } = await ping(async () => {}, { count: 40 });
    expect(roundTripMs.p50).not.toBeNull();
    expect(roundTripMs.p90).toBeNull();
  });

  test("separates the two directions by the remote clock, to within the stated error", async () => {
    const offset = 12_345;
    const report = await ping(async () => ({ remoteTimeMs: performance.now() + offset }), { count: 50 });
    const { oneWay } = report;
    expect(oneWay).toBeDefined();
    expect(Math.abs(oneWay!.clockOffsetMs - offset)).toBeLessThanOrEqual(oneWay!.errorMs + 1e-6);
    expect(oneWay!.thereMsMean + oneWay!.backMsMean).toBeCloseTo(report.roundTripMs.mean, 6);
    expect(formatPing(report)).toContain("one way: there");
  });

  test("leaves out a reading of the remote clock that is no time", async () => {
    let answers = 0;
    const { oneWay } = await ping(
      async () => ({ remoteTimeMs: answers++ === 3 ? Number.NaN : performance.now() + 1000 }),
      { count: 10 },
    );
    expect(oneWay?.clockOffsetMs).toBeGreaterThan(900);
  });

  test("ends early with its samples when it is aborted, also during a call", async () => {
    const controller = new AbortController();
    let answers = 0;
    const report = await ping(
      () => {
        if (answers++ < 2) return Promise.resolve();
        controller.abort();
        return new Promise(() => {});
      },
      { count: 10, signal: controller.signal },
    );
    expect(report.roundTripMs.n).toBe(2);
  });

  test("leaves no timer when it is aborted between two pings", async () => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const controller = new AbortController();
    // The ping sets its timer in the same turn, after the sample.
    const onSample = () => queueMicrotask(() => controller.abort());
    const { roundTripMs } = await ping(async () => {}, { intervalMs: 60_000, signal: controller.signal, onSample });
    expect([roundTripMs.n, vi.getTimerCount()]).toEqual([1, 0]);
  });

  test("ends with a report or the thrown value when a part of its signal throws", async () => {
    for (const [name, make] of Object.entries(foreignSignals)) {
      const { signal, abort } = make(() => {
        throw new Error("foreign");
      });
      const ends = ping(
        async () => {
          abort();
        },
        { count: 2, signal },
      ).then(
        ({ kind }) => kind,
        ({ message }) => message,
      );
      expect([name, await ends]).toEqual([name, expect.stringMatching(/^(clearway-ping|foreign)$/)]);
    }
  });

  test("returns its report although its signal's removeEventListener() throws", async () => {
    const { signal } = foreignSignals["the removeEventListener() of a signal"]!(() => {
      throw new Error("foreign");
    });
    expect((await ping(async () => {}, { count: 3, signal })).roundTripMs.n).toBe(3);
  });

  test("sends nothing with an aborted signal, and reports that no ping came back", async () => {
    const report = await ping(async () => expect.unreachable(), { signal: AbortSignal.abort() });
    expect(report.roundTripMs.n).toBe(0);
    expect(formatPing(report)).toBe("no ping came back");
  });

  test("rejects with the error of a failing target", async () => {
    await expect(ping(() => Promise.reject(new Error("closed")))).rejects.toThrow("closed");
  });
});

describe("the offset of two clocks", () => {
  const trips = fc.array(
    fc.record({
      sentMs: fc.double({ min: 0, max: 1e5, noNaN: true }),
      thereMs: fc.double({ min: 0.01, max: 50, noNaN: true }),
      backMs: fc.double({ min: 0.01, max: 50, noNaN: true }),
    }),
    { minLength: 1, maxLength: 30 },
  );

  test("lies within the stated error at any latencies, which is at most that of the fastest trip", () => {
    fc.assert(
      fc.property(trips, fc.double({ min: -1e6, max: 1e6, noNaN: true }), (ways, offset) => {
        const timed = ways.map(({ sentMs, thereMs, backMs }) => ({
          sentMs,
          remoteMs: sentMs + thereMs + offset,
          backMs: sentMs + thereMs + backMs,
        }));
        const best = bestOffset(timed)!;
        const fastest = Math.min(...timed.map((trip) => trip.backMs - trip.sentMs));
        expect(Math.abs(best.offsetMs - offset)).toBeLessThanOrEqual(best.errorMs + 1e-6);
        expect(best.errorMs).toBeLessThanOrEqual(fastest / 2 + 1e-6);
      }),
    );
  });

  test("falls back to the fastest trip when the clocks drifted so far that trips disagree", () => {
    const best = bestOffset([
      { sentMs: 0, remoteMs: 5, backMs: 10 },
      { sentMs: 1000, remoteMs: 1103, backMs: 1004 },
    ]);
    expect(best).toEqual({ offsetMs: 101, errorMs: 2 });
  });

  test("is unknown without a trip", () => {
    expect(bestOffset([])).toBeUndefined();
  });
});
