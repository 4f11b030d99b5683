// SPDX-License-Identifier: MIT OR Apache-2.0
import type { PoolOptions } from "clearway";
import { describe, expect, test } from "vitest";
import { builtUrl, gate, plainPool, reasonOf, testPool } from "../fixtures/pools.js";

type Crash = typeof import("../fixtures/crash.tasks.js");

const inNode = typeof process === "object" && typeof process.versions?.node === "string";

/** Creates a pool whose one worker is busy until `release` is called. Calls wait until then. */
async function held(options: PoolOptions = {}) {
  const pool = plainPool(options);
  await pool.ready();
  const started = gate();
  const holder = new AbortController();
  const holding = reasonOf(pool.with({ signal: holder.signal, onProgress: () => started.tell() }).call.hold());
  await started.promise;
  return {
    pool,
    release: async () => {
      holder.abort();
      await holding;
    },
  };
}

// Browsers cannot tell a proxy from the object that it presents, so a plain one is copied when its call is made.
describe.runIf(inNode)("an argument that becomes unreadable before its call is sent", () => {
  test.each<[name: string, make: () => [value: object, spoil: () => void]]>([
    [
      "a proxy that was revoked",
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        return [proxy, revoke];
      },
    ],
  ])("fails only its own call: %s", async (_name, make) => {
    const { pool, release } = await held();
    const [value, spoil] = make();
    const calls = [pool.call.later(1), reasonOf(pool.call.echo(value)), pool.call.later(2)];
    spoil();
    await release();
    const [first, refused, last] = await Promise.all(calls);
    expect([first, last]).toEqual([2, 3]);
    expect(refused).toMatchObject({ name: "ClearwayError", code: "not-cloneable" });
    expect(await pool.call.add(1, 1)).toBe(2);
  });
});

test("an argument is read when its call is made: what its getters do later changes nothing", async () => {
  const { pool, release } = await held();
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
    const { pool, release } = await held({ queue: { items: 2 } });
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

  test("with `fail` refuses a call over the limit of items or bytes", async () => {
    const { pool, release } = await held({ queue: { items: 2, bytes: 100, whenFull: "fail" } });
    const first = pool.call.echo(new Uint8Array(60));
    expect(await reasonOf(pool.call.echo(new Uint8Array(60)))).toMatchObject({ code: "queue-full" });
    const second = pool.call.later(1);
    expect(await reasonOf(pool.call.later(2))).toMatchObject({ code: "queue-full" });
    await release();
    expect([(await first) as Uint8Array, await second]).toEqual([new Uint8Array(60), 2]);
  });

  test("with `dropOldest` drops as many old calls as a large new call needs", async () => {
    const { pool, release } = await held({ queue: { bytes: 100, whenFull: "dropOldest" } });
    const small = Promise.allSettled([1, 2, 3, 4].map(() => pool.call.echo(new Uint8Array(25))));
    const large = pool.call.echo(new Uint8Array(70)) as Promise<Uint8Array>;
    expect(pool.stats().queue).toEqual({ items: 2, bytes: 95 });
    await release();
    expect(await large).toHaveLength(70);
    const outcomes = (await small).map((each) => (each.status === "rejected" ? each.reason.code : "answered"));
    expect(outcomes).toEqual(["dropped", "dropped", "dropped", "answered"]);
  });

  test("does not count streams that are not read", async () => {
    const { pool, release } = await held({ queue: { items: 1, whenFull: "fail" } });
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
    const holder = new AbortController();
    const started = gate();
    const keyed = pool.with({ key: "k" }).call;
    const holding = reasonOf(
      pool.with({ key: "k", signal: holder.signal, onProgress: () => started.tell() }).call.hold(),
    );
    await started.promise;
    const waiting = keyed.who();
    const others = await Promise.all(Array.from({ length: 10 }, () => pool.call.who()));
    expect(new Set(others).size).toBe(1);
    expect(pool.stats().queue.items).toBe(1);
    holder.abort();
    await holding;
    expect(others).not.toContain(await waiting);
  });
});
