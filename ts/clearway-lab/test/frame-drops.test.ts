// SPDX-License-Identifier: MIT OR Apache-2.0
// The figures of dropped frames, and the verdict in words.
import { describe, expect, test } from "vitest";
import { findFunction, taskModuleOf } from "../src/frame-drops/find-function.js";
import { measureFunction, medians, type Part, TimeOver } from "../src/frame-drops/run-function.js";
import { adviceLine, type BothWays, type Copy, jankLine, ms } from "../src/frame-drops/verdict.js";
import { type FrameDrops, frameDropsOf } from "../src/timing/frame-drops.js";

describe("frameDropsOf", () => {
  test("counts the frames of a lag beyond its first as dropped", () => {
    expect(frameDropsOf({ totalMs: 1002, lagsMs: [1, 1001] })).toEqual({
      totalMs: 1002,
      probes: 2,
      lagMeanMs: 501,
      lagMaxMs: 1001,
      dropped60: 59,
      dropped120: 119,
      hitch60: expect.closeTo((1001 - 1000 / 60) / 1.002),
      hitch120: expect.closeTo((1001 - 1000 / 120) / 1.002),
    });
  });

  test("has zeros for a run without a lag", () => {
    expect(frameDropsOf({ totalMs: 0, lagsMs: [] })).toMatchObject({ lagMeanMs: 0, lagMaxMs: 0, hitch60: 0 });
  });
});

test("medians rounds counts, and keeps times as they are", () => {
  const runs = [10, 50].map((lag) => ({ totalMs: lag, lagsMs: [lag] }));
  expect(medians(runs)).toMatchObject({ totalMs: 30, lagMaxMs: 30, dropped60: 1, dropped120: 3 });
});

const drops = (lagMaxMs: number): FrameDrops => frameDropsOf({ totalMs: lagMaxMs, lagsMs: [lagMaxMs] });

describe("the verdict", () => {
  test.each<[number, FrameDrops | { why: string }, string]>([
    [0.4, drops(1), "leave it: 0.4 ms, and no frame dropped at 60 or 120 Hz."],
    [
      240,
      drops(2),
      "run it in a worker: it drops 13 frames at 60 Hz here, and none if a worker runs it (2 ms instead of 240 ms).",
    ],
    [
      20,
      drops(2),
      "run it in a worker: it drops 1 frame at 120 Hz here, and none if a worker runs it (2 ms instead of 20 ms).",
    ],
    [
      240,
      drops(40),
      "run it in a worker: it drops 13 frames at 60 Hz here, and 1 frame if a worker runs it (40 ms instead of 240 ms).",
    ],
    [
      240,
      drops(240),
      "a worker does not help: it drops 13 frames at 60 Hz here, and 13 frames if a worker runs it. The copy of its arguments and result does not take that long: measure again on a quiet machine.",
    ],
    [240, { why: "no" }, "it drops 13 frames at 60 Hz here, and it cannot run in a worker as it is: no."],
  ])("for %s ms directly and %o in a worker", (direct, worker, line) => {
    expect(adviceLine({ direct: drops(direct), worker })).toBe(line);
  });

  const RESULT =
    "Its result takes 50 ms to copy: return a table of records (docs/records.md), or slices as a stream (docs/recipes-streams.md#read-a-long-result-as-a-stream-and-stop-early).";
  test.each<[BothWays["worker"], Copy, string]>([
    [drops(40), { argumentsMs: 1, resultMs: 50 }, `(40 ms instead of 240 ms). The rest is the copy. ${RESULT}`],
    [
      drops(240),
      { argumentsMs: 90, resultMs: 50 },
      "if a worker runs it. Its arguments take 90 ms to copy: move buffers (",
    ],
    [drops(240), { argumentsMs: 70, resultMs: 49 }, "The copy of its arguments and result does not take that long: "],
    [drops(2), { argumentsMs: 1, resultMs: 50 }, "and none if a worker runs it (2 ms instead of 240 ms)."],
    [
      { why: "late", isOpen: true },
      { argumentsMs: 1, resultMs: 50 },
      `Whether a worker helps is open: late. ${RESULT}`,
    ],
  ])("for %o in a worker and a copy of %o says %s", (worker, copy, line) => {
    expect(adviceLine({ direct: drops(240), worker, copy })).toContain(line);
  });

  test("of one way has the words of the published experiment", () => {
    expect(jankLine(drops(1001))).toBe("Jank: 59 frames dropped, max lag 1001 ms");
    expect(jankLine(frameDropsOf({ totalMs: 10, lagsMs: [8, 2] }))).toBe(
      "Smooth: max lag 8 ms, average 5 ms, 2 probes",
    );
    expect(jankLine(drops(3))).toBe("Smooth: max lag 3 ms, average 3 ms, 1 probe");
    expect([ms(0.4251), ms(12.345), ms(1234.5)]).toEqual(["0.43 ms", "12.3 ms", "1235 ms"]);
  });
});

