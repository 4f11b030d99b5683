// SPDX-License-Identifier: MIT OR Apache-2.0
import { callback } from "clearway/callback";
import { expect, onTestFinished } from "vitest";
import { Money, Picture, Purse, registerAll } from "../fixtures/handled-classes.js";
import { builtUrl, reasonOf, testPool, workerMaker } from "../fixtures/pools.js";
import { behaviours, outcomes, type Peers, peerPool } from "./behaviours.js";

behaviours("the state of a worker", {
  "stays between calls": async () => {
    const { call } = peerPool();
    await call.setAnswer(7);
    expect(await call.getAnswer()).toBe(7);
  },
  "is that of one worker: a second pool does not see it": async () => {
    const [one, two] = [peerPool(), peerPool()];
    await one.call.setAnswer(7);
    expect(await two.call.getAnswer()).toBe(42);
  },
  "changes in the order of the calls, without waiting for each": async () => {
    const { call } = peerPool();
    const [, seven, , eight] = await Promise.all([
      call.setAnswer(7),
      call.getAnswer(),
      call.setAnswer(8),
      call.getAnswer(),
    ]);
    expect([seven, eight]).toEqual([7, 8]);
  },
  "reaches every worker of a pool by broadcast": async () => {
    const pool = peerPool({ size: 2 });
    await pool.broadcast.setAnswer(9);
    expect(await pool.broadcast.getAnswer()).toEqual([9, 9]);
  },
});

behaviours("an object that stays in the worker, under a number,", {
  "is made with arguments": async () => {
    const { call } = peerPool();
    expect(await call.balance(await call.openAccount(100))).toBe(100);
  },
  "is made without arguments": async () => {
    const { call } = peerPool();
    expect(await call.balance(await call.openAccount())).toBe(0);
  },
  "has properties that can be set": async () => {
    const { call } = peerPool();
    const id = await call.openAccount();
    await call.setBalance(id, 30);
    expect(await call.balance(id)).toBe(30);
  },
  "has methods, also asynchronous ones, which can be called many times": async () => {
    const { call } = peerPool();
    const id = await call.openAccount(1);
    expect([await call.deposit(id, 1), await call.deposit(id, 2)]).toEqual([2, 4]);
  },
  "has setters that may throw": async () => {
    const { call } = peerPool();
    const id = await call.openAccount(5);
    expect(await reasonOf(call.setBalance(id, -1))).toMatchObject({ name: "RangeError", message: "no credit" });
    expect(await call.balance(id)).toBe(5);
  },
  "is one of several": async () => {
    const { call } = peerPool();
    const [one, two] = [await call.openAccount(1), await call.openAccount(2)];
    await call.deposit(one, 10);
    expect([await call.balance(one), await call.balance(two)]).toEqual([11, 2]);
  },
  "shares the static properties of its class": async () => {
    const { call } = peerPool();
    await Promise.all([call.openAccount(), call.openAccount()]);
    expect(await call.accountsOpened()).toBe(2);
  },
  "cannot be used after it was given back": async () => {
    const { call } = peerPool();
    const id = await call.openAccount();
    expect(await call.closeAccount(id)).toBe(true);
    expect(await reasonOf(call.balance(id))).toMatchObject({ name: "ReferenceError" });
  },
});

