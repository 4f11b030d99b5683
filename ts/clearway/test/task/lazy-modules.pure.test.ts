// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { LazyModule } from "../../src/task/lazy-modules.js";

test("a lazy module is loaded once, and is available from then on", async () => {
  let loads = 0;
  const lazy = new LazyModule("it", async () => ++loads);
  expect(lazy.exports).toBeUndefined();
  expect(await Promise.all([lazy.load(), lazy.load()])).toEqual([1, 1]);
  expect(lazy.exports).toBe(1);
  expect(await lazy.load()).toBe(1);
});

test("a lazy module that failed to load is loaded again for the next caller", async () => {
  const reasons = [new TypeError("offline"), new TypeError("still offline")];
  const lazy = new LazyModule("it", async () => {
    const reason = reasons.shift();
    if (reason !== undefined) throw reason;
    return "here";
  });
  lazy.preload();
  const why = { code: "missing-package", message: "it could not be loaded" };
  await expect(lazy.load()).rejects.toMatchObject({ ...why, cause: { message: "offline" } });
  await expect(lazy.load()).rejects.toMatchObject({ ...why, cause: { message: "still offline" } });
  expect(lazy.exports).toBeUndefined();
  expect(await lazy.load()).toBe("here");
});
