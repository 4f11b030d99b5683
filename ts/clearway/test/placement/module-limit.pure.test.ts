// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, expect, test, vi } from "vitest";
import { PaperCaller } from "./caller.js";

afterEach(() => void vi.useRealTimers());

test("advise() waits for a module that never comes as long as for a worker's start, and no longer", async () => {
  vi.useFakeTimers();
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

test("a module's loader that calls back is asked once", async () => {
  let asked = 0;
  const caller: PaperCaller = new PaperCaller(1, async () => {
    asked++;
    caller.turn([1, 2, 3]);
    return {};
  });
  await caller.loaded();
  expect(asked).toBe(1);
});
