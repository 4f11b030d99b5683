// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect } from "vitest";
import { behaviours, gatedPool, outcomes, peerPool } from "./behaviours.js";

behaviours("the statistics", {
  "count the calls of each task by outcome": async () => {
    const pool = peerPool();
    await outcomes([pool.call.add(1, 2), pool.call.add(1, 2), pool.call.throws("own"), pool.call.rejects("type")]);
    expect(pool.stats().tasks).toMatchObject({
      add: { calls: 2, ok: 2, failed: 0 },
      throws: { calls: 1, ok: 0, failed: 1 },
      rejects: { calls: 1, failed: 1 },
    });
  },
  "count open calls": async () => {
    const { pool, pass, open } = await gatedPool();
    const calls = [pass("a"), pass("b")];
    expect(pool.stats().open).toBe(2);
    await open("a", "b");
    await Promise.all(calls);
    expect(pool.stats().open).toBe(0);
  },
  "are a copy: to change them changes nothing": () => {
    const pool = peerPool();
    pool.stats().queue.items = 5;
    pool.stats().workers.size = 9;
    expect(pool.stats()).toMatchObject({ queue: { items: 0 }, workers: { size: 1 } });
  },
  "are plain data": async () => {
    const pool = peerPool({ metrics: true });
    await pool.call.add(1, 2);
    expect(JSON.parse(JSON.stringify(pool.stats()))).toMatchObject({ tasks: { add: { ok: 1 } } });
  },
  "have the share of its life that each worker was busy": async () => {
    const pool = peerPool({ size: 2 });
    await expect.poll(() => pool.stats().workers.ready).toBe(2);
    await pool.call.add(1, 2);
    const { utilisation } = pool.stats().workers;
    expect(utilisation).toHaveLength(2);
    for (const each of utilisation) expect(each).toBeGreaterThanOrEqual(0);
  },
});

behaviours("the histograms", {
  "have the waiting time and the run time of each call, if the pool measures": async () => {
    const pool = peerPool({ metrics: true });
    await pool.ready();
    for (let at = 0; at < 10; at++) await pool.call.later(1);
    const { later } = pool.stats().tasks;
    for (const summary of [later?.queueUs, later?.runUs]) {
      expect(summary).toMatchObject({ count: 10 });
      const { min = 0, p50 = 0, p90 = 0, p99 = 0, max = 0, mean = 0 } = summary ?? {};
      expect([min, p50, p90, p99, max].every((each, at, all) => each >= (all[at - 1] ?? 0))).toBe(true);
      expect(mean >= min && mean <= max).toBe(true);
    }
  },
  "are separate for each task": async () => {
    const pool = peerPool({ metrics: true });
    await pool.ready();
    await Promise.all([pool.call.add(1, 2), pool.call.add(1, 2), pool.call.later(1)]);
    const { add, later } = pool.stats().tasks;
    expect([add?.runUs?.count, later?.runUs?.count]).toEqual([2, 1]);
  },
  "are separate for each pool": async () => {
    const [one, two] = [peerPool({ metrics: true }), peerPool({ metrics: true })];
    await Promise.all([one.ready(), two.ready()]);
    await one.call.add(1, 2);
    expect(two.stats().tasks["add"]?.calls ?? 0).toBe(0);
  },
  "are absent by default": async () => {
    const pool = peerPool();
    await pool.call.add(1, 2);
    expect(pool.stats().tasks["add"]).not.toHaveProperty("runUs");
  },
});

behaviours("shared memory", {
  "is the same memory in a worker": async () => {
    const cell = new Int32Array(new SharedArrayBuffer(4));
    const { call } = peerPool({ size: 2 });
    await Promise.all(Array.from({ length: 50 }, () => call.increment(cell)));
    expect(cell[0]).toBe(50);
  },
  "wakes a worker that waits with Atomics.wait": async () => {
    const cell = new Int32Array(new SharedArrayBuffer(4));
    const call = peerPool().call.wait(cell);
    const timer = setInterval(() => Atomics.notify(cell, 0), 1);
    try {
      expect(await call).toBe("ok");
    } finally {
      clearInterval(timer);
    }
  },
});

behaviours("a pool without shared memory for its calls (`carrier: port`)", {
  "gives the same results": async () => {
    const { call } = peerPool({ carrier: "port" });
    expect(await outcomes([call.add(1, 2), call.later("x"), call.throws("own")])).toEqual([3, "x", "E_STOCK"]);
  },
  "runs thousands of calls without a growing stack": async () => {
    const { call } = peerPool({ carrier: "port" });
    const all = await Promise.all(Array.from({ length: 3000 }, (_, at) => call.add(at, 1)));
    expect(all.at(-1)).toBe(3000);
  },
});
