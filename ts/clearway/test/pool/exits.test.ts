// SPDX-License-Identifier: MIT OR Apache-2.0
// Uses a module that ends its worker once it is ready, so that calls which have not started return to the queue repeatedly.
import { describe, expect, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";

type Exits = typeof import("../fixtures/exits.tasks.js");

const inNode = typeof process === "object" && typeof process.versions?.node === "string";

describe.each([1, 3])("a module that ends each of %i workers as soon as it is ready", (size) => {
  test("fails the waiting calls, with and without a key, after some restarts", async () => {
    const pool = testPool<Exits>(builtUrl("exits"), { size });
    const calls = [pool.call.add(1, 2), pool.with({ key: "k" }).call.add(1, 2), pool.call.add(2, 2)];
    for (const reason of await Promise.all(calls.map(reasonOf))) {
      expect(reason).toMatchObject({ code: "worker-start-failed" });
    }
    expect(pool.stats()).toMatchObject({ open: 0, queue: { items: 0 } });
    expect(pool.stats().workers.restarts).toBeLessThan(30);
    await pool.close();
  });

  test("fails the next call, too, after one or two further starts", async () => {
    const pool = testPool<Exits>(builtUrl("exits"), { size });
    await reasonOf(pool.call.add(1, 2));
    const { restarts } = pool.stats().workers;
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({ code: "worker-start-failed" });
    expect(pool.stats().workers.restarts).toBeLessThan(restarts + 4 * size);
  });

  // In a page, the worker ends before it is ready.
  test.runIf(inNode)(
    "is reported in stats() as exits in a row, with no next start once the calls have failed",
    async () => {
      const pool = testPool<Exits>(builtUrl("exits"), { size });
      expect(pool.stats().workers.pause).toBeUndefined();
      await reasonOf(pool.call.add(1, 2));
      expect(pool.stats().workers.pause!.exits).toBeGreaterThan(8);
      // Of several workers, one may have exited while the pool waited to replace another.
      await expect.poll(() => pool.stats().workers).toMatchObject({ size: 0, pause: { nextStartInMs: 0 } });
    },
  );

  // In a page, the worker ends before it is ready.
  test.runIf(inNode).each([
    ["terminate", "pool-terminated"],
    ["close", "pool-closed"],
  ] as const)("does not prevent %s() during the wait for the next start", async (end, code) => {
    const pool = testPool<Exits>(builtUrl("exits"), { size });
    const lost = reasonOf(pool.call.add(1, 2));
    await expect.poll(() => pool.stats().workers.restarts).toBeGreaterThan(1);
    const ended = end === "close" ? pool.close({ timeoutMs: 0 }) : pool.terminate();
    // The pool may have given the call up before.
    expect([code, "worker-start-failed"]).toContain((await lost).code);
    await ended;
    expect(pool.stats()).toMatchObject({ open: 0, queue: { items: 0 }, workers: { size: 0 } });
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({ code });
  });

  test.runIf(inNode)("fails its calls before close() settles, when close() has time to wait for them", async () => {
    const pool = testPool<Exits>(builtUrl("exits"), { size });
    const lost = reasonOf(pool.call.add(1, 2));
    await expect.poll(() => pool.stats().workers.restarts).toBeGreaterThan(1);
    await pool.close();
    expect(await lost).toMatchObject({ code: "worker-start-failed" });
    expect(pool.stats()).toMatchObject({ open: 0, queue: { items: 0 }, workers: { size: 0 } });
  });
});
