// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, expect, test, vi } from "vitest";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import { PaperCaller } from "./caller.js";

afterEach(() => useRealTimers());

test("advise() waits at most 30 s, as for a worker's start, for a module that never loads", async () => {
  useFakeTimers();
  const caller = new PaperCaller(1, () => new Promise(() => {}));
  void caller.loaded();
  let notes: readonly string[] | undefined;
  void caller.placer.advise().then((advice) => {
    notes = advice.notes;
  });
  await vi.advanceTimersByTimeAsync(29_999);
  expect(notes).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(notes).toEqual(["Nothing runs inline: the module has not been loaded yet."]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a module's loader is called once, even when it makes calls itself", async () => {
  let asked = 0;
  const caller: PaperCaller = new PaperCaller(1, async () => {
    asked++;
    caller.turn([1, 2, 3]);
    return {};
  });
  await caller.loaded();
  expect(asked).toBe(1);
});