behaviours("a callback", {
  "is called by the worker, with its values in order": async () => {
    const seen: number[] = [];
    await peerPool().call.callTwice(callback((value: number) => seen.push(value)));
    expect(seen).toEqual([1, 2]);
  },
  "returns its value to the worker": async () => {
    const doubled = callback((value: number) => value * 2);
    expect(await peerPool().call.callTwice(doubled)).toEqual([2, 4]);
  },
  "may be asynchronous": async () => {
    const doubled = callback(async (value: number) => value * 2);
    expect(await peerPool().call.callTwice(doubled)).toEqual([2, 4]);
  },
  "may be one of two": async () =>
    expect(
      await peerPool().call.callBoth(
        callback(() => "a"),
        callback(() => "b"),
      ),
    ).toBe("ab"),
  "may be the last of several arguments": async () =>
    expect(
      await peerPool().call.callLast(
        4,
        callback((value: number) => value * 10),
      ),
    ).toBe(41),
  "receives any number of arguments": async () => {
    const { call } = peerPool();
    const all = callback((...args: unknown[]) => args);
    for (const args of [[], [1], ["a", { b: [2] }, null]]) expect(await call.callWith(all, args)).toEqual(args);
  },
  "may throw: the worker catches the error": async () => {
    const failing = callback((): unknown => {
      throw new TypeError("not now");
    });
    expect(await peerPool().call.caught(failing)).toBe("TypeError: not now");
  },
  "may call the worker while the worker waits for it": async () => {
    const pool = peerPool({ size: 2 });
    const nested = callback((value: number) => pool.call.add(value, 100));
    expect(await pool.call.callTwice(nested)).toEqual([101, 102]);
  },
  "may be an argument of several calls": async () => {
    const { call } = peerPool();
    const same = callback((value: number) => value);
    expect(await Promise.all([call.callTwice(same), call.callTwice(same)])).toEqual([
      [1, 2],
      [1, 2],
    ]);
  },
  "keeps the variables around it": async () => {
    let sum = 0;
    const { call } = peerPool();
    await call.callTwice(callback((value: number) => (sum += value)));
    expect(sum).toBe(3);
  },
});

type Handled = typeof import("../fixtures/handled.tasks.js");
function handledPool() {
  onTestFinished(registerAll());
  return testPool<Handled>(builtUrl("handled"));
}

behaviours("an instance of a class with a transfer handler", {
  "crosses to the worker as an instance": async () => {
    const { call } = handledPool();
    const given = [new Money(1), new Purse([]), new Picture(new Uint8Array(1))];
    for (const [at, value] of given.entries()) expect((await call.seen(value))[at]).toBe(true);
  },
  "crosses back as an instance": async () => {
    const purse = await handledPool().call.purse(5, 10);
    expect(purse).toBeInstanceOf(Purse);
    expect((purse as Purse).total).toBe(15);
  },
  "crosses inside other values": async () => {
    const more = { list: [new Money(1)], map: new Map([["a", new Money(2)]]), set: new Set([new Money(3)]) };
    expect(await handledPool().call.sum(new Money(4), more)).toBe(10);
  },
  "may move its memory": async () => {
    const bytes = new Uint8Array(100).fill(6);
    expect(await handledPool().call.first(new Picture(bytes))).toBe(6);
    expect(bytes.byteLength).toBe(0);
  },
  "crosses to a callback, and back": async () => {
    const doubled = callback((money: Money) => new Money(money.cents * 2));
    expect(await handledPool().call.ask(doubled)).toBe(10);
  },
  "crosses in a stream": async () => {
    const seen: unknown[] = [];
    for await (const { coin } of handledPool().call.coins(3)) seen.push((coin as Money).cents);
    expect(seen).toEqual([1, 2, 3]);
  },
});

behaviours("a worker of the app's own", {
  "is used through a factory": async () => {
    const make = await workerMaker();
    const pool = testPool<Peers>(() => make(builtUrl("peers")));
    expect(await pool.call.add(1, 2)).toBe(3);
  },
  "ends with close(), and its calls are refused from then on": async () => {
    const pool = peerPool();
    await pool.call.who();
    await pool.close();
    expect(await outcomes([pool.call.who()])).toEqual(["pool-closed"]);
    expect(pool.stats().workers.size).toBe(0);
  },
  "may have two callers: both use one pool": async () => {
    const pool = peerPool();
    const [one, two] = [pool.with({}), pool.with({ priority: 1 })];
    await one.call.setAnswer(5);
    expect(await two.call.getAnswer()).toBe(5);
  },
});
