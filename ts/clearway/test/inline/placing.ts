// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Placement, Pool, PoolOptions, WorkerSource } from "clearway";
import { builtUrl, testPool } from "../fixtures/pools.js";

export type Placed = typeof import("../fixtures/placed.tasks.js");

export const placedUrl = builtUrl("placed");

// The tasks read it when they report their thread.
(globalThis as { thisIsTheCallersThread?: true }).thisIsTheCallersThread = true;

/** Creates a pool of the placed tasks whose module is also loaded on this thread. Its `call` places the calls. */
export async function placedPool(
  placement: Placement,
  options: PoolOptions = {},
  source: WorkerSource = placedUrl,
): Promise<Pool<Placed>> {
  const pool = testPool<Placed>(source, options);
  const inline = pool.with({ placement: "inline" }).call;
  await pool.ready();
  while ((await inline.context())[0] !== "caller");
  return { ...pool, call: pool.with({ placement }).call };
}
