// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { builtUrl, gate, testPool } from "../fixtures/pools.js";

type Sources = typeof import("../fixtures/sources.tasks.js");

test.each(["first", "unread"] as const)(
  "an idle ReadableStream is cancelled when its task has ended: %s",
  async (task) => {
    const { promise, tell } = gate();
    const source = new ReadableStream({
      start: (controller) => controller.enqueue("header"),
      // Never gives another value.
      pull: () => new Promise(() => {}),
      cancel: () => tell(),
    });
    const pool = testPool<Sources>(builtUrl("sources"));
    expect(await pool.call[task](source)).toBe(task === "first" ? "header" : "unread");
    await promise;
    await expect.poll(() => source.locked).toBe(false);
  },
);

test("a ReadableStream that is read to its end is unlocked", async () => {
  const source = new ReadableStream({
    start: (controller) => controller.close(),
  });
  expect(await testPool<Sources>(builtUrl("sources")).call.first(source)).toBeUndefined();
  expect(source.locked).toBe(false);
});

test("a source whose reader throws refuses its call", async () => {
  const source = Object.assign((async function* () {})(), {
    getReader: () => {
      throw new RangeError("no reader");
    },
  });
  await expect(testPool<Sources>(builtUrl("sources")).call.first(source)).rejects.toThrow("no reader");
});
