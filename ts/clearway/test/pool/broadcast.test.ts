// SPDX-License-Identifier: MIT OR Apache-2.0
import { type BroadcastError, ClearwayError, move, type Pool } from "clearway";
import { describe, expect, test } from "vitest";
import { revoked } from "../fixtures/misdeeds.js";
import { builtUrl, gate, gates, held, inProcesses, plainPool, reasonOf, testPool, warmed } from "../fixtures/pools.js";

type Crash = typeof import("../fixtures/crash.tasks.js");
const crashing = (size: number) => testPool<Crash>(builtUrl("crash"), { size });

/** Settles when all workers of a pool are ready. */
const untilReady = (pool: Pool<never> | Pool<Crash> | ReturnType<typeof plainPool>, size: number) =>
  expect.poll(() => pool.stats().workers.ready).toBe(size);

describe("a broadcast calls", () => {
  test("every worker once, in the order of the workers", async () => {
    const pool = crashing(3);
    await untilReady(pool, 3);
    const names = await pool.broadcast.who();
    expect(new Set(names).size).toBe(3);
    expect(await pool.broadcast.runs()).toEqual([1, 1, 1]);
    expect(await pool.broadcast.runs()).toEqual([2, 2, 2]);
    expect(await pool.broadcast.who()).toEqual(names);
    expect(pool.stats()).toMatchObject({ open: 0, queue: { items: 0 }, tasks: { runs: { calls: 6, ok: 6 } } });
  });

  test("the workers that are still starting", async () => {
    const pool = crashing(2);
    expect(await pool.broadcast.runs()).toEqual([1, 1]);
  });

  test("no worker of a pool that has none, and starts none", async () => {
    const pool = plainPool({ size: { min: 0, max: 2 } });
    expect(await pool.broadcast.count()).toEqual([]);
    expect(pool.stats().workers.size).toBe(0);
  });

  test.skipIf(inProcesses)("no worker that starts later", async () => {
    const pool = testPool<Crash>(builtUrl("crash"), { size: { min: 1, max: 2 } });
    await untilReady(pool, 1);
    expect(await pool.broadcast.runs()).toHaveLength(1);
  });

  test.each([1, 2])("a busy worker once a task ends there, with a concurrency of %s", async (concurrency) => {
    const pool = plainPool({ size: 1, concurrency });
    const { channel, begun, open } = gates();
    const names = Array.from({ length: concurrency }, (_, at) => at);
    const calls = Promise.all(names.map((name) => pool.call.pass(name, channel)));
    await begun(...names);
    const broadcast = pool.broadcast.pass("all", channel);
    await expect.poll(() => pool.stats().queue.items).toBe(1);
    await open(0);
    // The other calls of the worker, which have no key either, go on.
    await open("all");
    expect(await broadcast).toEqual(["all"]);
    await open(...names.slice(1));
    await calls;
  });

  test("with the options of with()", async () => {
    const pool = plainPool({ size: 2 });
    const reported: unknown[] = [];
    expect(await pool.with({ onProgress: (value) => reported.push(value) }).broadcast.report(1)).toEqual([1, 1]);
    expect(reported).toEqual([0, 0]);
  });

  test("the worker that takes the place of one that ended before the call began", async () => {
    const pool = crashing(2);
    await untilReady(pool, 2);
    const names = await pool.broadcast.who();
    // Both workers are busy with calls that end them.
    const left = [pool.call.leave(), pool.call.leave()].map((each) => reasonOf(each));
    const later = pool.broadcast.runs();
    for (const reason of await Promise.all(left)) expect(reason).toMatchObject({ code: "worker-exited" });
    expect(await later).toEqual([1, 1]);
    for (const name of await pool.broadcast.who()) expect(names).not.toContain(name);
  });

  test("the worker that takes the place of a recycled one", async () => {
    const pool = await warmed(testPool<Crash>(builtUrl("crash"), { size: 1, recycle: { tasks: 1 } }));
    const runs = [pool.call.runs(), pool.broadcast.runs()];
    expect(await Promise.all(runs)).toEqual([1, [1]]);
    expect(pool.stats().workers.restarts).toBe(0);
  });
});

