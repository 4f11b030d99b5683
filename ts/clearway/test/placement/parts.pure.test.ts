// SPDX-License-Identifier: MIT OR Apache-2.0

import { describe, expect, test } from "vitest";
import { argumentClass } from "../../src/placement/model.js";
import { copyPlain, notPlain } from "../../src/placement/run-inline.js";
import { Turn } from "../../src/placement/turn.js";
import fc from "../fixtures/fast-check.js";

describe("copying plain values", () => {
  test("returns the same as structured clone, or refuses the value", () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true, withMap: true, withSet: true, withSparseArray: true }), (value) => {
        const copied = copyPlain(value);
        if (copied !== notPlain) expect(copied).toStrictEqual(structuredClone(value));
      }),
    );
  });

  test("shares no object with the original", () => {
    const inner = { n: 1 };
    const copied = copyPlain({ list: [inner], again: inner }) as { list: object[]; again: object };
    expect(copied.list[0]).not.toBe(inner);
    expect(copied.list[0]).toBe(copied.again);
  });

  test.each([[[() => 1]], [Symbol("x")], [new Date(0)], [new Uint8Array(2)], [new Map()], [/x/.exec("x")]])(
    "leaves %s to structured clone",
    (value) => expect(copyPlain(value)).toBe(notPlain),
  );
});

describe("argumentClass()", () => {
  test("distinguishes sizes and counts by their octave", () => {
    expect(argumentClass([5])).toBe(argumentClass([6]));
    expect(argumentClass([5])).not.toBe(argumentClass([5_000_000]));
    expect(argumentClass([new Array(10).fill(0)])).not.toBe(argumentClass([new Array(1000).fill(0)]));
    expect(argumentClass(["x".repeat(3)])).not.toBe(argumentClass(["x".repeat(3000)]));
    expect(argumentClass([new Uint8Array(8)])).not.toBe(argumentClass([new Uint8Array(8_000_000)]));
    expect(argumentClass([Number.NaN, undefined, null, true])).toBe(argumentClass([]));
  });

  test("accepts any arguments", () => {
    fc.assert(fc.property(fc.array(fc.anything()), (args) => Number.isInteger(argumentClass(args))));
  });
});

describe("a turn's budget", () => {
  test("decreases with inline runs, and is whole again after a turn of the event loop", () => {
    const turn = new Turn(1000, false);
    turn.spent(0, 100);
    expect(turn.leftUs(100)).toBe(900);
    turn.ended();
    expect(turn.leftUs(100)).toBe(1000);
  });

  test("also counts the app's own time, once enough was spent to watch the turn", () => {
    const turn = new Turn(1000, false);
    expect(turn.spent(0, 100)).toBe(false);
    expect(turn.spent(100, 200)).toBe(true);
    expect(turn.leftUs(700)).toBe(300);
  });

  test("is shared by all turns of a frame on a page", () => {
    const turn = new Turn(1000, true);
    turn.spent(0, 600);
    turn.ended();
    expect(turn.leftUs(5000)).toBe(400);
    turn.frame(6000);
    expect(turn.leftUs(6000)).toBe(1000);
  });

  test("is restored after the time of a frame on a hidden page, which draws no frames", () => {
    const turn = new Turn(1000, true);
    turn.spent(0, 900);
    turn.ended();
    expect(turn.leftUs(16_000)).toBe(100);
    expect(turn.leftUs(17_000)).toBe(1000);
  });
});
