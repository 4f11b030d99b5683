// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the measurement of one crossing, and the lists of the published students.
import { describe, expect, test } from "vitest";
import {
  type Content,
  type Crossing,
  crossingMechanism,
  longestTurnMs,
  makeContent,
  summaryOf,
  type TurnClock,
} from "../src/isolate/crossing.js";
import { probed } from "../src/isolate/metered.js";
import { repeatStudent } from "../src/isolate/student.js";
import { publishedMechanism } from "../src/isolate/students.js";

const fixture = { httpUrl: "", echoPort: 0, idlePort: 0, feedUrl: "", filePath: "" };

/** Returns a clock whose turns take the given times. After them, `done` is called, in a turn of no length. */
function scripted(turnsMs: number[], done: () => void): TurnClock {
  let now = 0;
  return {
    nowMs: () => now,
    turn: async () => {
      const next = turnsMs.shift();
      if (next === undefined) done();
      else now += next;
    },
  };
}

describe("the longest turn", () => {
  test("is the longest time between two turns until the work settles", async () => {
    let finish = () => {};
    const work = () => new Promise<void>((resolve) => (finish = resolve));
    expect(
      await longestTurnMs(
        work,
        scripted([1, 40, 3], () => finish()),
      ),
    ).toBe(40);
  });

  test("contains the synchronous part of the work", async () => {
    let now = 0;
    const clock: TurnClock = { nowMs: () => now, turn: async () => {} };
    const work = async () => {
      now += 25;
    };
    expect(await longestTurnMs(work, clock)).toBe(25);
  });

  test("rejects with the work's error, and turns no more", async () => {
    let turns = 0;
    const clock: TurnClock = {
      nowMs: () => 0,
      turn: async () => {
        turns++;
      },
    };
    await expect(longestTurnMs(() => Promise.reject(new Error("gone")), clock)).rejects.toThrow("gone");
    const turned = turns;
    await Promise.resolve();
    expect(turns).toBe(turned);
  });
});

describe("a crossing", () => {
  const measure = (crossing: Partial<Crossing>, params = {}) => {
    let closed = 0;
    const close = async () => {
      closed++;
    };
    const mechanism = crossingMechanism("bytes", async () => ({ close, ...crossing }));
    const work = { params: { bytes: 100, direction: "to the worker", crossings: 4, ...params }, fixture };
    return mechanism(work).then(
      (measured) => ({ measured, closed }),
      (error: Error) => ({ error, closed }),
    );
  };

  test("measures each crossing to the worker with new content, and counts the right ones", async () => {
    const taken = new Set<Content>();
    const take = async (content: Content) => {
      taken.add(content);
      return summaryOf(content);
    };
    const { measured, closed } = (await measure({ take })) as {
      measured: Awaited<ReturnType<ReturnType<typeof crossingMechanism>>>;
      closed: number;
    };
    expect(measured.result).toEqual({ right: 4 });
    expect(measured.samples["stall"]?.ns).toHaveLength(4);
    // Three crossings warm up.
    expect([taken.size, closed]).toEqual([7, 1]);
  });

  test("counts content that arrives wrong or empty as not right", async () => {
    const give = async () => makeContent("bytes", 99);
    expect(await measure({ give }, { direction: "from the worker" })).toMatchObject({
      measured: { result: { right: 0 } },
    });
    const empty = async () => new Uint8Array(0);
    expect(await measure({ give: empty }, { direction: "from the worker" })).toMatchObject({
      measured: { result: { right: 0 } },
    });
  });

  test("closes the worker after a failure, and refuses an unknown direction", async () => {
    const take = async () => {
      throw new Error("no worker");
    };
    expect(await measure({ take })).toMatchObject({ error: new Error("no worker"), closed: 1 });
    expect(await measure({}, { direction: "sideways" })).toMatchObject({
      error: new RangeError('direction must be "to the worker" or "from the worker": direction=sideways'),
    });
  });

  test("has objects with about the wanted size as JSON", () => {
    for (const bytes of [4096, 1 << 20]) {
      const size = JSON.stringify(makeContent("objects", bytes)).length;
      expect(size / bytes).toBeGreaterThan(0.8);
      expect(size / bytes).toBeLessThan(1.2);
    }
    expect(makeContent("objects", 1)).toHaveLength(1);
  });
});

describe("the published students", () => {
  test("are one object in all rows", () => {
    const students = repeatStudent(3);
    expect(students).toEqual(Array(3).fill({ rollNum: 1, name: "student 1" }));
    expect(new Set(students).size).toBe(1);
  });

  test.each([9, 10, 11, 20, 25])("have %i rows if parts of ten are joined", (rows) => {
    const students = repeatStudent(rows, 10);
    expect(students).toHaveLength(rows);
    expect(students.every((student) => student === students[0])).toBe(true);
  });

  test("are measured with the probe, and read at both ends", async () => {
    const mechanism = publishedMechanism(async () => ({
      make: async (rows) => repeatStudent(rows),
      close: async () => {},
    }));
    const { values, result } = await mechanism({ params: { rows: 1000, content: "one shared object" }, fixture });
    expect(result).toEqual({
      length: 1000,
      first: { rollNum: 1, name: "student 1" },
      last: { rollNum: 1, name: "student 1" },
    });
    expect(Object.keys(values)).toEqual(
      expect.arrayContaining(["probes", "longestStall", "lagMean", "droppedFrames60"]),
    );
    await expect(mechanism({ params: { rows: 1, content: "x" }, fixture })).rejects.toThrow("content=x");
  });

  test("that cannot be made leave no probe running", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    await expect(probed(() => Promise.reject(new Error("no memory")))).rejects.toThrow("no memory");
    expect(timers()).toBe(before);
  });
});
