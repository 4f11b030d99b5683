// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { Part } from "../../src/task/parts.js";

test("a part is loaded once, and is at hand from then on", async () => {
  let loads = 0;
  const part = new Part("it", async () => ++loads);
  expect(part.now).toBeUndefined();
  expect(await Promise.all([part.load(), part.load()])).toEqual([1, 1]);
  expect(part.now).toBe(1);
  expect(await part.load()).toBe(1);
});

test("a part that could not be loaded is tried again by the next who needs it", async () => {
  const reasons = [new TypeError("offline"), new TypeError("still offline")];
  const part = new Part("it", async () => {
    const reason = reasons.shift();
    if (reason !== undefined) throw reason;
    return "here";
  });
  part.expect();
  const why = { code: "missing-package", message: "it could not be loaded" };
  await expect(part.load()).rejects.toMatchObject({ ...why, cause: { message: "offline" } });
  await expect(part.load()).rejects.toMatchObject({ ...why, cause: { message: "still offline" } });
  expect(part.now).toBeUndefined();
  expect(await part.load()).toBe("here");
});
