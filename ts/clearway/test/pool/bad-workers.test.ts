// SPDX-License-Identifier: MIT OR Apache-2.0
// Factories whose workers break the pool's assumptions.
import { describe, expect, test } from "vitest";
import { type Plain, plainUrl, reasonOf, testPool, workerMaker } from "../fixtures/pools.js";

const refusal = {
  code: "worker-start-failed",
  message: expect.stringContaining("the factory must return a new"),
  cause: { code: "invalid-argument" },
};

describe("a factory that returns the same worker twice", () => {
  test("fails the calls that need the second worker, and the first worker answers the others", async () => {
    const newWorker = await workerMaker();
    let made = 0;
    let worker: Worker | undefined;
    const pool = testPool<Plain>(
      () => {
        made++;
        worker ??= newWorker(plainUrl);
        return worker;
      },
      { size: 2 },
    );
    expect(await Promise.all([pool.call.count(), pool.call.count(), pool.call.add(1, 2)])).toEqual([1, 2, 3]);
    expect(made).toBeGreaterThan(1);
    expect(pool.stats().workers).toMatchObject({ size: 1, ready: 1 });
    const keyed = await Promise.allSettled(Array.from({ length: 8 }, (_, key) => pool.with({ key }).call.add(1, 2)));
    const failed = keyed.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(8);
    for (const reason of failed) expect(reason).toMatchObject(refusal);
    await pool.close();
    expect(pool.stats()).toMatchObject({ open: 0, queue: { items: 0 }, workers: { size: 0 } });
  });

  test("fails every call of a second pool, and leaves the first pool's worker alone", async () => {
    const newWorker = await workerMaker();
    const worker = newWorker(plainUrl);
    const first = testPool<Plain>(() => worker);
    expect(await first.call.count()).toBe(1);
    const second = testPool<Plain>(() => worker);
    const reasons = [second.ready(), second.call.count(), second.with({ key: 1 }).call.count()].map(reasonOf);
    for (const reason of await Promise.all(reasons)) expect(reason).toMatchObject(refusal);
    await second.close();
    expect(await first.call.count()).toBe(2);
  });

  test("fails the next call after the worker was ended", async () => {
    const newWorker = await workerMaker();
    const worker = newWorker(plainUrl);
    const first = testPool<Plain>(() => worker);
    expect(await first.call.count()).toBe(1);
    await first.terminate();
    const second = testPool<Plain>(() => worker);
    expect(await reasonOf(second.call.count())).toMatchObject(refusal);
  });
});

describe("a worker whose postMessage throws", () => {
  const broken = new RangeError("not today");
  const lost = { code: "worker-crashed", message: expect.stringContaining("not today"), cause: broken };

  /** Makes a pool of such workers: they post messages until `stop` is called. */
  async function stopped(postsMax: number) {
    const newWorker = await workerMaker();
    let posts = 0;
    const stop = (): void => {
      posts = postsMax;
    };
    const pool = testPool<Plain>(
      () => {
        const worker = newWorker(plainUrl);
        const { postMessage } = worker;
        const post = (...given: [never, never]): void => {
          if (posts++ >= postsMax) throw broken;
          postMessage.apply(worker, given);
        };
        return Object.assign(worker, { postMessage: post }) as never;
      },
      { carrier: "port", graceMs: 10 },
    );
    return { pool, stop };
  }

  test("from the start fails ready() and every call at once, with its error as their cause", async () => {
    const { pool } = await stopped(0);
    const calls = [
      pool.ready(),
      pool.call.add(1, 2),
      pool.with({ key: "k" }).call.add(1, 2),
      pool.call.numbers(3).next(),
    ];
    for (const reason of await Promise.all(calls.map((call) => reasonOf(call))))
      expect(reason).toMatchObject({ code: "worker-start-failed", cause: broken });
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({ code: "worker-start-failed", cause: broken });
    await pool.close();
    expect(pool.stats()).toMatchObject({ open: 0, queue: { items: 0 }, workers: { size: 0 } });
  });

  test("later fails the call that it refuses, with its error as the cause", async () => {
    const { pool, stop } = await stopped(Number.POSITIVE_INFINITY);
    expect(await pool.call.add(1, 2)).toBe(3);
    stop();
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({ code: "not-cloneable", cause: broken });
    expect(pool.stats().open).toBe(0);
  });

  test("later fails ping()", async () => {
    const { pool, stop } = await stopped(Number.POSITIVE_INFINITY);
    await pool.ready();
    stop();
    expect(await reasonOf(pool.ping())).toMatchObject(lost);
  });

  test("later fails a stream whose reader requests more values, and a concurrent call", async () => {
    const { pool, stop } = await stopped(Number.POSITIVE_INFINITY);
    const stream = pool.with({ window: { items: 1 } }).call.numbers(3);
    expect(await stream.next()).toEqual({ done: false, value: 0 });
    const never = reasonOf(pool.call.never());
    await pool.ping();
    stop();
    expect(await reasonOf(stream.next().then(() => stream.next()))).toMatchObject(lost);
    expect(await never).toMatchObject(lost);
    expect(pool.stats()).toMatchObject({ open: 0, workers: { restarts: 1 } });
  });
});
