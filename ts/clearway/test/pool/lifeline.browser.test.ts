// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { describe, expect, onTestFinished, test } from "vitest";
import { builtUrl, reasonOf } from "../fixtures/pools.js";

type Vanishing = typeof import("../fixtures/vanishing.tasks.js");

const open = (search = "") => {
  const made = pool<Vanishing>(new URL(search, builtUrl("vanishing")), { size: 1 });
  onTestFinished(() => made.terminate());
  return made;
};

describe("a worker that ends without a word", () => {
  test("fails the call that it had begun", async () => {
    const { call } = open();
    expect(await call.ok()).toBe(1);
    expect(await reasonOf(call.vanish())).toMatchObject({ code: "worker-exited" });
  });

  test("is replaced when it had nothing to do", async () => {
    const made = open();
    expect(await made.call.vanishSoon(0)).toBe(0);
    await expect.poll(() => made.stats().workers.restarts).toBe(1);
    expect(await made.call.ok()).toBe(1);
  });

  test("is noticed where no call had come yet", async () => {
    const made = open("?vanish");
    await made.ready();
    await expect.poll(() => made.stats().workers.restarts).toBeGreaterThan(0);
    await made.terminate();
  });
});