describe("a measurement at its limit", () => {
  /** Answers the parts in order. Each takes a second. The one after them is late. */
  const measured = async (...parts: [Part, unknown][]) => {
    let nowMs = 0;
    const left = [...parts];
    const ask = async (part: Part): Promise<unknown> => {
      nowMs += 1000;
      const next = left.shift();
      if (next === undefined) throw new TimeOver("the call had not settled");
      expect(part).toBe(next[0]);
      return next[1];
    };
    return measureFunction(ask, undefined, () => nowMs);
  };
  const call = (part: Part, totalMs: number): [Part, unknown] => [part, { totalMs, lagsMs: [totalMs] }];
  const direct = [call("direct", 900), call("direct", 3000)];
  const copy: [Part, unknown] = ["copy", { argumentsMs: 0, resultMs: 700 }];

  test("keeps the direct calls, and says which part took the time", async () => {
    expect(await measured(...direct, copy, call("worker", 5000))).toMatchObject({
      calls: 1,
      direct: { totalMs: 3000 },
      worker: { totalMs: 5000 },
      copy: { resultMs: 700 },
      stopped: { during: "worker", spentMs: { direct: 2000, copy: 1000, worker: 2000 } },
    });
  });

  test("leaves the worker open if no call of it ended", async () => {
    expect(await measured(...direct)).toMatchObject({
      worker: { why: "no call in a worker ended within the limit", isOpen: true },
      stopped: { during: "copy" },
    });
  });

  test("has the call to warm up if no other ended", async () => {
    expect(await measured(call("direct", 900))).toMatchObject({ calls: 1, direct: { totalMs: 900 } });
  });

  test("fails if no call ended", async () => {
    await expect(measured()).rejects.toThrow("no call ended within the limit: the call had not settled");
  });

  test("is not stopped if all parts end", async () => {
    const whole = await measured(...direct, copy, call("worker", 9), call("worker", 3001), ["comparison", false]);
    expect(whole).toMatchObject({ calls: 1, worker: { totalMs: 3001 }, isResultDifferent: true });
    expect(whole.stopped).toBeUndefined();
  });
});

describe("findFunction", () => {
  const f = () => 1;
  test("finds an export, the default export and a task", () => {
    expect(findFunction({ f }, "f")).toBe(f);
    expect(findFunction({ default: f }, "default")).toBe(f);
    expect(findFunction({ default: { f } }, "f")).toBe(f);
  });

  test.each<[Record<string, unknown>, string, string]>([
    [{ total: f, other: f }, "totl", 'it has no export "totl"; did you mean "total"? (its functions: #total, #other)'],
    [{ default: { twice: f }, size: 3 }, "x", 'it has no export "x" (its functions: #twice)'],
    [{}, "toString", 'it has no export "toString" (it exports no function)'],
    [{ size: 3 }, "size", "size is a number: 3, not a function"],
  ])("in %o refuses %s", (module, name, message) => {
    expect(() => findFunction(module, name)).toThrow(message);
  });

  test("is called by a task module, whatever its name is", () => {
    expect(taskModuleOf("/a b/f.ts", 'x"y')).toContain('from "/a b/f.ts"');
    expect(taskModuleOf("/a b/f.ts", 'x"y')).toContain('module["x\\"y"]');
  });
});
