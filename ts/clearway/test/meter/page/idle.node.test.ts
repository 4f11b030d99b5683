// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, it, vi } from "vitest";
import type { StallReport } from "../../../src/meter/report.js";
import type { Watch } from "../../../src/meter/watch.js";
import { hanging, returning, throwing } from "../../fixtures/misdeeds.js";
import { block, hour, lengths, minute, second, watched, world } from "./scripted-page.js";

afterEach(() => vi.unstubAllGlobals());

describe("a watch of an idle page", () => {
  it("reports no stall over 2 ms in an hour", async () => {
    const { page, watching } = await watched();
    page.run(hour);
    const report = watching.report();
    expect(lengths(report)).toEqual([]);
    expect(report.durationMs).toBe(hour);
    watching.stop();
  });

  it("reports no stall in an hour in which the page is hidden, frozen, shown and put into the back/forward cache", async () => {
    const { page, watching } = await watched();
    let hiddenMs = 0;
    for (let atMs = minute; atMs < hour - 4 * minute; atMs += 4 * minute) {
      page.visible(atMs, "hidden");
      page.frozen(atMs + 10 * second, atMs + minute);
      page.visible(atMs + minute + second, "visible");
      // First shorter than the time for which the watcher lingers, then longer.
      page.visible(atMs + 2 * minute, "hidden");
      page.visible(atMs + 2 * minute + 2 * second, "visible");
      page.event(atMs + 3 * minute, "pagehide");
      page.frozen(atMs + 3 * minute + 1, atMs + 3 * minute + 20 * second, false);
      page.event(atMs + 3 * minute + 20 * second, "pageshow");
      hiddenMs += minute + second + 2 * second + 20 * second;
    }
    page.run(hour);
    const report = watching.report();
    expect(lengths(report)).toEqual([]);
    expect(Math.abs(report.hiddenMs - hiddenMs)).toBeLessThanOrEqual(30);
    expect(report.durationMs + report.hiddenMs).toBe(hour);
    watching.stop();
  });

  it.each([
    [2, 50],
    [50, 2],
    [16, 7],
    [1, 1000],
  ])("reports no stall when two watches beat every %d and %d ms, whenever one stops", async (first, other) => {
    const { page, watch } = await world();
    const lasting = watch({ beatMs: first });
    const reports: StallReport[] = [];
    for (let index = 0; index < 120; index++) {
      page.run(index * 5 * second);
      const brief = watch({ beatMs: other });
      page.run(page.nowMs + 300 + index * 7.3);
      brief.stop();
      reports.push(brief.report());
    }
    page.run(10 * minute);
    lasting.stop();
    expect([...reports, lasting.report()].flatMap(lengths)).toEqual([]);
  });

  it.each([["refused"], ["silent"]] as const)("reports no stall in an hour when its worker is %s", async (worker) => {
    const { page, watching } = await watched({ worker, timerMs: 8 });
    page.run(hour);
    watching.stop();
    expect(lengths(watching.report())).toEqual([]);
    expect(watching.report().sources).toContainEqual(
      expect.objectContaining({ name: "heartbeat", available: false, why: expect.stringContaining("timers stand in") }),
    );
  });

  it("finds no stall and says why if the clock steps 16.7 ms", async () => {
    const { page, watching } = await watched({ clockStepMs: 16.7 });
    page.task(second, 500);
    page.run(minute);
    watching.stop();
    const { stalls, sources } = watching.report();
    expect(stalls).toEqual([]);
    const why = expect.stringContaining("steps more than 5 ms");
    expect(sources).toContainEqual(expect.objectContaining({ name: "heartbeat", available: false, why }));
  });

  it("ignores steps of the wall clock", async () => {
    const { page, watching } = await watched();
    page.run(minute);
    page.wallMs -= 5 * hour;
    page.run(2 * minute);
    page.wallMs += 24 * hour;
    page.run(3 * minute);
    watching.stop();
    expect(watching.report()).toMatchObject({ durationMs: 3 * minute, stalls: [] });
  });

  it("counts time in which page and watcher were both suspended as hidden", async () => {
    const { page, watching } = await watched();
    page.frozen(minute, 20 * minute, false);
    page.run(21 * minute);
    watching.stop();
    const report = watching.report();
    expect(lengths(report)).toEqual([]);
    expect(Math.abs(report.durationMs - 2 * minute)).toBeLessThanOrEqual(10);
  });

  it("leaves no worker, listener or timer behind", async () => {
    const { page, watch } = await world();
    const watches = [watch(), watch({ beatMs: 10 }), watch({ beatMs: 1 })];
    page.run(10 * second);
    for (const watching of watches) watching.stop();
    page.run(20 * second);
    expect(page.leftOver()).toEqual({ workers: 0, listeners: 0, timers: 0 });
  });
});

