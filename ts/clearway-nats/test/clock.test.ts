// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../src/clock.js";
import { limited } from "../src/durable/open-calls.js";
import type { CallSettings } from "../src/options/pool.js";
import { armLimits } from "../src/outcome.js";
import { useFakeTimers, useRealTimers } from "./fixtures/clocks.js";

const { setTimeout: realTimeout } = globalThis;

beforeEach(() => useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => useRealTimers());

/** Runs a limit of 10 ms as after a stall of this thread: its timer fires before a message is read that has arrived. Returns the order. */
async function afterStall(limit: (act: () => void) => void): Promise<string[]> {
  const order: string[] = [];
  const { port1, port2 } = new MessageChannel();
  const read = new Promise<void>((resolve) => {
    port2.onmessage = () => {
      order.push("message");
      resolve();
    };
  });
  const over = new Promise<void>((resolve) =>
    limit(() => {
      order.push("limit");
      resolve();
    }),
  );
  // From a timer, the event loop goes on with what has arrived, and then with immediates.
  await new Promise((resolve) => realTimeout(resolve));
  port1.postMessage("answer");
  vi.advanceTimersByTime(10);
  await Promise.all([read, over]);
  port2.close();
  return order;
}

describe("after a stall of this thread, a message that has arrived comes before", () => {
  test.each<[string, (act: () => void) => void]>([
    ["a time of the clock", (act) => void systemClock.after(10, act)],
    [
      "the deadline of a call in request mode",
      (act) => void armLimits({ deadlineMs: 10 } as CallSettings, systemClock, act),
    ],
    ["the deadline of a durable call", (act) => void limited({ deadlineMs: 10 }, act)],
  ])("%s", async (_, limit) => {
    expect(await afterStall(limit)).toEqual(["message", "limit"]);
  });
});

test("a time of the clock that was cancelled after its timer fired does not come", async () => {
  const acts: string[] = [];
  const cancel = systemClock.after(10, () => acts.push("late"));
  vi.advanceTimersByTime(10);
  cancel();
  await new Promise((resolve) => setImmediate(resolve));
  expect(acts).toEqual([]);
});

test("calls that share a signal add one listener to it, and leave none", () => {
  const { signal } = new AbortController();
  const adds = vi.spyOn(signal, "addEventListener");
  const removes = vi.spyOn(signal, "removeEventListener");
  const ends = [
    armLimits({ signal } as CallSettings, systemClock, () => {}),
    armLimits({ signal } as CallSettings, systemClock, () => {}),
    limited({ signal }, () => {}),
  ];
  expect(adds).toHaveBeenCalledTimes(1);
  for (const end of ends) end?.();
  expect(removes).toHaveBeenCalledTimes(1);
});
