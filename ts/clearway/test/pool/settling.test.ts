// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { describe, expect, onTestFinished, test } from "vitest";
import { gate, type Plain, plainPool, plainUrl, reasonOf } from "../fixtures/pools.js";

// Former hangs. The random plans of `no-hang` would find them again; these tests name the cause.

describe("a call settles", () => {
  test("when its pool is terminated, also one whose task nobody can tell to have begun", async () => {
    const pool = plainPool();
    await pool.ready();
    const never = reasonOf(pool.call.never());
    await pool.terminate();
    expect(await never).toMatchObject({ code: "pool-terminated" });
    expect(pool.stats()).toMatchObject({ open: 0, queue: { items: 0 }, workers: { size: 0 } });
  });

  test("when its pool is closed and it takes too long", async () => {
    const pool = plainPool();
    await pool.ready();
    const never = reasonOf(pool.call.never());
    await pool.close({ timeoutMs: 10 });
    expect(await never).toMatchObject({ code: "pool-closed" });
  });

  test("when no worker can be started, however many are tried at once", async () => {
    const missing = pool<Plain>(new URL("./built/missing.tasks.js", plainUrl), { size: 3 });
    onTestFinished(() => missing.terminate());
    const calls = Array.from({ length: 5 }, (_, at) => reasonOf(missing.with({ key: at }).call.add(1, at)));
    calls.push(reasonOf(missing.call.add(1)), reasonOf(missing.ready()));
    for (const each of await Promise.all(calls)) expect(each).toMatchObject({ code: "worker-start-failed" });
  });

  test("when the factory of its worker throws", async () => {
    const broken = pool<Plain>(
      () => {
        throw new Error("no worker today");
      },
      { size: 2 },
    );
    expect(await reasonOf(broken.call.add(1))).toMatchObject({
      code: "worker-start-failed",
      cause: { message: "no worker today" },
    });
    await broken.close();
  });

  test("and so does ready(), when the only worker is on its way out", async () => {
    const pool = plainPool({ size: { min: 0, max: 1 }, recycle: { tasks: 1 } });
    expect(await pool.call.add(1, 2)).toBe(3);
    await pool.ready();
  });

  test("when its worker does not get ready in time", async () => {
    const never = URL.createObjectURL(new Blob(["await new Promise(() => {})"], { type: "text/javascript" }));
    // Node cannot start a worker from a blob URL, so it uses a data URL.
    const source = typeof process === "object" ? "data:text/javascript,setInterval(() => {}, 1000)" : never;
    const late = pool<Plain>(new URL(source), { size: 1, startTimeoutMs: 200 });
    onTestFinished(() => late.terminate());
    expect(await reasonOf(late.call.add(1))).toMatchObject({ code: "worker-start-failed" });
  });

  test("when the task leaves a stream whose source is at work on a value that never comes", async () => {
    const { call } = plainPool();
    async function* source() {
      yield 1;
      await new Promise(() => {});
    }
    expect(await call.firstOf(source())).toBe(1);
  });

  test("when its source ends with a symbol, or in the tick of a value that cannot cross", async () => {
    const { call } = plainPool();
    async function* odd() {
      yield 1;
      return Symbol("odd");
    }
    const seen: number[] = [];
    for await (const each of call.doubles(odd())) seen.push(each);
    expect(seen).toEqual([2]);
    async function* bad() {
      yield (() => 1) as unknown as number;
    }
    expect(await reasonOf(call.firstOf(bad()))).toMatchObject({ code: "not-cloneable" });
  });

  test("when a listener throws, and so do the others whose answers came with it", async () => {
    const pool = plainPool();
    await pool.ready();
    const thrown = new Error("the listener's own");
    const onProgress = (): never => {
      throw thrown;
    };
    const [reported, added] = await Promise.allSettled([pool.with({ onProgress }).call.report(3), pool.call.add(1, 1)]);
    expect(reported).toMatchObject({ status: "rejected", reason: thrown });
    expect(added).toEqual({ status: "fulfilled", value: 2 });
  });

  test("when the worker is due for recycling and a reader leaves a stream of it half read", async () => {
    const { call } = plainPool({ recycle: { tasks: 1 }, window: { items: 1 } });
    const stream = call.numbers(9);
    expect(await stream.next()).toEqual({ done: false, value: 0 });
    for (let turn = 0; turn < 3; turn++) expect(await call.add(turn, 1)).toBe(turn + 1);
    expect(await stream.next()).toEqual({ done: false, value: 1 });
    await stream.return();
    // Now the worker has no calls, and is replaced.
    await call.count();
    expect(await call.count()).toBe(1);
  });

  test("when another did not stop and a reader leaves a stream of the same worker half read", async () => {
    const pool = plainPool({ graceMs: 10, window: { items: 1 } });
    const stream = pool.call.numbers(3);
    expect(await stream.next()).toEqual({ done: false, value: 0 });
    expect(await reasonOf(pool.with({ timeoutMs: 5 }).call.deaf())).toMatchObject({ code: "timeout" });
    expect(await pool.call.add(1, 1)).toBe(2);
    // The stream continues, and its worker ends after it.
    expect(await stream.next()).toEqual({ done: false, value: 1 });
    expect(pool.stats().workers.size).toBe(2);
    expect(await stream.next()).toEqual({ done: false, value: 2 });
    expect(await stream.next()).toEqual({ done: true, value: "end" });
    await expect.poll(() => pool.stats().workers.size).toBe(1);
    await pool.close();
    expect(pool.stats()).toMatchObject({ open: 0, workers: { size: 0, restarts: 1 } });
  });

  test("when it was made before anybody knew whether it is a stream, and its reader leaves", async () => {
    const { call } = plainPool();
    const cold = call.add(1, 1) as unknown as Promise<number> & AsyncIterableIterator<number>;
    const settled = reasonOf(cold);
    await cold.return!();
    expect(await settled).toMatchObject({ code: "cancelled" });
  });
});

describe("the ledger", () => {
  test("holds what left for a worker, not what was dropped before", async () => {
    const pool = plainPool({ queue: { items: 1, whenFull: "fail" } });
    await pool.ready();
    const begun = gate<unknown>();
    const controller = new AbortController();
    const holding = reasonOf(pool.with({ signal: controller.signal, onProgress: begun.tell }).call.hold());
    await begun.promise;
    const waiting = pool.call.echo(new Uint8Array(100));
    expect(await reasonOf(pool.call.echo(new Uint8Array(1000)))).toMatchObject({ code: "queue-full" });
    expect(await reasonOf(pool.call.echo([new Uint8Array(10), () => 1]))).toMatchObject({ code: "queue-full" });
    controller.abort();
    await holding;
    await waiting;
    expect(await reasonOf(pool.call.echo([new Uint8Array(10), () => 1]))).toMatchObject({ code: "not-cloneable" });
    expect(pool.stats().ledger.toWorkers.copies).toEqual({ "argument-not-moved": { count: 1, bytes: 100 } });
  });
});
