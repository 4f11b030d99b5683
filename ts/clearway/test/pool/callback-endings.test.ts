// SPDX-License-Identifier: MIT OR Apache-2.0
import { move } from "clearway";
import { callback } from "clearway/callback";
import { describe, expect, test } from "vitest";
import { revoked } from "../fixtures/misdeeds.js";
import { callbackPool, gate, reasonOf, upTo, warmCallbackPool } from "../fixtures/pools.js";

describe("a call with a callback", () => {
  test("runs the callback no more once it is cancelled, and rejects the task's calls with the reason", async () => {
    const pool = await warmCallbackPool();
    const seen: unknown[] = [];
    const controller = new AbortController();
    const listening = gate();
    const call = pool.with({ signal: controller.signal }).call.listens(
      callback((value) => {
        seen.push(value);
        listening.tell();
      }),
    );
    await listening.promise;
    controller.abort(new RangeError("enough"));
    expect(await reasonOf(call)).toMatchObject({ message: "enough" });
    expect(await pool.call.last()).toMatchObject({ message: "enough" });
    expect(seen).toEqual(["listening"]);
  });

  test("can be cancelled by its own callback, which then answers nothing", async () => {
    const pool = await warmCallbackPool();
    const controller = new AbortController();
    let runs = 0;
    const call = pool.with({ signal: controller.signal }).call.goesOn(
      callback(() => {
        if (++runs === 5) controller.abort(new RangeError("from inside"));
      }),
    );
    expect(await reasonOf(call)).toMatchObject({ message: "from inside" });
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(runs).toBe(5);
  });

  test("times out although its callback hangs, and the worker goes on", async () => {
    const pool = await warmCallbackPool();
    const [hangs, answers] = [callback(() => new Promise(() => {})), callback(() => "next")];
    expect(await reasonOf(pool.with({ deadlineMs: 20 }).call.each([1], hangs))).toMatchObject({ code: "deadline" });
    expect(await pool.call.each([1], answers)).toEqual(["next"]);
  });

  test("fails with worker-exited if its worker ends during it, and a callback that settles later is harmless", async () => {
    const pool = await warmCallbackPool();
    const after = gate();
    const call = pool.call.leaves(callback(() => {}));
    expect(await reasonOf(call)).toMatchObject({ code: "worker-exited" });
    const other = pool.call.hangs(
      callback(async () => {
        void pool.terminate();
        await after.promise;
      }),
    );
    expect(await reasonOf(other)).toMatchObject({ code: "pool-terminated" });
    after.tell();
    await after.promise;
  });

  test("fails with pool-terminated if the callback terminates the pool, at every call", async () => {
    for (let at = 0; at < 6; at++) {
      const pool = callbackPool();
      const seen: number[] = [];
      const call = pool.call.goesOn(
        callback((value: number) => {
          seen.push(value);
          if (value === at) void pool.terminate();
        }),
      );
      expect(await reasonOf(call)).toMatchObject({ code: "pool-terminated" });
      expect(seen).toEqual(upTo(at + 1));
    }
  });

  test("is finished by a pool that its callback closes", async () => {
    const pool = await warmCallbackPool();
    let closed: Promise<void> | undefined;
    const answers = await pool.call.each(
      [1, 2, 3],
      callback((value) => {
        closed ??= pool.close();
        return value;
      }),
    );
    expect(answers).toEqual([1, 2, 3]);
    await closed;
    expect(pool.stats()).toMatchObject({ open: 0, workers: { size: 0 } });
  });

  test("may call the pool again from its callback, also with callbacks", async () => {
    const pool = await warmCallbackPool({ size: 2 });
    const inner = callback((value: unknown) => value);
    const answers = await pool.call.each(
      [1, 2, 3],
      callback(async (value) => (await pool.call.each([value, value], inner)).length + (await pool.call.add(1, 1))),
    );
    expect(answers).toEqual([4, 4, 4]);
  });

  test("survives callbacks whose values lie", async () => {
    const pool = await warmCallbackPool();
    const hostile = [
      () => () => {},
      () => Symbol("s"),
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: a hostile thenable
        get then() {
          throw new RangeError("then");
        },
      }),
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: a hostile thenable
        then(resolve: (value: unknown) => void, reject: (reason: unknown) => void) {
          resolve("first");
          reject(new Error("second"));
          throw new Error("third");
        },
      }),
      () => ({
        get odd() {
          throw new RangeError("odd");
        },
      }),
      () => Proxy.revocable({}, {}).proxy,
      revoked,
      () => ({ move: move(1) }),
      () => callback(() => {}),
    ];
    const lie = callback((at: unknown) => hostile[at as number]!());
    const outcomes = await pool.call.atOnce(upTo(hostile.length), lie);
    const [fn, symbol, then, twice, odd, , unreadable, moved, nested] = outcomes;
    for (const each of [fn, symbol, odd, moved, nested]) expect(each).toMatchObject({ code: "not-cloneable" });
    expect(then).toMatchObject({ name: "RangeError", message: "then" });
    expect(twice).toEqual({ value: "first" });
    expect(unreadable).toHaveProperty("message");
    const answers = callback(() => "still here");
    expect(await pool.call.each([1], answers)).toEqual(["still here"]);
    expect(pool.stats()).toMatchObject({ open: 0, workers: { ready: 1 } });
  });
});
