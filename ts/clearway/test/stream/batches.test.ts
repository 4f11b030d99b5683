// SPDX-License-Identifier: MIT OR Apache-2.0
// Child processes, too: batches cross by pipes.
import type { Batches, PoolOptions } from "clearway";
import { describe, expect, test } from "vitest";
import { builtUrl, reasonOf, testPool, upTo, warmed } from "../fixtures/pools.js";

type Streams = typeof import("../fixtures/streams.tasks.js");

const cold = (options: PoolOptions = {}) => testPool<Streams>(builtUrl("streams"), { size: 1, ...options });

async function warm(options: PoolOptions = {}): Promise<ReturnType<typeof cold>> {
  const pool = await warmed(cold(options));
  // A first call opens the ring, where there is one.
  await pool.call.plain(1);
  await pool.ping();
  return pool;
}

/** Returns all arrays of a stream, and its end value. */
async function all<T>(batches: Batches<T>): Promise<{ arrays: T[][]; end: unknown }> {
  const arrays: T[][] = [];
  for (;;) {
    const step = await batches.next();
    if (step.done) return { arrays, end: step.value };
    arrays.push(step.value);
  }
}

describe.each([
  ["cold", async (options?: PoolOptions) => cold(options)],
  ["warm", warm],
])("the arrays of a stream of a %s pool", (_name, make) => {
  test("hold every value once, in order, then the end value follows", async () => {
    const { call } = await make();
    for (const stream of [call.count(3000), call.countSync(3000), call.count(0)]) {
      const { arrays, end } = await all(stream.batches());
      expect(arrays.every(({ length }) => length >= 1 && length <= 1024)).toBe(true);
      expect(arrays.flat()).toEqual(upTo(arrays.flat().length));
      expect(end).toBe("end");
    }
  });

  test("come before the complete error of a stream that throws", async () => {
    const { call } = await make();
    const seen: number[] = [];
    const reason = await reasonOf(
      (async () => {
        for await (const values of call.failAfter(40).batches()) seen.push(...values);
      })(),
    );
    expect(seen).toEqual(upTo(40));
    expect(reason).toMatchObject({ name: "RangeError", message: "no more", code: "E_NO_MORE" });
  });

  test("end with break, which runs the producer's finally block and waits for it", async () => {
    const pool = await make();
    const seen: number[] = [];
    for await (const values of pool.call.waitsInFinally().batches()) {
      seen.push(...values);
      if (seen.length > 20) break;
    }
    expect(seen).toEqual(upTo(seen.length));
    expect(await pool.call.state()).toMatchObject({ closed: 1 });
  });

  test("never run the task when they are ended before the first one", async () => {
    const { call } = await make();
    const batches = call.count(3).batches();
    expect(await batches.return("mine")).toEqual({ done: true, value: "mine" });
    expect(await batches.next()).toEqual({ done: true, value: undefined });
    expect(await call.state()).toEqual({ drawn: 0, closed: 0 });
  });
});

describe("the arrays of a stream", () => {
  test("end with `await using`, and with throw()", async () => {
    const { call } = await warm();
    {
      await using batches = call.count(1000).batches();
      await batches.next();
    }
    expect(await call.state()).toMatchObject({ closed: 1 });
    const thrown = call.count(1000).batches();
    await thrown.next();
    expect(await reasonOf(thrown.throw!(new RangeError("mine")))).toMatchObject({ message: "mine" });
    expect(await call.state()).toMatchObject({ closed: 2 });
  });

  test("and its values can be read in turn", async () => {
    const { call } = await warm();
    const stream = call.count(300);
    const batches = stream.batches();
    const seen: number[] = [];
    for (let each = await stream.next(); !each.done; each = await stream.next()) {
      seen.push(each.value);
      const step = await batches.next();
      if (!step.done) seen.push(...step.value);
    }
    expect(seen).toEqual(upTo(300));
  });

  test("reject with not-a-stream for a task that gives one result, on a cold pool", async () => {
    const wrong = cold().call.plain(1) as unknown as ReturnType<ReturnType<typeof cold>["call"]["count"]>;
    expect(await reasonOf(wrong.batches().next())).toMatchObject({ code: "not-a-stream" });
  });
});
