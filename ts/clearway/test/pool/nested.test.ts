// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";

type Nested = typeof import("../fixtures/nested.tasks.js");

test("a worker may have its own pool, and errors pass through both", async () => {
  const pool = testPool<Nested>(builtUrl("nested"));
  expect(await pool.call.sumOf([1, 2, 3])).toBe(12);
  expect(await reasonOf(pool.call.errorOf("deep"))).toMatchObject({ name: "RangeError", message: "deep" });
});