describe("a watch whose onStall throws or stops it", () => {
  it("stops completely when onStall throws during stop()", async () => {
    const { page, watch } = await world();
    const watching = watch({
      onStall: () => {
        throw "not even an Error";
      },
    });
    page.run(second);
    block(page, [[second + 1, 30]]);
    page.run(second + 40);
    expect(() => watching.stop()).toThrow("not even an Error");
    page.run(10 * second);
    expect(page.leftOver()).toEqual({ workers: 0, listeners: 0, timers: 0 });
    expect(watching.report().stalls).toHaveLength(1);
  });

  it("stops once when onStall calls stop()", async () => {
    const { page, watch } = await world();
    const reportedMs: number[] = [];
    const watching: Watch = watch({
      onStall: ({ lengthMs }) => {
        reportedMs.push(lengthMs);
        watching.stop();
      },
    });
    page.run(second);
    block(page, [
      [second + 1, 30],
      [second + 50, 30],
    ]);
    page.run(second + 90);
    watching.stop();
    page.run(10 * second);
    expect(reportedMs).toHaveLength(2);
    expect(page.leftOver()).toEqual({ workers: 0, listeners: 0, timers: 0 });
  });
});

describe.each(Object.entries({ ...throwing, ...returning, ...hanging }))("a watch whose onStall %s", (_what, act) => {
  it("reports every stall, calls onStall for each, and leaves nothing behind", async () => {
    const { page, watch } = await world();
    let calls = 0;
    const watching = watch({
      onStall: () => {
        calls++;
        watching.report();
        watch().stop();
        return act() as undefined;
      },
    });
    // An error of onStall is the app's: it leaves the meter's timer.
    const run = (untilMs: number): void => {
      for (;;) {
        try {
          return page.run(untilMs);
        } catch {
          // The same run goes on behind the timer that threw.
        }
      }
    };
    run(second);
    block(page, [[second + 1, 30]]);
    run(3 * second);
    block(page, [[3 * second + 1, 40]]);
    run(5 * second);
    expect(calls).toBe(2);
    watching.stop();
    run(10 * second);
    expect(lengths(watching.report())).toHaveLength(2);
    expect(page.leftOver()).toEqual({ workers: 0, listeners: 0, timers: 0 });
  });
});

describe("a report of a hidden page", () => {
  it("counts the hidden time separately, however often it is read", async () => {
    const { page, watching } = await watched();
    page.visible(10 * second, "hidden");
    for (let atMs = 11 * second; atMs <= 40 * second; atMs += second) {
      page.run(atMs);
      const report = watching.report();
      expect(Math.abs(report.durationMs - 10 * second)).toBeLessThanOrEqual(1);
      expect(Math.abs(report.hiddenMs - (atMs - 10 * second))).toBeLessThanOrEqual(1);
    }
    watching.stop();
  });

  it("is empty for a page that was never shown", async () => {
    const { page, watching } = await watched({}, "hidden");
    page.run(10 * second);
    expect(watching.report()).toMatchObject({ durationMs: 0, hiddenMs: 10 * second, stalls: [] });
    watching.stop();
    expect(page.workersStarted).toBe(0);
  });
});
