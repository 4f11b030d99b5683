// SPDX-License-Identifier: MIT OR Apache-2.0
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { builtUrl, type Plain, plainUrl, reasonOf, testPool } from "../fixtures/pools.js";

type Borders = typeof import("../fixtures/borders.tasks.js");
type Chaos = typeof import("../fixtures/chaos.tasks.js");

test.each([1, 2])(
  "a call that throws just before another call is killed runs once and rejects with its own error, with concurrency %i",
  async (concurrency) => {
    const pool = testPool<Chaos>(builtUrl("chaos"), { concurrency, graceMs: 20 });
    await pool.ready();
    const cells = new Int32Array(new SharedArrayBuffer(8));
    // In one message, the first of this worker: the code that encodes errors is not loaded yet.
    const thrown = reasonOf(pool.call.throws({ cells, at: 0 }, 1));
    const killed = reasonOf(pool.with({ timeoutMs: 100 }).call.spin({ cells, at: 1 }));
    expect(await killed).toMatchObject({ code: "timeout" });
    expect(await thrown).not.toHaveProperty("code");
    expect(cells[0]).toBe(1);
    // The time begins with the call's turn. On a busy machine, it may be over before the task's first line.
    expect(cells[1]).toBeLessThanOrEqual(1);
  },
);

test("a running call fails and does not run again when its worker no longer accepts messages", async () => {
  let deaf: Worker | undefined;
  let latest: Worker | undefined;
  const source = (): Worker => {
    const worker = new Worker(builtUrl("chaos"));
    latest = worker;
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (...message) => {
      if (deaf === worker) throw new Error("deaf");
      post(...message);
    };
    return worker;
  };
  const pool = testPool<Chaos>(source as never, { carrier: "port" });
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const running = reasonOf(pool.call.spin({ cells, at: 0 }));
  await expect.poll(() => cells[0]).toBe(1);
  deaf = latest;
  expect(await reasonOf(pool.ping())).toMatchObject({ code: "worker-crashed" });
  expect(await running).toMatchObject({ code: "worker-crashed" });
  expect(await pool.call.ok({ cells, at: 1 }, 5)).toBe(5);
  expect([...cells]).toEqual([1, 1]);
});

test("a call whose workers end and say that no call has begun fails with worker-exited after eleven of them, although other calls are answered", async () => {
  const pool = testPool<Borders>(builtUrl("borders"), { size: 1, concurrency: 2 });
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const denied = reasonOf(pool.call.deny(cells));
  for (let runs = 1; runs <= 11; runs++) {
    await expect.poll(() => cells[0]).toBe(runs);
    expect(await pool.call.echo(runs)).toBe(runs);
    Atomics.store(cells, 1, runs);
  }
  expect(await denied).toMatchObject({ code: "worker-exited" });
  expect(cells[0]).toBe(11);
});

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
