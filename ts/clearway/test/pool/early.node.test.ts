// SPDX-License-Identifier: MIT OR Apache-2.0
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { builtUrl, type Plain, plainUrl, testPool } from "../fixtures/pools.js";

test("a first call whose worker's module throws moves to another starting worker", async () => {
  let made = 0;
  const pool = testPool<Plain>(() => new Worker(made++ === 0 ? builtUrl("throws") : plainUrl), { size: 2 });
  expect(await Promise.all([pool.call.add(1, 2), pool.call.add(2, 2)])).toEqual([3, 4]);
});

test("a first call whose worker's module throws moves to a worker that is ready and idle", async () => {
  const held = new Int32Array(new SharedArrayBuffer(4));
  let made = 0;
  const pool = testPool<Plain>(
    () => (made++ === 0 ? new Worker(builtUrl("throws-later"), { workerData: held }) : new Worker(plainUrl)),
    { size: 2 },
  );
  const [first, second] = [pool.call.add(1, 2), pool.call.add(2, 2)];
  expect(await second).toBe(4);
  Atomics.store(held, 0, 1);
  Atomics.notify(held, 0);
  expect(await first).toBe(3);
});
