// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { type LoadSource, OtherLoad, withOtherCores } from "../src/machine/other-load.js";

/** A machine whose other programs use `cores` of its cores, and whose rests take `lateMs` longer than asked. */
function machine(cores: number, lateMs = 0): LoadSource & { rests: number[] } {
  let nowMs = 0;
  const rests: number[] = [];
  return {
    rests,
    nowMs: () => nowMs,
    busyMs: () => cores * nowMs,
    rest: async (ms) => {
      rests.push(ms);
      nowMs += ms + lateMs;
    },
  };
}

describe("the load of other programs", () => {
  test("is the mean number of cores that they use while the lab rests, however late a rest ends", async () => {
    const load = new OtherLoad(machine(1.254, 50));
    for (let i = 0; i < 100; i++) await load.beforeMeasurement();
    expect(withOtherCores(load)).toEqual({ otherCores: 1.25 });
  });

  test("is read before the first and then before every 25th measurement", async () => {
    const source = machine(0);
    const load = new OtherLoad(source);
    for (let i = 0; i < 51; i++) await load.beforeMeasurement();
    expect(source.rests).toHaveLength(3);
    expect(load.cores()).toBe(0);
  });

  test("includes the rests of the run before its interruption", async () => {
    const load = new OtherLoad(machine(1));
    load.add({ ms: 600, busyMs: 1200 });
    expect(await load.beforeMeasurement()).toEqual({ ms: 200, busyMs: 200 });
    expect(await load.beforeMeasurement()).toBe(undefined);
    expect(load.cores()).toBe(1.75);
  });

  test("is unknown without a measurement", () => {
    expect(withOtherCores(new OtherLoad(machine(1)))).toEqual({});
  });

  test("is not negative when the machine's counters go back", async () => {
    const load = new OtherLoad(machine(-1));
    await load.beforeMeasurement();
    expect(load.cores()).toBe(0);
  });
});
