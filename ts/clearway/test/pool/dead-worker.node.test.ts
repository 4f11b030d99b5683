// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { type Plain, plainUrl, reasonOf, testPool } from "../fixtures/pools.js";

async function dead(): Promise<Worker> {
  const worker = new Worker("", { eval: true });
  await once(worker, "exit");
  return worker;
}

describe("a factory that returns a worker that has exited", () => {
  test("fails the waiting calls, and ready()", async () => {
    const worker = await dead();
    const pool = testPool<Plain>(() => worker);
    const reasons = await Promise.all([reasonOf(pool.ready()), reasonOf(pool.call.add(1, 2))]);
    for (const reason of reasons) expect(reason).toMatchObject({ code: "worker-start-failed" });
    await pool.close();
  });

  test("does not block terminate()", async () => {
    const worker = await dead();
    const pool = testPool<Plain>(() => worker);
    const lost = reasonOf(pool.call.add(1, 2));
    await pool.terminate();
    expect(["pool-terminated", "worker-start-failed"]).toContain((await lost).code);
  });

  test("is called again for the next call", async () => {
    const workers = [await dead()];
    const pool = testPool<Plain>(() => workers.shift() ?? new Worker(plainUrl));
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({ code: "worker-start-failed" });
    expect(await pool.call.add(1, 2)).toBe(3);
  });
});

test("a string that begins with a Windows drive letter is a path, in either case", async () => {
  for (const drive of ["c", "C"]) {
    const pool = testPool<Plain>(`${drive}:\\tasks\\images.tasks.js`);
    // This path does not exist. A URL of that scheme would be refused for its scheme.
    expect((await reasonOf(pool.call.add(1, 2))).message).toMatch(/absolute path/);
  }
});
