// SPDX-License-Identifier: MIT OR Apache-2.0
import type { PoolOptions } from "clearway";
import { describe, expect, test } from "vitest";
import { builtUrl, gates, held, plainPool, reasonOf, testPool, warmed } from "../fixtures/pools.js";

type Crash = typeof import("../fixtures/crash.tasks.js");

const inNode = typeof process === "object" && typeof process.versions?.node === "string";

/** Creates a pool whose one worker is busy until `release` is called. Calls wait until then. */
async function busy(options: PoolOptions = {}) {
  const pool = await warmed(plainPool(options));
  const { release } = await held(pool);
  return { pool, release };
}

// Browsers cannot tell a proxy from the object that it presents, so a plain one is copied when its call is made.
test.runIf(inNode)("an argument that becomes unreadable before its call is sent fails only its own call", async () => {
  const { pool, release } = await busy();
  const { proxy, revoke } = Proxy.revocable({}, {});
  const calls = [pool.call.later(1), reasonOf(pool.call.echo(proxy)), pool.call.later(2)];
  revoke();
  await release();
  const [first, refused, last] = await Promise.all(calls);
  expect([first, last]).toEqual([2, 3]);
  expect(refused).toMatchObject({ name: "ClearwayError", code: "not-cloneable" });
  expect(await pool.call.add(1, 1)).toBe(2);
});

test("an argument is read when its call is made: what its getters do later changes nothing", async () => {
  const { pool, release } = await busy();
  let spoilt = false;
  const read = (): number => {
    if (spoilt) throw new RangeError("not any more");
    return 1;
  };
  const call = pool.call.echo(Object.defineProperty([0], 0, { enumerable: true, get: read }));
  spoilt = true;
  await release();
  expect(await call).toEqual([1]);
});

describe("a full queue", () => {
  test("with `wait` loses nothing, and room() settles when there is room", async () => {
    const { pool, release } = await busy({ queue: { items: 2 } });
    const calls = [1, 2, 3, 4].map((each) => pool.call.later(each));
    let roomy = false;
    const room = pool.room().then(() => {
      roomy = true;
    });
    await pool.ping();
    expect(roomy).toBe(false);
    await release();
    expect(await Promise.all(calls)).toEqual([2, 3, 4, 5]);
    await room;
  });

  test("with `dropOldest` drops as many old calls as a large new call needs", async () => {
    const { pool, release } = await busy({ queue: { bytes: 100, whenFull: "dropOldest" } });
    const small = Promise.allSettled([1, 2, 3, 4].map(() => pool.call.echo(new Uint8Array(25))));
    const large = pool.call.echo(new Uint8Array(70)) as Promise<Uint8Array>;
    expect(pool.stats().queue).toEqual({ items: 2, bytes: 95 });
    await release();
    expect(await large).toHaveLength(70);
    const outcomes = (await small).map((each) => (each.status === "rejected" ? each.reason.code : "answered"));
    expect(outcomes).toEqual(["dropped", "dropped", "dropped", "answered"]);
  });

  test("does not count streams that are not read", async () => {
    const { pool, release } = await busy({ queue: { items: 1, whenFull: "fail" } });
    const streams = [pool.call.numbers(2), pool.call.numbers(2), pool.call.numbers(2)];
    expect(pool.stats().queue.items).toBe(0);
    await release();
    for (const stream of streams) expect((await stream.next()).value).toBe(0);
  });
});

describe("calls with a key", () => {
  test("run in one worker per key", async () => {
    const pool = testPool<Crash>(builtUrl("crash"), { size: 3 });
    const workers = new Map<string, Set<number>>();
    const keys = ["a", "b", "c", "d", "e"];
    await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const key = keys[at % keys.length]!;
        const who = await pool.with({ key }).call.who();
        if (!workers.has(key)) workers.set(key, new Set());
        workers.get(key)!.add(who);
      }),
    );
    for (const key of keys) expect(workers.get(key)!.size).toBe(1);
  });

  test("wait for their worker without blocking other calls", async () => {
    const pool = testPool<Crash>(builtUrl("crash"), { size: 2 });
    const { release } = await held(pool, { key: "k" });
    const waiting = pool.with({ key: "k" }).call.who();
    const others = await Promise.all(Array.from({ length: 10 }, () => pool.call.who()));
    expect(new Set(others).size).toBe(1);
    expect(pool.stats().queue.items).toBe(1);
    await release();
    expect(others).not.toContain(await waiting);
  });
});

const noQueue: PoolOptions = { queue: { items: 0 } };
const full = { code: "queue-full" };

/** Creates a pool without a queue whose calls end when the test says so. All its workers are ready. */
async function gated(options: PoolOptions = {}) {
  const pool = plainPool({ ...noQueue, ...options });
  const size = (options.size ?? 1) as number;
  await expect.poll(() => pool.stats().workers.ready).toBe(typeof size === "number" ? size : 1);
  const { channel, begun, open } = gates();
  return { pool, channel, begun, open, pass: (name: string) => pool.call.pass(name, channel) };
}