describe("a broadcast that fails", () => {
  test("names the workers in which it failed, and has the results of the others", async () => {
    const pool = crashing(3);
    await untilReady(pool, 3);
    const names = await pool.broadcast.who();
    const reason = (await reasonOf(pool.broadcast.failsIn(names[1]!))) as BroadcastError<number>;
    expect(reason).toBeInstanceOf(ClearwayError);
    expect(reason).toMatchObject({
      code: "broadcast-failed",
      message: "failsIn() failed in 1 of 3 workers: worker 1: not here",
      failures: [{ worker: 1, reason: { name: "RangeError", message: "not here" } }],
      results: [
        { worker: 0, result: names[0] },
        { worker: 2, result: names[2] },
      ],
    });
    expect(reason.cause).toBe(reason.failures[0]!.reason);
    expect(await pool.broadcast.who()).toEqual(names);
  });

  test("fails with unknown-task in every worker when the module has no such task", async () => {
    const pool = plainPool({ size: 2 });
    const { missing } = pool.broadcast as unknown as { missing(): Promise<unknown> };
    const reason = { code: "unknown-task" };
    expect(await reasonOf(missing())).toMatchObject({
      failures: [
        { worker: 0, reason },
        { worker: 1, reason },
      ],
    });
  });

  test("names the worker that ended while it ran the call", async () => {
    const pool = crashing(2);
    await untilReady(pool, 2);
    const names = await pool.broadcast.who();
    expect(await reasonOf(pool.broadcast.leaveIn(names[0]!))).toMatchObject({
      code: "broadcast-failed",
      failures: [{ worker: 0, reason: { code: "worker-exited" } }],
      results: [{ worker: 1, result: names[1] }],
    });
  });

  test("waits until every call has ended", async () => {
    const pool = crashing(2);
    await untilReady(pool, 2);
    const { release } = await held(pool);
    const idle = await pool.call.who();
    let settled = false;
    const broadcast = reasonOf(pool.broadcast.failsIn(idle)).then((reason) => {
      settled = true;
      return reason as BroadcastError<number>;
    });
    await expect.poll(() => pool.stats().tasks["failsIn"]!.failed).toBe(1);
    await pool.ping();
    expect(settled).toBe(false);
    await release();
    expect((await broadcast).results).toHaveLength(1);
  });

  test("has a stack with the function that made it", async () => {
    const pool = crashing(1);
    async function reloadsConfiguration() {
      return await pool.broadcast.failsIn((await pool.broadcast.who())[0]!);
    }
    expect(((await reasonOf(reloadsConfiguration())) as Error).stack).toContain("reloadsConfiguration");
  });
});

describe("a broadcast rejects with", () => {
  test("the reason of its signal, which cancels all calls", async () => {
    const pool = plainPool({ size: 2 });
    await untilReady(pool, 2);
    const leaving = new AbortController();
    const why = new RangeError("left");
    const started = gate();
    let begun = 0;
    const onProgress = (): void => {
      if (++begun === 2) started.tell();
    };
    const broadcast = reasonOf(pool.with({ signal: leaving.signal, onProgress }).broadcast.hold());
    await started.promise;
    leaving.abort(why);
    expect(await broadcast).toBe(why);
    await expect.poll(() => pool.stats().open).toBe(0);
    expect(await reasonOf(pool.with({ signal: leaving.signal }).broadcast.hold())).toBe(why);
  });

  test("pool-terminated, and pool-closed after the end of the pool", async () => {
    const pool = plainPool({ size: 2 });
    await untilReady(pool, 2);
    const never = reasonOf(pool.broadcast.never());
    await expect.poll(() => pool.stats().open).toBe(2);
    await pool.terminate();
    expect(await never).toMatchObject({ code: "pool-terminated" });
    const closed = plainPool();
    await closed.close();
    expect(await reasonOf(closed.broadcast.count())).toMatchObject({ code: "pool-closed" });
  });

  test("not-cloneable for a revoked proxy as an argument", async () => {
    const pool = plainPool();
    const echo = pool.broadcast.echo as (value: unknown) => Promise<unknown>;
    expect(await reasonOf(echo(revoked()))).toMatchObject({
      code: "not-cloneable",
      message: expect.stringContaining("an argument of echo() cannot cross a thread"),
    });
  });

  test("invalid-argument for what only one worker could receive", async () => {
    const pool = plainPool();
    const bytes = new Uint8Array(8);
    const echo = pool.broadcast.echo as (value: unknown) => Promise<unknown>;
    expect(await reasonOf(echo(move(bytes)))).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining("argument 1 of a broadcast is under move()"),
    });
    expect(bytes.length).toBe(8);
    const stream = (async function* () {
      yield 1;
    })();
    expect(await reasonOf(echo(stream))).toMatchObject({ code: "invalid-argument" });
    expect((await stream.next()).value).toBe(1);
    expect(await reasonOf(pool.with({ key: 1 }).broadcast.count())).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining("key"),
    });
  });

  test.each(["cold", "warm"])("invalid-argument for a task that gives a stream, on a %s pool", async (start) => {
    const pool = plainPool({ size: 2 });
    if (start === "warm") await pool.ready();
    const broadcast = pool.broadcast as unknown as { numbers(count: number): Promise<unknown> };
    expect(await reasonOf(broadcast.numbers(3))).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining("numbers() gives a stream"),
    });
    await expect.poll(() => pool.stats().open).toBe(0);
  });
});
