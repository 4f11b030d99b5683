// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Slots } from "../../src/durable/slots.js";
import { useFakeTimers, useRealTimers } from "../fixtures/clocks.js";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setup(size: number) {
  const limits = { size };
  const slots = new Slots(() => limits.size);
  const log: string[] = [];
  const given = new Map<string, () => void>();
  const take = (name: string, priority = 0, weight = 1): void => {
    slots.take(priority, weight).then(
      (give) => {
        log.push(name);
        given.set(name, give);
      },
      (reason) => log.push(`${name} ${reason instanceof Error ? reason.name : reason}`),
    );
  };
  const give = async (name: string): Promise<void> => {
    await turn();
    given.get(name)!();
    await turn();
  };
  return { limits, slots, log, take, give };
}

test("calls have slots by their priority, and in order", async () => {
  const { log, take, give } = setup(1);
  take("first");
  for (const [name, priority] of [
    ["low", -1],
    ["a", 0],
    ["high", 2],
    ["b", 0],
  ] as const)
    take(name, priority);
  for (const name of ["first", "high", "a", "b"]) await give(name);
  expect(log).toEqual(["first", "high", "a", "b", "low"]);
});

test("more slots are used when one is given back", async () => {
  const { limits, log, take, give } = setup(1);
  for (const name of ["a", "b", "c"]) take(name);
  limits.size = 2;
  await give("a");
  expect(log).toEqual(["a", "b", "c"]);
});

test("calls that wait are refused at the end, and later ones, too", async () => {
  const { slots, log, take } = setup(1);
  take("a");
  take("b");
  slots.end("closed");
  await turn();
  take("c");
  await turn();
  expect(log).toEqual(["a", "b closed", "c closed"]);
});

test("calls have weights up to the size, and the others wait in order", async () => {
  const { log, take, give } = setup(10);
  for (const [name, weight] of Object.entries({ a: 6, b: 4, c: 3, d: 2, e: 5 })) take(name, 0, weight);
  await turn();
  expect(log).toEqual(["a", "b"]);
  await give("b");
  expect(log).toEqual(["a", "b", "c"]);
  await give("a");
  expect(log).toEqual(["a", "b", "c", "d", "e"]);
});

test("a call that weighs more than the size has all alone", async () => {
  const { log, take, give } = setup(10);
  for (const [name, weight] of Object.entries({ a: 1, large: 11, b: 1 })) take(name, 0, weight);
  await give("a");
  expect(log).toEqual(["a", "large"]);
  await give("large");
  expect(log).toEqual(["a", "large", "b"]);
});

test("a slot is given back once", async () => {
  const { log, take, give } = setup(10);
  for (const name of ["a", "b", "c", "d"]) take(name, 0, 5);
  await give("a");
  await give("a");
  expect(log).toEqual(["a", "b", "c"]);
});

describe("a call that waits for too long", () => {
  beforeEach(() => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => {
    useRealTimers();
  });

  test("is refused, and later ones at once, until a slot is given back", async () => {
    const { slots, log, take, give } = setup(1);
    take("long");
    vi.advanceTimersByTime(50);
    take("short");
    vi.advanceTimersByTime(99);
    await turn();
    expect(log).toEqual(["long"]);
    vi.advanceTimersByTime(1);
    expect(slots.stuck).toBe(true);
    await turn();
    take("next");
    await turn();
    expect(log).toEqual(["long", "short WaitedTooLong", "next WaitedTooLong"]);
    await give("long");
    expect(slots.stuck).toBe(false);
    take("last");
    await turn();
    expect(log.at(-1)).toBe("last");
  });

  test("is refused although others begin", async () => {
    const { log, take, give } = setup(1);
    for (const name of ["a", "b", "c", "d"]) take(name);
    for (const name of ["a", "b"]) {
      vi.advanceTimersByTime(60);
      await give(name);
    }
    expect(log).toEqual(["a", "b", "c WaitedTooLong", "d WaitedTooLong"]);
  });
});
