// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { familyMs, type LoadSource, otherCores, otherShare } from "../src/machine/cores.js";

/** The text of /proc/PID/stat of a process with this parent, name, own time and time of its ended children, in ticks. */
const stat = (pid: number, parent: number, name: string, [user, system, ended, endedSystem]: number[]) =>
  `${pid} (${name}) S ${parent} 1 1 0 -1 4194560 100 0 0 0 ${user} ${system} ${ended} ${endedSystem} 20 0 1 0 500 1 1`;

describe("the share of the cores that other programs used", () => {
  const LAB = 10;
  const processes = [
    stat(1, 0, "init", [900, 0, 0, 0]),
    stat(LAB, 1, "node", [5, 1, 0, 0]),
    stat(11, LAB, "node", [20, 0, 3, 1]),
    stat(12, 11, "nats-server", [7, 2, 0, 0]),
    stat(13, 1, "nats-server", [400, 0, 0, 0]),
  ];

  test("leaves out the lab, its arms, and the servers that an arm started, but not another one's", () => {
    expect(familyMs(processes, LAB)).toBe((6 + 24 + 9) * 10);
  });

  test("leaves out children that have ended", () => {
    const before = familyMs(processes, LAB);
    const after = [...processes.slice(0, 2), stat(11, LAB, "node", [20, 0, 3 + 7, 1 + 2])];
    expect(familyMs(after, LAB)).toBe(before);
  });

  test("reads processes whose names have spaces and brackets", () => {
    expect(familyMs([stat(LAB, 1, "a) R 1 (b", [1, 2, 3, 4])], LAB)).toBe(100);
  });

  test("is what is left of the cores' time", () => {
    const reading = { busyMs: 1000, ownMs: 300, nowMs: 0, cores: 2 };
    expect(otherShare(reading, { busyMs: 1800, ownMs: 700, nowMs: 1000, cores: 2 })).toBe(0.2);
    expect(otherShare(reading, { busyMs: 1010, ownMs: 320, nowMs: 1000, cores: 2 })).toBe(0);
    expect(otherShare(reading, undefined)).toBeUndefined();
  });
});

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
