// SPDX-License-Identifier: MIT OR Apache-2.0
// The suites in this folder repeat what users of other worker libraries rely on, with the calls of Clearway. docs/differences.md lists what
// cannot be repeated, and what Clearway does instead.
import type { Pool, PoolOptions } from "clearway";
import { describe, test } from "vitest";
import { gates } from "../fixtures/gates.js";
import { builtUrl, testPool } from "../fixtures/pools.js";

/** Registers one test per entry. The key completes the sentence that `subject` begins. */
export function behaviours(subject: string, table: Record<string, () => Promise<void> | void>): void {
  describe(subject, () => {
    for (const [name, run] of Object.entries(table)) test(name, run);
  });
}

export type Peers = typeof import("../fixtures/peers.tasks.js");

/** Creates a pool of the tasks of these suites. It ends with its test. */
export const peerPool = (options: PoolOptions = {}): Pool<Peers> => testPool<Peers>(builtUrl("peers"), options);

type Gated = typeof import("../fixtures/gates.tasks.js");

/** Creates a pool whose calls end when the test says so. Its first worker is ready. */
export async function gatedPool(options: PoolOptions = {}) {
  const pool = testPool<Gated>(builtUrl("gates"), options);
  await pool.ready();
  const { channel, ...rest } = gates();
  return { pool, ...rest, pass: (name: string | number) => pool.call.pass(name, channel), channel };
}

/** Returns how promises have settled: their values, and the codes (if they are texts) or names of their reasons. */
export async function outcomes(promises: readonly PromiseLike<unknown>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((each) => {
    if (each.status === "fulfilled") return each.value;
    const { code, name } = each.reason;
    return typeof code === "string" ? code : name;
  });
}
