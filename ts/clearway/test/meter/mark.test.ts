// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, it } from "vitest";
import { now } from "#meter-host";
import { mark, marksDuring } from "../../src/meter/mark.js";
import { stallMetrics } from "../../src/meter-metrics.js";
import { stallOf } from "./stalls.js";

const labels = (fromMs: number): string[] => marksDuring(fromMs, now() + 1).map((share) => share.label);
const spin = (): void => {
  const from = now();
  while (now() - from < 1);
};

describe("a mark", () => {
  it("labels the run of a function and returns its result", () => {
    const from = now();
    const result = mark("sum", () => {
      spin();
      return 42;
    });
    expect(result).toBe(42);
    expect(labels(from)).toContain("sum");
  });

  it("counts the time of all runs of a label, and time in several of them once", () => {
    const from = now();
    mark("outer", () => {
      for (let run = 0; run < 3; run++) mark("part", spin);
      mark("outer", spin);
    });
    const to = now();
    const shares = new Map(marksDuring(from, to).map(({ label, overlapMs }) => [label, overlapMs]));
    expect(shares.get("part")).toBeGreaterThanOrEqual(3);
    expect(shares.get("outer")).toBeGreaterThanOrEqual(4);
    expect(shares.get("outer")).toBeLessThanOrEqual(to - from);
  });

  it("ends when its function throws", () => {
    expect(() =>
      mark("failing", () => {
        throw new Error("no");
      }),
    ).toThrow("no");
    spin();
    const from = now();
    spin();
    expect(labels(from)).not.toContain("failing");
  });

  it("lasts until an async function's promise settles", async () => {
    let finish = (): void => {};
    const from = now();
    const done = mark("loading", () => new Promise<void>((resolve) => (finish = resolve)));
    spin();
    expect(labels(from)).toContain("loading");
    finish();
    await done;
    spin();
    const later = now();
    spin();
    expect(labels(later)).not.toContain("loading");
  });

  it("rejects with the error of an async function", async () => {
    await expect(mark("loading", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  });

  it("ends once, by a `using` block or by end()", () => {
    const from = now();
    {
      using scope = mark("scope");
      spin();
      scope.end();
    }
    expect(labels(from)).toContain("scope");
    spin();
    const later = now();
    spin();
    expect(labels(later)).not.toContain("scope");
  });

  it("appears once per stall, and marks are sorted by overlap", () => {
    const from = now();
    const outer = mark("outer");
    mark("inner", spin);
    mark("inner", spin);
    spin();
    outer.end();
    expect(labels(from).filter((label) => label === "outer" || label === "inner")).toEqual(["outer", "inner"]);
  });
});

it("mark() refuses a label that is no string and a run that is no function, and exposition() goes on", () => {
  const metrics = stallMetrics();
  const scope = metrics.scope();
  const untyped = mark as (...given: unknown[]) => unknown;
  let runs = 0;
  const from = now();
  for (const [label, ...run] of [[7, () => runs++], [undefined], [() => runs++], ["x", 5], ["x", null]])
    expect(() => untyped(label, ...run)).toThrow(TypeError);
  expect(() => untyped(7)).toThrow("label must be a string: label=number");
  expect(() => untyped("x", 5)).toThrow("run must be a function: run=number");
  expect([runs, labels(from)]).toEqual([0, []]);
  scope.onStall(stallOf({ marks: marksDuring(from, now() + 1) }));
  expect(metrics.exposition().body).toContain("clearway_stall_duration_seconds_count");
});
