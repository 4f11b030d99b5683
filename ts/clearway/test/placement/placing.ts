// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Pool, PoolOptions, WorkerSource } from "clearway";
import { builtUrl, testPool } from "../fixtures/pools.js";

export type Placed = typeof import("../fixtures/placed.tasks.js");

export const placedUrl = builtUrl("placed");

/** Creates a pool of the placed tasks whose module is also loaded on this thread, when it can be. */
export async function placedPool(options: PoolOptions, source: WorkerSource = placedUrl): Promise<Pool<Placed>> {
  (globalThis as { thisIsTheCallersThread?: true }).thisIsTheCallersThread = true;
  const pool = testPool<Placed>(source, options);
  await pool.ready();
  // The first advise() waits for the placer. The first call loads the module, and the second advise() waits for that.
  await pool.advise();
  await pool.call.add(1, 2);
  await pool.advise();
  return pool;
}
