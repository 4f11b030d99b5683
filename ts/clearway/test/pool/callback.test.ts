// SPDX-License-Identifier: MIT OR Apache-2.0
// Child processes, too: callbacks cross by pipes.
import { move } from "clearway";
import { callback } from "clearway/callback";
import { describe, expect, test } from "vitest";
import { callbackPool, gate, inProcesses, reasonOf, upTo, warmCallbackPool } from "../fixtures/pools.js";

describe("a callback", () => {
  test("runs for each call of the task in order, and answers with its value", async () => {
    const { call } = await warmCallbackPool();
    const seen: unknown[] = [];
    const tell = callback((value: unknown) => seen.push(value));
    expect(await call.each(["a", { b: [1] }, undefined, null, 5n], tell)).toEqual([1, 2, 3, 4, 5]);
    expect(seen).toEqual(["a", { b: [1] }, undefined, null, 5n]);
  });

  test("runs in the first call of a cold pool", async () => {
    const { call } = callbackPool();
    const list = callback((value: unknown) => [value]);
    expect(await call.each([1, 2], list)).toEqual([[1], [2]]);
  });

  test("is awaited if it is asynchronous, and answers out of order if calls settle out of order", async () => {
    const { call } = await warmCallbackPool();
    const [first, third] = [gate<string>(), gate<string>()];
    const order: unknown[] = [];
    const answers = await call.atOnce(
      [1, 2, 3],
      callback((value) => {
        order.push(value);
        if (value === 1) return first.promise;
        if (value === 3) {
          third.tell("third");
          return third.promise;
        }
        third.promise.then(() => first.tell("first"));
        return "second";
      }),
    );
    expect(order).toEqual([1, 2, 3]);
    expect(answers).toEqual([{ value: "first" }, { value: "second" }, { value: "third" }]);
  });

  test("passes its errors to the task with class, message and properties, and other thrown values as they are", async () => {
    const { call } = await warmCallbackPool();
    const throws = callback((value: unknown) => {
      if (value === 1) throw Object.assign(new RangeError("too far"), { detail: { by: 3 } });
      if (value === 2) throw "a text";
      if (value === 3) return Promise.reject(new TypeError("later"));
      throw undefined;
    });
    expect(await call.atOnce([1, 2, 3, 4], throws)).toEqual([
      { name: "RangeError", message: "too far", detail: { by: 3 } },
      { thrown: "a text" },
      { name: "TypeError", message: "later" },
      { thrown: undefined },
    ]);
  });

  test("fails the call if the task awaits it and it throws", async () => {
    const { call } = await warmCallbackPool();
    const fails = callback(() => Promise.reject(Object.assign(new RangeError("no"), { code: "mine" })));
    expect(await reasonOf(call.each([1], fails))).toMatchObject({ name: "RangeError", message: "no", code: "mine" });
  });

  test("gets all calls that the task does not await before the result settles", async () => {
    const { call } = await warmCallbackPool();
    const seen: number[] = [];
    const see = callback((value: number) => void seen.push(value));
    expect(await call.flood(10_000, see)).toBe(10_000);
    expect(seen).toEqual(upTo(10_000));
  });

  test("gets the calls of a loop that never yields its thread", async () => {
    const { call } = await warmCallbackPool();
    const seen: number[] = [];
    const see = callback((value: number) => void seen.push(value));
    expect(await call.blocks(500, see)).toBe(500);
    expect(seen).toEqual(upTo(500));
  });

  test("gets the calls before an error of the task", async () => {
    const { call } = await warmCallbackPool();
    const seen: unknown[] = [];
    const reason = await reasonOf(call.fails(callback((value) => void seen.push(value))));
    expect(reason).toMatchObject({ name: "RangeError", message: "the task failed" });
    expect(seen).toEqual(["before"]);
  });

  test("has at most 64 calls without an answer; the result waits until the others are sent", async () => {
    const pool = await warmCallbackPool();
    const open = gate();
    const full = gate();
    const seen: number[] = [];
    const call = pool.call.flood(
      200,
      callback(async (value: number) => {
        seen.push(value);
        if (seen.length === 64) full.tell();
        await open.promise;
      }),
    );
    await full.promise;
    for (let turn = 0; turn < 5; turn++) await pool.ping();
    expect(seen).toEqual(upTo(64));
    expect(pool.stats().open).toBe(1);
    open.tell();
    expect(await call).toBe(200);
    expect(seen).toEqual(upTo(200));
  });

  test("runs one at a time with a concurrency of 1", async () => {
    const { call } = await warmCallbackPool();
    let running = 0;
    let most = 0;
    const tell = callback(
      async () => {
        most = Math.max(most, ++running);
        await Promise.resolve();
        await new Promise((resolve) => setTimeout(resolve));
        running--;
      },
      { concurrency: 1 },
    );
    await call.atOnce(upTo(20), tell);
    expect(most).toBe(1);
  });

  test("refuses calls after its call has settled, and leaves the worker alive", async () => {
    const pool = await warmCallbackPool();
    const seen: unknown[] = [];
    await pool.call.keep(callback((value) => seen.push(value)));
    const late = await pool.call.late();
    expect(late).toMatchObject({ name: "ClearwayError", code: "callback-ended" });
    expect(seen).toEqual(["kept"]);
    expect(pool.stats()).toMatchObject({ open: 0, workers: { ready: 1 } });
  });

  test("may be an argument of many calls, and twice of one call", async () => {
    const { call } = await warmCallbackPool();
    const seen: unknown[] = [];
    const tell = callback((value: unknown) => seen.push(value));
    expect(await call.both(tell, tell)).toEqual([1, 2, 3]);
    expect(await Promise.all([call.each([4], tell), call.each([5], tell)])).toEqual([[4], [5]]);
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });

  test("works for tasks that give streams", async () => {
    const { call } = await warmCallbackPool();
    const values = [];
    const double = callback((each: unknown) => (each as number) * 2);
    for await (const value of call.stream([1, 2, 3], double)) values.push(value);
    expect(values).toEqual([2, 4, 6]);
  });

  test("ends with a stream that is broken off", async () => {
    const { call } = await warmCallbackPool();
    const seen: unknown[] = [];
    const see = callback((each: unknown) => void seen.push(each));
    for await (const _ of call.stream(upTo(1000), see)) break;
    const before = seen.length;
    expect(await call.add(1, 2)).toBe(3);
    expect(seen.length).toBe(before);
  });

  test("gets calls from every call of map and of broadcast", async () => {
    const pool = await warmCallbackPool({ size: 2 });
    const double = callback((value: number) => value * 2);
    expect(await pool.map.mapped([1, 2, 3], { args: [double] })).toEqual([3, 5, 7]);
    await pool.ready();
    const { size } = pool.stats().workers;
    expect(await pool.broadcast.mapped(10, double)).toEqual(upTo(size).map(() => 21));
  });

  test("runs in a worker's call although the task may run inline", async () => {
    const pool = await warmCallbackPool({ module: () => import("../fixtures/callback.tasks.js") });
    const { call } = pool.with({ placement: "inline" });
    const same = callback((value: number) => value);
    for (let at = 0; at < 50; at++) expect(await call.mapped(at, same)).toBe(at + 1);
    expect(pool.stats().tasks["mapped"]).toMatchObject({ inline: 0 });
  });

  test("is refused with not-cloneable inside another value", async () => {
    const { call } = await warmCallbackPool();
    const reason = await reasonOf(call.inside({ tell: callback(() => {}) }));
    expect(reason).toMatchObject({ code: "not-cloneable" });
    expect(reason.message).toContain("callback() marks an argument itself");
  });

  test("rejects an argument that cannot cross, and the callback goes on", async () => {
    const { call } = await warmCallbackPool();
    const seen: unknown[] = [];
    const [fn, deep, odd, good] = await call.bad(callback((value) => seen.push(value)));
    for (const each of [fn, deep, odd]) expect(each).toMatchObject({ code: "not-cloneable" });
    expect(good).toEqual({ value: 1 });
    expect(seen).toEqual(["good"]);
  });

  test.skipIf(inProcesses)("moves the memory under move() in both directions, and copies other memory", async () => {
    const pool = await warmCallbackPool();
    const received: number[] = [];
    const receive = callback((bytes: Uint8Array) => void received.push(bytes.byteLength));
    expect(await pool.call.sends(100_000, receive)).toEqual([100_000, 0]);
    expect(received).toEqual([100_000, 100_000]);
    const bytes = new Uint8Array(50_000).fill(9);
    expect(await pool.call.receives(callback(() => move(bytes)))).toEqual([50_000, 9]);
    expect(bytes.byteLength).toBe(0);
    const { ledger } = pool.stats();
    expect(ledger.fromWorkers).toMatchObject({
      movedBytes: 100_000,
      copies: { "argument-not-moved": { count: 1, bytes: 100_000 } },
    });
    expect(ledger.toWorkers).toMatchObject({ movedBytes: 50_000 });
  });

  test("rejects a copy in either direction under strict", async () => {
    const pool = await warmCallbackPool();
    const { call } = pool.with({ strict: true });
    const receive = callback(() => {});
    expect(await reasonOf(call.sends(100_000, receive))).toMatchObject({ code: "would-copy" });
    expect(await reasonOf(call.receives(callback(() => new Uint8Array(1000))))).toMatchObject({ code: "would-copy" });
    expect(pool.stats().ledger.fromWorkers.copiedBytes).toBe(0);
  });

  test("is refused with invalid-argument unless it is a function", () => {
    expect(() => callback(5 as never)).toThrow("fn must be a function: fn=5");
    expect(() => callback(() => {}, { concurrency: 0 })).toThrow("concurrency must be a whole number, 1 or more");
    expect(() => callback(() => {}, { concurency: 1 } as never)).toThrow("the nearest is concurrency");
  });
});
