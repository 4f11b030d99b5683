// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { Progress, progressWindow, unitsOf } from "../../src/task/context.js";
import fc from "../fixtures/fast-check.js";

// Creates the progress of a call, with a clock and an event loop that advance on demand.
function made(units = (_value: unknown) => 1) {
  const sent: unknown[] = [];
  let turns: (() => void)[] = [];
  const clock = { nowMs: 0 };
  const progress = new Progress(
    (value) => {
      sent.push(value);
      return units(value);
    },
    { nowMs: () => clock.nowMs, afterMessages: (next) => void turns.push(next) },
  );
  const turn = (): void => {
    const due = turns;
    turns = [];
    for (const next of due) next();
  };
  const fill = (): void => {
    for (let at = 0; at < progressWindow; at++) progress.report(at);
    sent.length = 0;
  };
  return { progress, sent, clock, turn, fill, asked: () => turns.length };
}

describe("a call's progress", () => {
  test("is sent value by value, in order, while the window has room", () => {
    const { progress, sent } = made();
    for (let at = 0; at < progressWindow; at++) progress.report(at);
    expect(sent).toEqual(Array.from({ length: progressWindow }, (_, at) => at));
    progress.report("more");
    expect(sent).toHaveLength(progressWindow);
  });

  test("keeps only the newest value when the window is full, and sends it after a read", () => {
    const { progress, sent, fill, turn } = made();
    fill();
    for (const value of ["a", "b", "c"]) {
      progress.report(value);
      turn();
    }
    expect(sent).toEqual([]);
    progress.read(2);
    expect(sent).toEqual(["c"]);
    progress.report("d");
    progress.report("e");
    turn();
    expect(sent).toEqual(["c", "d"]);
  });

  test("sends its last value before the call's result, even when nothing was read", () => {
    const { progress, sent, fill } = made();
    fill();
    progress.report("a");
    progress.report("b");
    progress.last();
    progress.last();
    expect(sent).toEqual(["b"]);
  });

  test("is not sent beyond the window while the listener reads nothing and the loop handles messages, for any time", () => {
    const { progress, sent, fill, turn, clock } = made();
    fill();
    for (let at = 0; at < 100; at++) {
      progress.report(at);
      clock.nowMs += 60_000;
      turn();
    }
    expect(sent).toEqual([]);
  });

  test("is sent ten times per second by a loop that handles no messages", () => {
    const { progress, sent, fill, clock, asked } = made();
    fill();
    for (; clock.nowMs <= 1000; clock.nowMs++) progress.report(clock.nowMs);
    expect(sent).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
    expect(asked()).toBe(1);
  });

  test("also limits the size of values, which one value may exceed", () => {
    const { progress, sent } = made((value) => value as number);
    progress.report(progressWindow * 3);
    progress.report(1);
    expect(sent).toEqual([progressWindow * 3]);
    progress.read(progressWindow * 3);
    expect(sent).toEqual([progressWindow * 3, 1]);
  });

  test("never loses its last value or changes the order, at any sequence of reports and reads", () => {
    const steps = fc.array(fc.constantFrom("tell", "read", "turn", "wait"), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (order) => {
        const { progress, sent, turn, clock, fill } = made();
        fill();
        let told = 0;
        for (const step of order) {
          if (step === "tell") progress.report(++told);
          else if (step === "read") progress.read(1);
          else if (step === "turn") turn();
          else clock.nowMs += 40;
        }
        progress.last();
        expect(sent).toEqual([...(sent as number[])].sort((a, b) => a - b));
        expect(new Set(sent).size).toBe(sent.length);
        expect(sent.at(-1)).toBe(told === 0 ? undefined : told);
      }),
    );
  });
});

describe("progress units", () => {
  const cyclic: { self?: unknown; text: string } = { text: "x".repeat(2000) };
  cyclic.self = cyclic;
  test.each([
    ["a number", 5, 1],
    ["a small object", { sentBytes: 1, totalBytes: 2 }, 1],
    ["a text", "x".repeat(5120), 11],
    ["binary memory", new Uint8Array(51_200), 101],
    ["texts in a list, each counted", ["x".repeat(512), "x".repeat(512)], 3],
    ["a map", new Map([["key", "x".repeat(1024)]]), 3],
    ["a cycle", cyclic, 4],
    ["more than the window", "x".repeat(1 << 25), progressWindow + 1],
    ["a list over the limit", new Array(1 << 20).fill("x".repeat(512)), progressWindow + 1],
  ])("of %s depend on its size", (_name, value, units) => {
    expect(unitsOf(value)).toBe(units);
  });

  test("throw the error of a getter in the value", () => {
    const value = {
      get inner() {
        throw new RangeError("not today");
      },
    };
    expect(() => unitsOf(value)).toThrow("not today");
  });
});
