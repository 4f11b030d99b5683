// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";

type Crash = typeof import("../fixtures/crash.tasks.js");

// A worker in a browser survives both errors, a worker in Node does not.
test.each(["stray", "strayRejection"] as const)("%s: an uncaught error fails the call with its cause", async (task) => {
  const pool = testPool<Crash>(builtUrl("crash"));
  const reason = (await reasonOf(pool.call[task]())) as Error & { code: string };
  expect(reason).toMatchObject({ code: "worker-crashed" });
  expect(reason.message).toContain("stray");
  expect(reason.cause).toMatchObject({ message: "stray" });
  expect(await pool.call.runs()).toBe(1);
});
