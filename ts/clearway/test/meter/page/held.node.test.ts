// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Watch } from "../../../src/meter/watch.js";
import fc, { cases } from "../../fixtures/fast-check.js";
import { block, expectStalls, hour, minute, second, watched, world } from "./scripted-page.js";

afterEach(() => vi.unstubAllGlobals());

describe("a watch of a blocked page", () => {
  const script: [number, number][] = [
    [second, 20],
    [2 * second, 21],
    [3 * second, 50],
    [4 * second, 100],
    [5 * second, 2600],
    [9 * second, 30],
  ];

  it("finds every stall of 20 ms and more", async () => {
    const { page, watching } = await watched();
    block(page, script);
    page.run(10 * second);
    watching.stop();
    expectStalls(watching.report(), script);
  });

  it.each([["refused"], ["silent"]] as const)("finds every stall when its worker is %s", async (worker) => {
    const { page, watching } = await watched({ worker, timerMs: 8 });
    block(page, script);
    page.run(10 * second);
    watching.stop();
    expectStalls(watching.report(), script, 12);
  });

  it("finds every stall of a page that is hidden and shown again at any time", async () => {
    const parts = fc.array(
      fc.record({
        gapMs: fc.integer({ min: 150, max: 5000 }),
        lengthMs: fc.integer({ min: 20, max: 3000 }),
        hiddenMs: fc.option(fc.integer({ min: 1, max: 9000 })),
      }),
      { minLength: 1, maxLength: 8 },
    );
    const machines = fc.record({
      wayMs: fc.double({ min: 0, max: 0.4, noNaN: true }),
      wakeMs: fc.double({ min: 0, max: 1, noNaN: true }),
      timerMs: fc.double({ min: 0, max: 8, noNaN: true }),
      startMs: fc.integer({ min: 1, max: 700 }),
      worker: fc.constantFrom("runs", "runs", "refused", "silent"),
    });
    await fc.assert(
      fc.asyncProperty(parts, machines, async (timeline, machine) => {
        const { page, watch } = await world(machine);
        try {
          const watching = watch();
          const known: [number, number][] = [];
          let atMs = 0;
          for (const { gapMs, lengthMs, hiddenMs } of timeline) {
            known.push([atMs + gapMs, lengthMs]);
            atMs += gapMs + lengthMs + 100;
            if (hiddenMs === null) continue;
            page.visible(atMs, "hidden");
            atMs += hiddenMs;
            page.visible(atMs, "visible");
          }
          block(page, known);
          page.run(atMs + second);
          watching.stop();
          expectStalls(watching.report(), known, 13);
        } finally {
          vi.unstubAllGlobals();
        }
      }),
      { numRuns: cases(60) },
    );
  });

  it("finds a stall that begins with the watch and exceeds the worker's start-up timeout", async () => {
    const { page, watch } = await world();
    const watching: Watch[] = [];
    page.task(10, 2600, () => watching.push(watch()));
    page.run(10 * second);
    watching.push(watch());
    block(page, [[11 * second, 30]]);
    page.run(12 * second);
    expectStalls(
      watching[0]!.report(),
      [
        [0, 2600],
        [10_990, 30],
      ],
      12,
    );
    expectStalls(watching[1]!.report(), [[second, 30]]);
    for (const each of watching) {
      expect(each.report().sources).toContainEqual({ name: "heartbeat", available: true });
      each.stop();
    }
  });

  it("finds the same stalls after a hidden period that replaces the worker", async () => {
    const { page, watching } = await watched();
    page.visible(2.5 * second, "hidden");
    page.visible(12.5 * second, "visible");
    const known: [number, number][] = [
      [second, 30],
      [2 * second, 300],
      [13 * second, 30],
      [14 * second, 300],
    ];
    block(page, known);
    page.run(16 * second);
    watching.stop();
    expectStalls(watching.report(), known);
    expect(page.workersStarted).toBe(2);
  });

  it("finds stalls as soon as the page is shown, before its new worker runs", async () => {
    const { page, watching } = await watched({ startMs: 500 });
    page.visible(2 * second, "hidden");
    page.visible(12 * second, "visible");
    block(page, [
      [12_100, 40],
      [12_200, 90],
    ]);
    page.run(16 * second);
    watching.stop();
    expectStalls(
      watching.report(),
      [
        [12_100, 40],
        [12_200, 90],
      ],
      6,
    );
  });

  it("finds a stall during which the page is hidden", async () => {
    const { page, watching } = await watched();
    block(page, [[second, 200]]);
    page.visible(1100, "hidden");
    page.run(5 * second);
    expectStalls(watching.report(), [[second, 200]]);
    watching.stop();
  });

  it("falls back to timers when a replacement worker is refused, and uses a worker again when one starts", async () => {
    const { page, watch, watching } = await watched({ timerMs: 8 });
    page.run(second);
    page.machine.worker = "refused";
    page.visible(2 * second, "hidden");
    page.visible(12 * second, "visible");
    block(page, [[13 * second, 40]]);
    page.run(14 * second);
    expectStalls(watching.report(), [[13 * second, 40]], 12);
    page.machine.worker = "runs";
    const later = watch();
    page.run(15 * second);
    block(page, [[16 * second, 5]]);
    page.run(17 * second);
    expectStalls(later.report(), [[2 * second, 5]]);
    later.stop();
    watching.stop();
  });

  it("starts at most three workers when a policy forbids them", async () => {
    const { page, watching } = await watched({ worker: "refused" });
    for (let atMs = minute; atMs < hour; atMs += minute) {
      page.visible(atMs, "hidden");
      page.visible(atMs + 10 * second, "visible");
    }
    page.run(hour);
    watching.stop();
    expect(page.workersStarted).toBe(3);
  });

  it("beats at the shortest interval of all watches", async () => {
    const { page, watch } = await world();
    const coarse = watch({ beatMs: 1000 });
    const fine = watch({ beatMs: 2 });
    page.run(2 * second);
    block(page, [[3 * second, 25]]);
    page.run(4 * second);
    fine.stop();
    coarse.stop();
    for (const each of [coarse, fine]) expectStalls(each.report(), [[3 * second, 25]]);
  });

  it("is ready before twenty beats of one second have passed", async () => {
    const { page, watch } = await world();
    const watching = watch({ beatMs: 1000 });
    page.run(4 * second);
    expect(watching.report().sources).toContainEqual({ name: "heartbeat", available: true });
    watching.stop();
  });
});
