// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { builtUrl, testPool } from "../fixtures/pools.js";

type Worn = typeof import("../fixtures/worn.tasks.js");

// Browsers do not tell a worker the size of its heap.
test("recycling replaces a worker whose heap has reached heapMb", async () => {
  // Smaller than any heap.
  const pool = testPool<Worn>(builtUrl("worn"), { recycle: { heapMb: 1 } });
  const first = await pool.call.who();
  // A worker reports the size of its heap at most ten times a second.
  await expect.poll(() => pool.call.who()).not.toBe(first);
  expect(pool.stats().workers.restarts).toBe(0);
});
