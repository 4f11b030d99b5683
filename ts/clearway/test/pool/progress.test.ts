// SPDX-License-Identifier: MIT OR Apache-2.0
// A task reports faster than its listener reads: unread values are limited and in order, and the last one is never lost.
import { describe, expect, test } from "vitest";
import { plainPool, warmed } from "../fixtures/pools.js";

const inNode = typeof process === "object" && typeof process.versions?.node === "string";
// The limits of `progressWindow`, in values and in characters.
const windowValues = 8192;
const windowBytes = 4 << 20;

const isRising = (values: readonly number[]): boolean =>
  values.every((value, at) => at === 0 || value > values[at - 1]!);

describe("a task that reports progress in a tight loop", () => {
  test.each([
    ["never lets a message in", 50_000, Number.POSITIVE_INFINITY],
    ["sometimes lets messages in", 50_000, 500],
  ])(
    "and %s has its values delivered in order, and the last one before its result",
    async (_name, count, everyTurns) => {
      const pool = await warmed(plainPool());
      const told: number[] = [];
      const onProgress = (value: unknown): void => void told.push(value as number);
      expect(await pool.with({ onProgress }).call.floods(count, everyTurns)).toBe(count);
      expect(told[0]).toBe(0);
      expect(told.at(-1)).toBe(count - 1);
      expect(isRising(told)).toBe(true);
      expect(told.slice(0, windowValues)).toEqual(Array.from({ length: windowValues }, (_, at) => at));
    },
  );

  test("has every value delivered while its listener keeps up, for any number of values", async () => {
    const pool = await warmed(plainPool());
    const told: number[] = [];
    const { call } = pool.with({ onProgress: (value) => told.push(value as number) });
    for (let round = 0; round < 12; round++) expect(await call.report(2000)).toBe(2000);
    expect(told).toEqual(Array.from({ length: 12 * 2000 }, (_, at) => at % 2000));
  });

  // Only Node's main thread may block on a lock.
  test.runIf(inNode).each([
    ["as many values as the window has", 20_000, 8, windowValues],
    ["as many characters as the window has", 600, 1 << 16, windowBytes / (1 << 16)],
  ])("sends %s, and then only the newest, when its listener reads nothing", async (_name, count, length, most) => {
    const pool = await warmed(plainPool());
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const told: string[] = [];
    const onProgress = (value: unknown): void => {
      if (told.push(value as string) === 1) Atomics.wait(flag, 0, 0);
    };
    expect(await pool.with({ onProgress }).call.floodsUnread(count, length, flag)).toBe(count);
    const [first, ...rest] = told;
    expect(first).toBe("begins");
    expect(rest.length).toBeLessThan(most * 2);
    expect(rest.length).toBeGreaterThan(most / 2);
    expect(rest.at(-1)?.trim()).toBe(String(count - 1));
    expect(isRising(rest.map(Number))).toBe(true);
  });

  test("reports an error for each value that cannot be cloned, and continues", async () => {
    const pool = await warmed(plainPool());
    const told: unknown[] = [];
    expect(await pool.with({ onProgress: (value) => told.push(value) }).call.reportsThrowing(50)).toBe("done");
    expect(told.pop()).toBe("last");
    expect(told).toHaveLength(50);
    for (const each of told)
      expect(each).toMatchObject({ code: "not-cloneable", message: expect.stringContaining("not today") });
  });
});
