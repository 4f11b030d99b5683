// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { formatPing } from "../../src/meter/format.js";
import { bestOffset, ping } from "../../src/meter/ping.js";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import fc from "../fixtures/fast-check.js";
import { foreignSignals } from "../fixtures/misdeeds.js";

describe("a ping", () => {
  it("calls any object with a ping method", async () => {
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

  it("calls a plain async function, and reports each sample as it arrives", async () => {
    const seen: number[] = [];
    const report = await ping(async () => {}, { count: 3, onSample: (sample) => seen.push(sample.roundTripMs) });
    expect(seen).toEqual(report.samples.map((sample) => sample.roundTripMs));
  });

  it("omits quantiles that need more samples", async () => {
    expect((await ping(async () => {}, { count: 39 })).roundTripMs.p50).toBeNull();
    const { roundTripMs } = await ping(async () => {}, { count: 40 });
    expect(roundTripMs.p50).not.toBeNull();
    expect(roundTripMs.p90).toBeNull();
  });

  it("separates the two directions by the remote clock, to within the stated error", async () => {
    const offset = 12_345;
    const report = await ping(async () => ({ remoteTimeMs: performance.now() + offset }), { count: 50 });
    const { oneWay } = report;
    expect(oneWay).toBeDefined();
    expect(Math.abs(oneWay!.clockOffsetMs - offset)).toBeLessThanOrEqual(oneWay!.errorMs + 1e-6);
    expect(oneWay!.thereMsMean + oneWay!.backMsMean).toBeCloseTo(report.roundTripMs.mean, 6);
    expect(formatPing(report)).toContain("one way: there");
  });

  it("ends early with its samples when it is aborted, also during a call", async () => {
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

  it("leaves no timer when it is aborted between two pings", async () => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => useRealTimers());
    const controller = new AbortController();
    // The ping sets its timer in the same turn, after the sample.
    const onSample = () => queueMicrotask(() => controller.abort());
    const { roundTripMs } = await ping(async () => {}, { intervalMs: 60_000, signal: controller.signal, onSample });
    expect([roundTripMs.n, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it("ends with a report or the thrown value when a part of its signal throws", async () => {
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

  it("returns its report although its signal's removeEventListener() throws", async () => {
    const { signal } = foreignSignals["the removeEventListener() of a signal"]!(() => {
      throw new Error("foreign");
    });
    expect((await ping(async () => {}, { count: 3, signal })).roundTripMs.n).toBe(3);
  });

  it("sends nothing with an aborted signal, and reports that no ping came back", async () => {
    const report = await ping(async () => expect.unreachable(), { signal: AbortSignal.abort() });
    expect(report.roundTripMs.n).toBe(0);
    expect(formatPing(report)).toBe("no ping came back");
  });

  it("rejects with the error of a failing target", async () => {
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

  it("lies within the stated error at any latencies, which is at most that of the fastest trip", () => {
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

  it("falls back to the fastest trip when the clocks drifted so far that trips disagree", () => {
    const best = bestOffset([
      { sentMs: 0, remoteMs: 5, backMs: 10 },
      { sentMs: 1000, remoteMs: 1103, backMs: 1004 },
    ]);
    expect(best).toEqual({ offsetMs: 101, errorMs: 2 });
  });

  it("is unknown without a trip", () => {
    expect(bestOffset([])).toBeUndefined();
  });
});
