// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, it, vi } from "vitest";
import { atLeastMs, busy, pause } from "../known-stalls.js";

// Deno runs the files that are made for Node: its `nodeTiming` is an empty object.
vi.mock("node:perf_hooks", async (original) => {
  const hooks = await original<typeof import("node:perf_hooks")>();
  return { ...hooks, performance: { now: () => hooks.performance.now(), nodeTiming: {} } };
});

it("a runtime that does not tell its loop's idle time is watched by timers, and the report says so", async () => {
  const { measure } = await import("../../../src/meter/measure.js");
  const { report, value } = await measure(async () => {
    const first = busy(50);
    await pause(9);
    const second = busy(60);
    await pause(9);
    return [first.lengthMs, second.lengthMs] as const;
  });
  expect(report.stalledMs).toBeGreaterThanOrEqual(atLeastMs(value[0])); // NaN is not
  expect(report.longestMs).toBeGreaterThanOrEqual(atLeastMs(value[1]) - 5);
  expect(report.sources).toContainEqual(
    expect.objectContaining({ name: "loop clock", available: false, why: expect.stringContaining("timers stand in") }),
  );
});
