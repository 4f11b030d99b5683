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
  for (const message of ["offline", "still offline"])
    await expect(lazy.load()).rejects.toMatchObject({
      code: "missing-package",
      message: expect.stringContaining(`it could not be loaded: ${message}`),
      cause: { message },
    });
  expect(lazy.exports).toBeUndefined();
  expect(await lazy.load()).toBe("here");
  expect(lazy.exports).toBe("here");
});
