// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, it } from "vitest";
import { mark } from "../../src/meter/mark.js";
import { measure } from "../../src/meter/measure.js";
import type { Stall, StallReport } from "../../src/meter/report.js";
import { watch } from "../../src/meter/watch.js";
import { busy, pause } from "./busy.js";

// These tests run in a frame that the test runner embeds. page.node.test.ts tests what only a top-level page can see.
describe("measure() in a page", () => {
  it("returns the function's value, and reports its work as one stall", async () => {
    const { value, runtimeMs, report } = await measure(() => busy(100));
    expect(report.stalls).toHaveLength(1);
    // The function blocks the thread from its first line to its last. The machine can only make the stall longer.
    expect(report.stalls[0]!.lengthMs).toBeGreaterThan(value.lengthMs - 0.01);
    expect(report.stalls[0]!.lengthMs).toBeLessThan(runtimeMs + 0.01);
    expect(report.host).toBe("browser");
    expect(report.sources).toContainEqual({ name: "heartbeat", available: true });
  });

  it("counts dropped frames", async () => {
    // Repeats until a frame was dropped: a browser without CPU time may request none during a stall.
    for (;;) {
      const { report } = await measure(async () => {
        await pause(1);
        busy(300);
        await pause(9);
      });
      expect(report.frames.estimated).toBe(false);
      if (report.frames.dropped > 0) break;
    }
  });
});

describe("watch() in a page", () => {
  it("reports a stall once, and keeps its final report after stop()", async () => {
    const told: Stall[] = [];
    const watching = watch({ floorMs: 60, onStall: (stall) => told.push(stall) });
    await watching.ready;
    const isKnown = ({ marks }: Stall): boolean => marks.some(({ label }) => label === "known");
    // Repeats until the stall is reported: a busy machine may delay the watcher as well, or add its own stalls.
    while (!told.some(isKnown)) {
      await new Promise<void>((resolve) => {
        setTimeout(() => {
          mark("known", () => busy(120));
          resolve();
        });
      });
      await pause(1);
    }
    watching.stop();
    const final = watching.report();
    expect(new Set(told.map(({ startMs }) => startMs)).size).toBe(told.length);
    busy(120);
    await pause(1);
    expect(watching.report()).toBe(final);
  });

  it("does not count a hidden page as a stall", async () => {
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
    // Repeats until the stall is reported: a busy machine may delay the beats as long as the stall lasts.
    for (;;) {
      const worker = new Worker(new URL("./measured.worker.ts", import.meta.url), { type: "module" });
      const { report, truth } = await new Promise<{ report: StallReport; truth: { lengthMs: number } }>(
        (resolve, reject) => {
          worker.onmessage = (event) => resolve(event.data);
          worker.onerror = (event) => reject(new Error(event.message));
        },
      );
      worker.terminate();
      expect(report).toMatchObject({ host: "browser-worker", frames: { estimated: true } });
      if (report.longestMs > truth.lengthMs / 2) break;
    }
  });
});
