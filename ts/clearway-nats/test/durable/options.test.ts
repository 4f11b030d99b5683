// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { classOf, isId, type Names, namesOf, partitionOf } from "../../src/durable/names.js";
import { callerSettingsOf, serveSettingsOf } from "../../src/durable/options.js";
import { Capacity } from "../../src/durable/slots.js";

describe("the options of durable mode", () => {
  test.each([
    [{ storage: "disk" }, 'durable.storage must be one of file, memory: durable.storage="disk"'],
    [{ replicas: 2 }, "durable.replicas must be one of 1, 3, 5: durable.replicas=2"],
    [{ tries: 1 }, "durable.tries must be a whole number from 2 to 1000: durable.tries=1"],
    [{ partition: 4 }, "durable.partition must be a known option (the nearest is partitions): durable.partition=4"],
    [{ queue: { size: 4 } }, /durable\.queue\.size must be a known option \(the nearest is \w+\)/],
    [{ callbacks: ["a.*"] }, /durable\.callbacks must be an array of beginnings of subjects/],
  ])("refuse %j by name", (options, message) => {
    expect(() => serveSettingsOf(options as object)).toThrow(message);
  });

  test("of a worker are unknown to a caller", () => {
    expect(() => callerSettingsOf({ tries: 5 } as object)).toThrow(/durable\.tries must be a known option/);
  });

  test("of a caller send a call again while the servers still know its id", () => {
    expect(() => callerSettingsOf({ dedupMs: 10_000, resendMs: 5_001 })).toThrow(
      "durable.resendMs must be at most half of dedupMs, which is 10000: durable.resendMs=5001",
    );
    expect(callerSettingsOf({ dedupMs: 10_000 })).toMatchObject({ resendMs: 2_500 });
    expect(callerSettingsOf({ dedupMs: 10_000, resendMs: 5_000 })).toMatchObject({ resendMs: 5_000 });
  });

  test("have defaults", () => {
    expect(callerSettingsOf({})).toMatchObject({ storage: "file", replicas: 1, partitions: 16, openMax: 65_536 });
    expect(serveSettingsOf({})).toMatchObject({ tries: 5, ackWaitMs: 30_000 });
  });
});

describe("names", () => {
  test("of streams and buckets have no dot and no plus sign of the version", () => {
    const { calls, claims, values, plain } = namesOf("images", "1.2.0+b");
    expect([calls, claims, values]).toEqual([
      "CLEARWAY_images_1_2_0__b_calls",
      "clearway_images_1_2_0__b_claims",
      "clearway_images_1_2_0__b_values",
    ]);
    expect(plain("high")).toBe("clearway.images.1_2_0+b.do.high");
  });

  test("modules images_1 version 2 and images version 1.2 have different names for every stream and bucket", () => {
    const listOf = ({ calls, results, dead, claims, values }: Names) => [calls, results, dead, claims, values];
    const [one, two] = [listOf(namesOf("images_1", "2")), listOf(namesOf("images", "1.2"))];
    expect(new Set([...one, ...two]).size).toBe(10);
    expect(one[0]).toBe("CLEARWAY_images_-1_2_calls");
    expect(two[0]).toBe("CLEARWAY_images_1_2_calls");
    expect(namesOf("a_", "1").calls).not.toBe(namesOf("a", "1").calls);
  });

  test("of calls are parts of a subject", () => {
    expect(["a", "A-9_z", "a".repeat(128)].map(isId)).toEqual([true, true, true]);
    expect(["", "a.b", "*", "a b", "é", "a".repeat(129), 1].map(isId)).toEqual(Array(7).fill(false));
  });

  test("put priorities into three classes", () => {
    expect([-2, 0, 0.5].map(classOf)).toEqual(["low", "normal", "high"]);
  });

  test("put a key into the same partition everywhere", () => {
    expect(["a", "user-17", 17, "17"].map((key) => partitionOf(key, 16))).toEqual(
      ["a", "user-17", "17", 17].map((key) => partitionOf(key, 16)),
    );
    const used = new Set(Array.from({ length: 1_000 }, (_, at) => partitionOf(`user-${at}`, 16)));
    expect(used.size).toBe(16);
  });
});

describe("the capacity of a worker process", () => {
  // Runs one call after the other, each for a time.
  const after = (concurrency: number, ms: number, of: "calls" | "claimed" = "calls"): number => {
    let nowMs = 0;
    const capacity = new Capacity(concurrency, () => nowMs);
    for (let call = 0; call < 100; call++) {
      capacity.began();
      nowMs += ms;
      capacity.ended();
    }
    return capacity[of];
  };

  test("is what it runs when calls are long, so that another process can take the next one", () => {
    expect(after(2, 10_000)).toBe(2);
  });

  test("is one call more than it runs when a call would not wait for long", () => {
    expect(after(2, 90)).toBe(3);
  });

  test("falls to what it runs while a long call runs among short ones", () => {
    let nowMs = 0;
    const capacity = new Capacity(1, () => nowMs);
    capacity.began();
    nowMs += 1;
    capacity.ended();
    expect(capacity.calls).toBe(51);
    capacity.began();
    nowMs += 101;
    expect(capacity.calls).toBe(1);
  });

  test("hides the way to the servers when calls are short", () => {
    expect(after(2, 0.5)).toBe(102);
  });

  test.each([
    [10_000, 2],
    [20, 4],
    [0.5, 102],
    [0, 2 + 1_024],
  ])("lets the calls be claimed that it runs, and those of the next 50 ms: %d ms", (ms, claimed) => {
    expect(after(2, ms, "claimed")).toBe(claimed);
  });

  test("has a limit when calls take no time", () => {
    expect(after(2, 0)).toBe(2 + 1_024);
  });

  test("is what it runs before the first call has ended", () => {
    expect(new Capacity(4).calls).toBe(4);
  });
});