describe("with 0 items in the queue,", () => {
  test("a call is refused while no worker is free, and accepted when one is", async () => {
    const { pool, pass, begun, open } = await gated();
    const first = pass("first");
    await begun("first");
    expect(await reasonOf(pass("second"))).toMatchObject(full);
    expect(pool.stats()).toMatchObject({ open: 1, queue: { items: 0 } });
    await open("first");
    expect(await first).toBe("first");
    const third = pass("third");
    await open("third");
    expect(await third).toBe("third");
  });

  test("each worker takes as many calls as it runs at once", async () => {
    const { pass, begun, open } = await gated({ size: 2, concurrency: 2 });
    const calls = ["a", "b", "c", "d"].map(pass);
    await begun("a", "b", "c", "d");
    expect(await reasonOf(pass("e"))).toMatchObject(full);
    await open("a", "b", "c", "d");
    expect(await Promise.all(calls)).toEqual(["a", "b", "c", "d"]);
  });

  test("a call may wait for each worker that starts", async () => {
    const pool = plainPool({ ...noQueue, size: 2 });
    const calls = [pool.call.later(1), pool.call.later(2), reasonOf(pool.call.later(3))];
    expect(await Promise.all(calls)).toMatchObject([2, 3, full]);
  });

  test("a call starts another worker if all are busy, also if the task is short", async () => {
    const { pool, pass, begun, open } = await gated({ size: { min: 1, max: 2 } as never });
    const calls = [pass("first")];
    await begun("first");
    calls.push(pass("second"));
    expect(await reasonOf(pass("third"))).toMatchObject(full);
    await open("first", "second");
    expect(await Promise.all(calls)).toEqual(["first", "second"]);
    expect(pool.stats().workers.size).toBe(2);
    const short = await warmed(plainPool({ ...noQueue, size: { min: 1, max: 2 } }));
    for (let turn = 0; turn < 20; turn++) await short.call.add(turn);
    const both = [short.call.add(1), short.call.add(2)];
    expect(await Promise.all(both)).toEqual([2, 3]);
    expect(short.stats().workers.size).toBe(2);
  });

  test("a short call does not wait at a busy worker either", async () => {
    const pool = await warmed(plainPool(noQueue));
    for (let turn = 0; turn < 20; turn++) await pool.call.add(turn);
    expect(await Promise.all([pool.call.add(1), reasonOf(pool.call.add(2))])).toMatchObject([2, full]);
  });

  test("a stream is refused when it is read, while no worker is free", async () => {
    const pool = await warmed(plainPool(noQueue));
    const values: number[] = [];
    for await (const value of pool.call.numbers(3)) values.push(value);
    expect(values).toEqual([0, 1, 2]);
    const { release } = await held(pool);
    expect(await reasonOf(pool.call.numbers(3).next())).toMatchObject(full);
    await release();
  });

  test("a call with a key needs the worker of its key", async () => {
    const { pool, channel, begun, open } = await gated({ size: 2 });
    const { call } = pool.with({ key: "one" });
    const first = call.pass("first", channel);
    await begun("first");
    expect(await reasonOf(call.pass("second", channel))).toMatchObject(full);
    const other = pool.call.pass("other", channel);
    await open("other", "first");
    expect(await Promise.all([first, other])).toEqual(["first", "other"]);
  });

  test("room() settles when a worker is free, and when the pool ends", async () => {
    const { pool, pass, begun, open } = await gated();
    await pool.room();
    const first = pass("first");
    await begun("first");
    let roomy = false;
    const room = pool.room().then(() => {
      roomy = true;
    });
    await pool.ping();
    expect(roomy).toBe(false);
    await open("first");
    await Promise.all([first, room]);
    const never = reasonOf(pass("never"));
    const ended = pool.room();
    await pool.terminate();
    await Promise.all([never, ended]);
  });

  test("map and broadcast work: map waits for free workers, and a broadcast names the busy ones", async () => {
    const { pool, pass, channel, begun, open } = await gated({ size: 2 });
    const results = pool.map.pass(["a", "b", "c"], { args: [channel] }).then((values) => values);
    await open("a", "b", "c");
    expect(await results).toEqual(["a", "b", "c"]);
    const busy = pass("busy");
    await begun("busy");
    const broadcast = reasonOf(pool.broadcast.pass("all", channel));
    await open("all");
    expect(await broadcast).toMatchObject({ failures: [{ reason: full }], results: [{ result: "all" }] });
    await open("busy");
    await busy;
  });

  test("a call that its worker has not begun when the worker ends is not refused", async () => {
    const pool = testPool<typeof import("../fixtures/crash.tasks.js")>(builtUrl("crash"), noQueue);
    expect(await reasonOf(pool.call.leave())).toMatchObject({ code: "worker-exited" });
    expect(await pool.call.runs()).toBe(1);
  });

  test.each(["dropOldest", "dropNewest"] as const)("`%s` drops a call without a free worker", async (whenFull) => {
    const { pass, begun, open } = await gated({ queue: { items: 0, whenFull } });
    const first = pass("first");
    await begun("first");
    expect(await reasonOf(pass("second"))).toMatchObject({ code: "dropped" });
    await open("first");
    expect(await first).toBe("first");
  });

  test("`wait` is refused", () => {
    expect(() => plainPool({ queue: { items: 0, whenFull: "wait" } })).toThrow(
      expect.objectContaining({ code: "invalid-argument", message: expect.stringContaining("queue.whenFull") }),
    );
    expect(() => plainPool({ queue: { items: 0.5 } })).toThrow(
      expect.objectContaining({ code: "invalid-argument", message: expect.stringContaining("queue.items") }),
    );
  });
});
