// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Pool, PoolOptions, WorkerSource } from "clearway";
import { builtUrl, testPool } from "../fixtures/pools.js";

export type Placed = typeof import("../fixtures/placed.tasks.js");

export const placedUrl = builtUrl("placed");

/** A pool of the placed tasks whose module, if it can be, is loaded on this thread, too. */
export async function placedPool(options: PoolOptions, source: WorkerSource = placedUrl): Promise<Pool<Placed>> {
  (globalThis as { thisIsTheCallersThread?: true }).thisIsTheCallersThread = true;
  const pool = testPool<Placed>(source, options);
  await pool.ready();
  // Waits for what places calls, the first call asks for the module, and the second waits for that.
  await pool.advise();
  await pool.call.add(1, 2);
  await pool.advise();
  return pool;
}
