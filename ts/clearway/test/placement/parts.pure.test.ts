// SPDX-License-Identifier: MIT OR Apache-2.0

import { describe, expect, test } from "vitest";
import { copyPlain, notPlain } from "../../src/placement/inline.js";
import { argumentClass } from "../../src/placement/model.js";
import { Turn } from "../../src/placement/turn.js";
import fc from "../fixtures/fast-check.js";

describe("copying plain values", () => {
  test("gives what structured clone gives, or says that it cannot", () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true, withMap: true, withSet: true, withSparseArray: true }), (value) => {
        const copied = copyPlain(value);
        if (copied !== notPlain) expect(copied).toStrictEqual(structuredClone(value));
      }),
    );
  });

  test("shares nothing with the original", () => {
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

describe("classes of arguments", () => {
  test("tell sizes and counts apart by their octave", () => {
    expect(argumentClass([5])).toBe(argumentClass([6]));
    expect(argumentClass([5])).not.toBe(argumentClass([5_000_000]));
    expect(argumentClass([new Array(10).fill(0)])).not.toBe(argumentClass([new Array(1000).fill(0)]));
    expect(argumentClass(["x".repeat(3)])).not.toBe(argumentClass(["x".repeat(3000)]));
    expect(argumentClass([new Uint8Array(8)])).not.toBe(argumentClass([new Uint8Array(8_000_000)]));
    expect(argumentClass([Number.NaN, undefined, null, true])).toBe(argumentClass([]));
  });

  test("stand no matter what is given", () => {
    fc.assert(fc.property(fc.array(fc.anything()), (args) => Number.isInteger(argumentClass(args))));
  });
});

describe("a turn's budget", () => {
  test("is what inline runs left of it, and whole again when the loop has turned", () => {
    const turn = new Turn(1000, false);
    turn.spent(0, 100);
    expect(turn.leftUs(100)).toBe(900);
    turn.ended();
    expect(turn.leftUs(100)).toBe(1000);
  });

  test("counts the app's own time, too, once enough was spent for the turn to be watched", () => {
    const turn = new Turn(1000, false);
    expect(turn.spent(0, 100)).toBe(false);
    expect(turn.spent(100, 200)).toBe(true);
    expect(turn.leftUs(700)).toBe(300);
  });

  test("on a page is shared by all turns of a frame", () => {
    const turn = new Turn(1000, true);
    turn.spent(0, 600);
    turn.ended();
    expect(turn.leftUs(5000)).toBe(400);
    turn.frame(6000);
    expect(turn.leftUs(6000)).toBe(1000);
  });

  test("on a hidden page, which draws no frames, comes back after the time of one", () => {
    const turn = new Turn(1000, true);
    turn.spent(0, 900);
    turn.ended();
    expect(turn.leftUs(16_000)).toBe(100);
    expect(turn.leftUs(17_000)).toBe(1000);
  });
});
