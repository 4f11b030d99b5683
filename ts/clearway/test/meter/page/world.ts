// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, vi } from "vitest";
import type { StallReport } from "../../../src/meter/report.js";
import type { Watch, WatchOptions } from "../../../src/meter/watch.js";
import { type Machine, ScriptedPage } from "./scripted-page.js";

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;

export interface World {
  readonly page: ScriptedPage;
  watch(options?: WatchOptions): Watch;
}

export async function world(
  machine: Partial<Machine> = {},
  visibility: "visible" | "hidden" = "visible",
): Promise<World> {
  const page = new ScriptedPage(machine);
  page.visibility = visibility;
  // Runs the browser's host in Node, newly loaded for each page. The script drives every clock, timer, worker and event.
  vi.resetModules();
  vi.doMock("../../../src/meter/host/node.js", () => import("../../../src/meter/host/browser.js"));
  // The script's clock stands while code runs, so its step cannot be seen.
  vi.doMock("../../../src/meter/host/host.js", async (original) => ({
    ...(await original<object>()),
    clockStepOf: () => page.machine.clockStepMs,
  }));
  vi.stubGlobal("document", {}); // the host reads it when it is loaded
  const { watch } = await import("../../../src/meter/watch.js");
  page.install();
  // Finer than the default, so that a false stall of over 2 ms is found.
  return { page, watch: (options) => watch({ floorMs: 2, ...options }) };
}

export const lengths = (report: StallReport): number[] => report.stalls.map(({ lengthMs }) => lengthMs);

/** Checks that the report has exactly the stalls of the script, to within `errorMs`. */
export function expectStalls(
  report: StallReport,
  script: readonly (readonly [atMs: number, lengthMs: number])[],
  errorMs = 1.5,
) {
  const found = report.stalls.map(({ startMs, lengthMs }) => [startMs, lengthMs] as const);
  const off = script.map(([atMs, lengthMs], index) => {
    const [startMs, foundMs] = found[index] ?? [Number.POSITIVE_INFINITY, 0];
    return Math.max(Math.abs(startMs - atMs), Math.abs(foundMs - lengthMs));
  });
  expect({ found, off: off.filter((ms) => ms > errorMs) }).toEqual({ found: expect.any(Array), off: [] });
  expect(found).toHaveLength(script.length);
}

/** Blocks the thread at the times and for the lengths of the script. */
export function block(page: ScriptedPage, script: readonly (readonly [atMs: number, lengthMs: number])[]): void {
  for (const [atMs, lengthMs] of script) page.task(atMs, lengthMs);
}
