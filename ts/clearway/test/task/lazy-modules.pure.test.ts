// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { LazyModule } from "../../src/task/lazy-modules.js";

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
  expect(lazy.exports).toBe("here");
});
