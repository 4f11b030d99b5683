// SPDX-License-Identifier: MIT OR Apache-2.0
import { move, type PoolOptions } from "clearway";
import { callback } from "clearway/callback";
import { registerTransfer, type TransferHandler } from "clearway/transfer";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  Hostile,
  Lonely,
  lonely,
  type Misdeed,
  Money,
  Picture,
  Purse,
  registerAll,
  Tip,
} from "../fixtures/handled-classes.js";
import { builtUrl, plainPool, reasonOf, testPool, warmed } from "../fixtures/pools.js";

type Handled = typeof import("../fixtures/handled.tasks.js");

beforeEach(() => {
  onTestFinished(registerAll());
});

async function warm(options: PoolOptions = {}) {
  const pool = await warmed(testPool<Handled>(builtUrl("handled"), options));
  // The ring opens after the first answer.
  for (let at = 0; at < 3; at++) await pool.call.add(1, 2);
  await pool.ping();
  return pool;
}

describe("a transfer handler", () => {
  test("carries an instance as an argument and as a result, also in the first call of a cold pool", async () => {
    const { call } = testPool<Handled>(builtUrl("handled"));
    const [money, seen] = await Promise.all([call.echo(new Money(5)), call.seen(new Money(1))]);
    expect(money).toBeInstanceOf(Money);
    expect((money as Money).cents).toBe(5);
    expect(seen).toEqual([true, false, false]);
  });

  test("carries instances inside arrays, objects, maps and sets, and those inside an instance", async () => {
    const { call } = await warm();
    const [a, b, c] = [new Money(2), new Money(3), new Money(4)];
    expect(await call.sum(new Money(1), { list: [a], map: new Map([["b", b]]), set: new Set([c]) })).toBe(10);
    expect(await call.total(new Purse([a, b]))).toBe(5);
    const purse = await call.purse(10, 20, 30);
    expect(purse).toBeInstanceOf(Purse);
    expect(purse.coins[2]).toBeInstanceOf(Money);
    expect(purse.total).toBe(60);
  });

  test("keeps one instance in two places one instance, and leaves the caller's value as it was", async () => {
    const { call } = await warm();
    const coin = new Money(1);
    const pair: [Money, Money] = [coin, coin];
    expect(await call.same(pair)).toBe(true);
    expect(await call.same([coin, new Money(1)])).toBe(false);
    expect(pair).toEqual([coin, coin]);
    const echoed = (await call.echo({ pair, plain: [1, "a", null, new Date(0)] })) as {
      pair: Money[];
      plain: unknown[];
    };
    expect(echoed.pair[0]).toBe(echoed.pair[1]);
    expect(echoed.plain).toEqual([1, "a", null, new Date(0)]);
  });

  test("takes the instances of subclasses, unless they have a handler of their own", async () => {
    const { call } = await warm();
    expect(await call.echo(new Tip(4))).toMatchObject({ cents: 4 });
    let own = 0;
    onTestFinished(
      registerTransfer("tip", {
        class: Tip,
        serialize: (tip) => {
          own++;
          return [tip.cents, []];
        },
        deserialize: (cents: number) => new Tip(cents),
      }),
    );
    expect(await reasonOf(call.echo(new Tip(4)))).toMatchObject({ code: "unknown-handler" });
    expect(own).toBe(1);
  });

  test("carries the values of streams in both directions, and the values of callbacks", async () => {
    const { call } = await warm();
    const coins = [];
    for await (const { coin } of call.coins(3)) coins.push(coin);
    expect(coins.map(({ cents }) => cents)).toEqual([1, 2, 3]);
    async function* source() {
      yield new Money(1);
      yield new Money(2);
    }
    expect(await call.read(source())).toBe(3);
    const seen: Money[] = [];
    const price = callback((money: Money) => {
      seen.push(money);
      return new Money(money.cents * 2);
    });
    expect(await call.ask(price)).toBe(10);
    expect(seen[0]).toBeInstanceOf(Money);
  });

  test("carries the values of map and broadcast", async () => {
    const pool = await warm();
    const coins = [new Money(1), new Money(2)];
    expect((await pool.map.echo(coins)) as Money[]).toMatchObject([{ cents: 1 }, { cents: 2 }]);
    expect(await pool.broadcast.total(new Purse(coins))).toEqual([3]);
  });

  test("moves what its list says, and the ledger counts it", async () => {
    const pool = await warm({ strict: true });
    const bytes = new Uint8Array(100_000).fill(9);
    expect(await pool.call.first(new Picture(bytes))).toBe(9);
    expect(bytes.byteLength).toBe(0);
    expect(pool.stats().ledger.toWorkers).toMatchObject({ movedBytes: 100_000, copiedBytes: 0 });
    const picture = await pool.call.picture(50_000);
    expect([picture.bytes.byteLength, picture.first()]).toEqual([50_000, 3]);
    expect(pool.stats().ledger.fromWorkers).toMatchObject({ movedBytes: 50_000, copiedBytes: 0 });
  });

  test("carries an instance under move(), and moves the other memory next to it", async () => {
    const pool = await warm();
    const bytes = new Uint8Array(100_000);
    const echoed = (await pool.call.echo(move({ coin: new Money(7), bytes }))) as { coin: Money; bytes: Uint8Array };
    expect(echoed.coin.cents).toBe(7);
    expect([bytes.byteLength, echoed.bytes.byteLength]).toEqual([0, 100_000]);
    expect(pool.stats().ledger.toWorkers).toMatchObject({ movedBytes: 100_000, copiedBytes: 0 });
  });

  test("counts the memory next to an instance as copied, and fails the call under strict", async () => {
    const pool = await warm();
    const value = { coin: new Money(7), bytes: new Uint8Array(100_000) };
    await pool.call.seen(value);
    expect(pool.stats().ledger.toWorkers.copies).toEqual({ "argument-not-moved": { count: 1, bytes: 100_000 } });
    expect(await reasonOf(pool.with({ strict: true }).call.seen(value))).toMatchObject({ code: "would-copy" });
  });

  test("works for a call with placement inline", async () => {
    const pool = await warmed(testPool<Handled>(builtUrl("handled")));
    const { call } = pool.with({ placement: "inline" });
    for (let at = 0; at < 50; at++) expect(await call.echo(new Money(at))).toMatchObject({ cents: at });
  });

  test("is asked nothing once it is removed: instances become plain objects again", async () => {
    const pool = await warm();
    let asked = 0;
    const remove = registerTransfer("asks", {
      canHandle: () => {
        asked++;
        return false;
      },
      serialize: () => [0, []],
      deserialize: () => ({}),
    });
    await pool.call.seen([new Date(0)]);
    expect(asked).toBe(1);
    remove();
    remove();
    await pool.call.seen([new Date(0)]);
    expect(asked).toBe(1);
    expect(await pool.call.seen(new Lonely())).toEqual([false, false, false]);
  });
});

