// SPDX-License-Identifier: MIT OR Apache-2.0
// Made-up evidence for tests: stalls, samples, runs.
import type { Explained } from "../../src/jank/cause.js";
import type { Sample, StackFrame } from "../../src/jank/evidence.js";
import { figuresOf } from "../../src/jank/figures.js";
import type { FoundStall, LocatedCause, Run } from "../../src/jank/record.js";

export const APP = "js/app.js";

/** A stall of 100 ms that begins at 1000 ms. */
export function stall(changes: Partial<Explained> = {}): Explained {
  return {
    startMs: 1000,
    lengthMs: 100,
    errorMs: 0,
    cause: "unknown",
    because: "the thread was busy",
    machineMs: 0,
    gcMs: 0,
    scripts: [],
    stacks: [],
    ...changes,
  };
}

export function frame(functionName: string, url = APP, line = 1): StackFrame {
  return { functionName, url, ...(url === "" ? {} : { line, column: 9 }) };
}

/** Samples of 1 ms each, from `fromMs` on. */
export function samples(fromMs: number, count: number, stack: StackFrame[], rest: Partial<Sample> = {}): Sample[] {
  return Array.from({ length: count }, (_, i) => ({ atMs: fromMs + i, ms: 1, stack, state: "script", ...rest }));
}

export function cause(changes: Partial<LocatedCause> = {}): LocatedCause {
  return {
    kind: "script",
    ms: 90,
    because: "work ran for 90 ms of it",
    parts: {},
    callers: [],
    thirdParty: false,
    ...changes,
  };
}

/** A completed run of 2 s with stalls of the given lengths. */
export function run(lengths: number[], changes: Partial<Run> = {}, own: LocatedCause = cause()): Run {
  const stalls: FoundStall[] = lengths.map((lengthMs, i) => ({
    startMs: i * 500,
    lengthMs,
    errorMs: 0,
    during: "load",
    cause: own,
  }));
  const frames = { hz: 60, expected: 120, dropped: 0, estimated: true };
  return {
    outcome: "completed",
    startedAt: "2026-01-01T00:00:00.000Z",
    figures: figuresOf([{ durationMs: 2000, stalls: stalls as never, frames }]),
    stalls,
    notes: [],
    sources: [],
    reports: [],
    ...changes,
  };
}
