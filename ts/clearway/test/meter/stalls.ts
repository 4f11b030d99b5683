// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Stall } from "../../src/meter/report.js";

/** Returns a stall of 100 ms by the app, changed by `more`. */
export function stallOf(more: Partial<Stall> = {}): Stall {
  return {
    startMs: 0,
    lengthMs: 100,
    errorMs: 0,
    cause: "app",
    because: "parse ran without giving the thread back",
    machineMs: 0,
    gcMs: 0,
    scripts: [],
    stacks: [],
    marks: [],
    ...more,
  };
}