describe("a handler that only one side has", () => {
  test("fails the call with unknown-handler, which names it and says where to register it", async () => {
    const { call } = await warm();
    onTestFinished(registerTransfer("only here", lonely));
    const sent = await reasonOf(call.receive(new Lonely()));
    expect(sent).toMatchObject({ code: "unknown-handler", message: expect.stringContaining('"only here"') });
    expect(sent.message).toContain("registerTransfer() in the task module");
    const received = await reasonOf(call.lonely());
    expect(received).toMatchObject({
      code: "unknown-handler",
      message: expect.stringContaining('"only in the worker"'),
    });
    expect(await call.add(1, 2)).toBe(3);
  });

  test("fails the call also if this side has no handler, or the other has none", async () => {
    const { call } = plainPool();
    const sent = await reasonOf(call.add(new Money(1) as never, 2));
    expect(sent).toMatchObject({ code: "unknown-handler", message: expect.stringContaining('"money"') });
    expect(await call.add(1, 2)).toBe(3);
  });
});

describe("a hostile handler", () => {
  const misdeeds: [Misdeed, string][] = [
    ["throws", "not today"],
    ["throws text", "a text"],
    ["no list", "must return [value, transfer]"],
    ["no transfer", "must return [value, transfer]"],
    ["odd transfer", "that is no object"],
    ["itself", "returned the instance itself"],
    ["inside itself", "contains the instance itself"],
    ["endless", "nested more than 500 deep"],
    ["function", "cannot cross a thread"],
  ];

  test.each(misdeeds)("that %s fails its own call, in either direction", async (misdeed, message) => {
    const pool = await warm();
    const why = { code: "not-cloneable", message: expect.stringContaining(message) };
    const [sent, other, received] = await Promise.allSettled([
      pool.call.receive([new Hostile(misdeed)]),
      pool.call.add(1, 2),
      pool.call.hostile(misdeed),
    ]);
    expect(sent).toMatchObject({ status: "rejected", reason: why });
    expect(received).toMatchObject({ status: "rejected", reason: why });
    expect(other).toEqual({ status: "fulfilled", value: 3 });
    expect(await pool.call.add(3, 4)).toBe(7);
    expect(pool.stats()).toMatchObject({ open: 0, workers: { ready: 1 } });
  });

  test.each<[Misdeed, string]>([
    ["deserialize throws", "cannot read it"],
    ["deserialize gives nothing", "returned no object"],
  ])("whose %s fails its own call, in either direction", async (misdeed, message) => {
    const pool = await warm();
    const why = { code: "message-error", message: expect.stringContaining(message) };
    expect(await reasonOf(pool.call.receive(new Hostile(misdeed)))).toMatchObject(why);
    expect(await reasonOf(pool.call.hostile(misdeed))).toMatchObject(why);
    expect(await pool.call.add(3, 4)).toBe(7);
  });

  test("that calls the pool from serialize() and canHandle() disturbs nothing", async () => {
    const pool = await warm();
    const inner: Promise<number>[] = [];
    onTestFinished(
      registerTransfer("re-enters", {
        canHandle: (value) => {
          if (!(value instanceof Date)) return false;
          inner.push(pool.call.add(1, 2));
          return false;
        },
        serialize: () => [0, []],
        deserialize: () => ({}),
      }),
    );
    expect(await pool.call.echo([new Date(0), new Money(1)])).toMatchObject([new Date(0), { cents: 1 }]);
    expect(inner.length).toBeGreaterThan(0);
    expect(await Promise.all(inner)).toEqual(inner.map(() => 3));
  });

  test("whose canHandle throws fails the calls that it is asked for, and no others", async () => {
    const pool = await warm();
    onTestFinished(
      registerTransfer("throws", {
        canHandle: () => {
          throw new RangeError("do not ask");
        },
        serialize: () => [0, []],
        deserialize: () => ({}),
      }),
    );
    const reason = await reasonOf(pool.call.receive(new Date(0)));
    expect(reason).toMatchObject({ code: "not-cloneable", message: expect.stringContaining("do not ask") });
    expect(await pool.call.receive({ a: [1] })).toBe("object");
  });
});

describe("registerTransfer", () => {
  const handler: TransferHandler<Lonely, number> = lonely as never;

  test.each([
    ["a name that is no text", () => registerTransfer(5 as never, handler), "name must be"],
    ["an empty name", () => registerTransfer("", handler), "name must be"],
    ["a name that is taken", () => registerTransfer("money", handler), "that no other handler has"],
    ["a class that is taken", () => registerTransfer("other", { ...handler, class: Money as never }), "class must be"],
    [
      "a class without a prototype",
      () => registerTransfer("x", { ...handler, class: (() => {}) as never }),
      "class must be",
    ],
    ["neither class nor canHandle", () => registerTransfer("x", { ...handler, class: undefined } as never), "either"],
    ["both class and canHandle", () => registerTransfer("x", { ...handler, canHandle: () => true }), "either"],
    ["no serialize", () => registerTransfer("x", { ...handler, serialize: undefined } as never), "serialize must be"],
    ["an unknown option", () => registerTransfer("x", { ...handler, serialise: 1 } as never), "known option"],
  ])("refuses %s with invalid-argument", (_what, act, message) => {
    expect(act).toThrow(
      expect.objectContaining({ code: "invalid-argument", message: expect.stringContaining(message) }),
    );
  });
});
