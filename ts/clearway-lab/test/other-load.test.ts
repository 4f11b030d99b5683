// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { type LoadSource, otherCores } from "../src/machine/other-load.js";

/** A machine whose other programs use `cores` of its cores, and whose rests take `lateMs` longer than asked. */
function machine(cores: number, lateMs = 0): LoadSource {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    busyMs: () => cores * nowMs,
    rest: async (ms) => {
      nowMs += ms + lateMs;
    },
  };
}

test("the load of other programs is the mean number of cores that they use during a rest, however late it ends", async () => {
  expect(await otherCores(machine(1.254, 50))).toBe(1.25);
});

test("the load of other programs is not negative when the machine's counters go back", async () => {
  expect(await otherCores(machine(-1))).toBe(0);
});
