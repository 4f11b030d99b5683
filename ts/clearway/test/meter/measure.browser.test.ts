// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, it } from "vitest";
import { mark } from "../../src/meter/mark.js";
import { measure } from "../../src/meter/measure.js";
import type { StallReport } from "../../src/meter/report.js";
import type { Stall } from "../../src/meter/stall.js";
import { watch } from "../../src/meter/watch.js";
import { atLeastMs, busy, errorsOf, knownStalls, pause, toleranceMs } from "./known-stalls.js";

// These run in a frame that the test runner embeds; what only a top page sees is in page.node.test.ts.
describe("measure() in a page", () => {
  it("gives back the function's value, and its blocking as one stall", async () => {
    const { value, report } = await measure(() => busy(100));
    expect(report.stalls).toHaveLength(1);
    expect(Math.abs(report.stalls[0]!.lengthMs - value.lengthMs)).toBeLessThanOrEqual(toleranceMs(value.lengthMs));
    expect(report.host).toBe("browser");
    expect(report.sources).toContainEqual({ name: "heartbeat", available: true });
  });

  it.each([5, 20, 50, 100, 500])("finds stalls of a known %d ms to within 1 ms or 5 %%", async (nominalMs) => {
    const { value: known, report } = await measure(
      () => knownStalls(nominalMs > 100 ? 5 : 15, nominalMs, Number.POSITIVE_INFINITY),
      // Under the shortest, so that an estimate a little too short still counts as found.
      { floorMs: 3 },
    );
    const errors = errorsOf(known, report.stalls);
    // The median: what the machine did to the watcher's thread does not show on this one.
    expect(errors[errors.length >> 1]).toBeLessThanOrEqual(0);
  });

  it("counts frames that were really dropped", async () => {
    const { report } = await measure(async () => {
      await pause(1);
      busy(300);
      await pause(9);
    });
    expect(report.frames.estimated).toBe(false);
    // 300 ms hold up all frames that are due in them but two: one was asked for before and comes late, with the time at
    // which it was due, and one comes at the end. The rate is rounded, and at 60 Hz 300 ms are 18 frames, or just not.
    expect(report.frames.dropped).toBeGreaterThanOrEqual(Math.floor(0.3 * report.frames.hz - 0.5) - 2);
  });
});

describe("watch() in a page", () => {
  it("tells of a stall once, and keeps its final report after stop", async () => {
    const told: Stall[] = [];
    const watching = watch({ floorMs: 60, onStall: (stall) => told.push(stall) });
    await watching.ready;
    await pause(1);
    setTimeout(() => mark("known", () => busy(120)), 0);
    // The machine may add stalls of its own beside it.
    const known = (): Stall[] => told.filter(({ marks }) => marks.some(({ label }) => label === "known"));
    while (known().length === 0) await pause(1);
    watching.stop();
    const final = watching.report();
    expect(known()).toHaveLength(1);
    expect(known()[0]!.lengthMs).toBeGreaterThanOrEqual(atLeastMs(120));
    busy(120);
    await pause(1);
    expect(watching.report()).toBe(final);
  });

  it("does not take a hidden page for a stall", async () => {
    const watching = watch({ floorMs: 60 });
    await watching.ready;
    const show = (state: DocumentVisibilityState): void => {
      Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
      document.dispatchEvent(new Event("visibilitychange"));
    };
    watching.reset();
    show("hidden");
    const hiddenAt = performance.now();
    busy(200);
    await pause(1);
    const hiddenMs = performance.now() - hiddenAt;
    show("visible");
    Reflect.deleteProperty(document, "visibilityState");
    watching.stop();
    const report = watching.report();
    expect(report.stalls.filter((stall) => stall.lengthMs >= 150)).toEqual([]);
    expect(report.hiddenMs).toBeGreaterThanOrEqual(hiddenMs);
  });
});

describe("a worker scope", () => {
  it("is measured by beats alone", async () => {
    const worker = new Worker(new URL("./measured.worker.ts", import.meta.url), { type: "module" });
    const { report, truth } = await new Promise<{ report: StallReport; truth: { lengthMs: number } }>(
      (resolve, reject) => {
        worker.onmessage = (event) => resolve(event.data);
        worker.onerror = (event) => reject(new Error(event.message));
      },
    );
    worker.terminate();
    expect(report).toMatchObject({ host: "browser-worker", frames: { estimated: true } });
    expect(report.longestMs).toBeGreaterThanOrEqual(atLeastMs(truth.lengthMs));
  });
});
