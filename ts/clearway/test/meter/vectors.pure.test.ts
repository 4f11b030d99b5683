// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, it } from "vitest";
import vectors from "../../../../spec/vectors/meter.json" with { type: "json" };
import { causeOf, type Evidence } from "../../src/meter/cause.js";
import { BeatDetector } from "../../src/meter/detect.js";
import { sharesOf } from "../../src/meter/mark.js";
import { bestOffset } from "../../src/meter/ping.js";
import { type RunFacts, summarize } from "../../src/meter/summarize.js";

type Step = readonly [name: string, ...numbers: number[]];

/** Plays beats to a detector. As in the vectors, only a stall that continues has `goesOn`. */
function play(floorMs: number, steps: readonly Step[]): object[] {
  const detector = new BeatDetector(floorMs);
  const found: object[] = [];
  for (const [name, first = 0, ...rest] of steps) {
    if (name === "restart") detector.restart(first);
    else if (name === "held") detector.blockedUntil(first);
    else {
      const stall = detector.beat(first, ...(rest as [number, number]));
      if (stall) {
        const { startMs, endMs, earliestMs, errorMs, continuesLast = false } = stall;
        found.push({ startMs, endMs, earliestMs, errorMs, goesOn: continuesLast });
      }
    }
  }
  return found;
}

/** Rounds numbers to nine digits, because sums in another order differ beyond that. */
function close(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, part) =>
    typeof part === "number" ? Number(part.toPrecision(9)) : part,
  );
}

describe("the meter's vectors (spec/vectors/meter.json):", () => {
  it.each(vectors.reports)("a run has its report: $name", ({ run, report }) => {
    const facts = { label: undefined, frames: undefined, coveredFromMs: 0, ...run } as RunFacts;
    expect(close(summarize(facts))).toEqual(close({ ...report, stalls: run.stalls }));
  });

  it.each(vectors.beats)("beats show their stalls: $name", ({ floorMs, steps, found }) => {
    expect(close(play(floorMs, steps as unknown as Step[]))).toEqual(close(found));
  });

  it.each(vectors.causes)("evidence gives a cause: $name", ({ evidence, cause, because }) => {
    const all = { unwokenMs: 0, scripts: [], scriptsMs: 0, ...evidence } as Evidence;
    expect(causeOf(all)).toEqual({ cause, because });
  });

  it.each(vectors.offsets)("round trips bound the clocks' offset: $name", ({ trips, offset }) => {
    const timed = trips.map(([sentMs = 0, remoteMs = 0, backMs = 0]) => ({ sentMs, remoteMs, backMs }));
    expect(bestOffset(timed) ?? null).toEqual(offset);
  });

  it.each(vectors.marks)("runs of marks have shares: $name", ({ runs, fromMs, untilMs, shares }) => {
    const marks = (runs as [string, number, number | null][]).map(([label, startMs, endMs]) => ({
      label,
      startMs,
      endMs: endMs ?? undefined,
    }));
    const found = sharesOf(marks, fromMs, untilMs);
    expect(found.map(({ label, overlapMs }) => [label, overlapMs])).toEqual(shares);
  });
});
