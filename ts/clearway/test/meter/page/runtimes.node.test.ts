// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, it, vi } from "vitest";
import { busy, pause } from "../busy.js";

// Deno runs the files built for Node, and its `nodeTiming` is an empty object.
vi.mock("node:perf_hooks", async (original) => {
  const hooks = await original<typeof import("node:perf_hooks")>();
  return { ...hooks, performance: { now: () => hooks.performance.now(), nodeTiming: {} } };
});

it("a runtime that does not measure its event loop's idle time is watched by timers, and the report says so", async () => {
  const { measure } = await import("../../../src/meter/measure.js");
  const { report, value } = await measure(async () => {
    const first = busy(50);
    await pause(9);
    const second = busy(60);
    await pause(9);
    return [first.lengthMs, second.lengthMs] as const;
  });
  // A timer that falls due in a stall is late by the stall minus at most one beat, which is far under half. NaN fails both checks.
  expect(report.stalledMs).toBeGreaterThan(value[0] / 2);
  expect(report.longestMs).toBeGreaterThan(value[1] / 2);
  expect(report.sources).toContainEqual(
    expect.objectContaining({ name: "loop clock", available: false, why: expect.stringContaining("timers stand in") }),
  );
});
