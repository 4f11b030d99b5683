// SPDX-License-Identifier: MIT OR Apache-2.0
// Child processes, too: batches cross by pipes.
import { move, type Pool } from "clearway";
import { describe, expect, test } from "vitest";
import { gate, gates, inProcesses, plainPool, reasonOf, warmed } from "../fixtures/pools.js";

/** Returns numbers that record how many were read, and whether they were closed. */
function source(count = Number.POSITIVE_INFINITY) {
  const seen = { read: 0, closed: 0 };
  function* inputs() {
    try {
      while (seen.read < count) yield seen.read++;
    } finally {
      seen.closed++;
    }
  }
  return { seen, inputs: inputs() };
}

const untilIdle = (pool: Pool<never> | ReturnType<typeof plainPool>) =>
  expect.poll(() => pool.stats()).toMatchObject({ open: 0, queue: { items: 0 } });

describe("map gives", () => {
  test.each<[string, (count: number) => Iterable<number | Promise<number>> | AsyncIterable<number>]>([
    ["an array", (count) => Array.from({ length: count }, (_, at) => at)],
    ["a set", (count) => new Set(Array.from({ length: count }, (_, at) => at))],
    ["promises", (count) => Array.from({ length: count }, async (_, at) => at)],
    ["a generator", (count) => source(count).inputs],
    [
      "an async generator",
      async function* (count) {
        for (let at = 0; at < count; at++) yield at;
      },
    ],
  ])("all results of %s in the order of the inputs, awaited or iterated", async (_name, make) => {
    const pool = plainPool({ size: 2 });
    const expected = Array.from({ length: 100 }, (_, at) => at + 1);
    expect(await pool.map.later(make(100))).toEqual(expected);
    const results: number[] = [];
    for await (const result of pool.map.later(make(100))) results.push(result);
    expect(results).toEqual(expected);
    expect(await pool.map.later([])).toEqual([]);
    expect(pool.stats()).toMatchObject({ open: 0, tasks: { later: { calls: 200, ok: 200 } } });
  });

  test("each call its further arguments", async () => {
    const pool = plainPool();
    expect(await pool.map.add([1, 2, 3], { args: [10] })).toEqual([11, 12, 13]);
    expect(await pool.map.add([1, 2, 3])).toEqual([2, 3, 4]);
  });

  test("each call a moved input", async () => {
    const pool = plainPool();
    const inputs = [new Uint8Array(1_000), new Uint8Array(2_000)];
    const results = (await pool.map.echo(inputs.map((each) => move(each)))) as Uint8Array[];
    expect(results.map(({ length }) => length)).toEqual([1_000, 2_000]);
    expect(inputs.map(({ length }) => length)).toEqual([0, 0]);
  });

  test("the calls the options of with()", async () => {
    const pool = plainPool({ size: 2 });
    const reported: unknown[] = [];
    const results = pool.with({ key: 7, onProgress: (value) => reported.push(value) }).map.report([1, 2]);
    expect(await results).toEqual([1, 2]);
    expect(reported).toEqual([0, 0, 1]);
  });

  test.skipIf(inProcesses)("results in the order in which calls end, with `ordered: false`", async () => {
    const pool = plainPool({ size: 3 });
    const { channel, open } = gates();
    const results = pool.map.pass([0, 1, 2], { args: [channel], ordered: false });
    const read: unknown[] = [];
    const reading = (async () => {
      for await (const each of results) read.push(each);
    })();
    for (const each of [2, 0, 1]) {
      await open(each);
      await expect.poll(() => read.at(-1)).toBe(each);
    }
    await reading;
    expect(read).toEqual([2, 0, 1]);
  });

  test.skipIf(inProcesses)("onResult each result as its call ends, with the index of the input", async () => {
    const pool = plainPool({ size: 2 });
    const { channel, open } = gates();
    const told: unknown[] = [];
    const results = pool.map.pass(["a", "b"], {
      args: [channel],
      onResult: (value, index) => told.push([value, index]),
    });
    const all = results.then((values) => values);
    await open("b");
    await expect.poll(() => told).toEqual([["b", 1]]);
    await open("a");
    expect(await all).toEqual(["a", "b"]);
    expect(told).toEqual([
      ["b", 1],
      ["a", 0],
    ]);
  });

  test("the same array to everyone who awaits it, and what was not read to who awaits it later", async () => {
    const pool = plainPool();
    const results = pool.map.add([1, 2, 3]);
    expect(await results.next()).toEqual({ done: false, value: 2 });
    const [first, second] = await Promise.all([results, results]);
    expect(first).toEqual([3, 4]);
    expect(second).toBe(first);
    expect(await results.next()).toEqual({ done: true, value: undefined });
  });
});

describe("map reads", () => {
  test("nothing before the first read", async () => {
    const pool = await warmed(plainPool());
    const { seen, inputs } = source();
    const results = pool.map.add(inputs);
    await pool.ping();
    expect(seen.read).toBe(0);
    await results.return();
    expect(seen).toEqual({ read: 0, closed: 0 });
    expect(await results.next()).toEqual({ done: true, value: undefined });
  });

  test.each([true, false])("at most `concurrency` inputs ahead of its reader, with `ordered: %s`", async (ordered) => {
    const pool = plainPool({ size: 2 });
    const { seen, inputs } = source(20);
    let ahead = 0;
    let read = 0;
    const tracked = (function* () {
      for (const each of inputs) {
        ahead = Math.max(ahead, seen.read - read);
        yield each;
      }
    })();
    const results = pool.map.add(tracked, { concurrency: 3, ordered });
    for await (const _each of results) {
      read++;
      // Nothing is read while the reader does something else.
      const before = seen.read;
      await pool.ping();
      await pool.ping();
      expect(seen.read).toBe(before);
      expect(seen.read).toBeLessThanOrEqual(read + 3);
    }
    expect(read).toBe(20);
    expect(ahead).toBeLessThanOrEqual(4);
  });

  test.skipIf(inProcesses)(
    "at most `concurrency` inputs whose calls are open, when the results are awaited",
    async () => {
      const pool = plainPool({ size: 4 });
      const { channel, begun, open } = gates();
      const { seen, inputs } = source(5);
      const all = pool.map.pass(inputs, { args: [channel], concurrency: 2 }).then((values) => values);
      await begun(0, 1);
      expect(seen.read).toBe(2);
      await open(1);
      await begun(2);
      // The first call has not ended. The second result does not wait for it.
      expect(seen.read).toBe(3);
      await open(0, 2, 3, 4);
      expect(await all).toEqual([0, 1, 2, 3, 4]);
    },
  );

  test("by default as many inputs as two for each task that the pool runs at once", async () => {
    const pool = plainPool({ size: 3, concurrency: 2 });
    const { seen, inputs } = source();
    const results = pool.map.never(inputs as never);
    void results.next();
    await expect.poll(() => seen.read).toBe(12);
    await results.return();
    expect(seen).toEqual({ read: 12, closed: 1 });
  });

  test("no input while the queue is full", async () => {
    const pool = plainPool({ size: 1, queue: { items: 2, whenFull: "fail" } });
    expect(await pool.map.add(Array(50).fill(1), { concurrency: 10 })).toEqual(Array(50).fill(2));
  });

  test.each(["fail", "dropNewest", "dropOldest"] as const)(
    "an input that is larger than the room in the queue, with whenFull: %s",
    async (whenFull) => {
      const pool = plainPool({ size: 2, queue: { bytes: 1000, whenFull } });
      const inputs = Array.from({ length: 10 }, () => new Uint8Array(700));
      expect(await pool.map.echo(inputs)).toEqual(inputs);
    },
  );
});

describe("map ends", () => {
  test("with all results if its inputs ask for one while they are opened", async () => {
    const pool = plainPool();
    const inputs = {
      [Symbol.iterator]() {
        void results.next();
        return [1, 2].values();
      },
    };
    const results = pool.map.add(inputs);
    expect(await results).toEqual([3]);
  });

  test.skipIf(inProcesses)("with the first error: cancels the open calls, and closes the inputs", async () => {
    const pool = plainPool({ size: 3 });
    const { channel, fail, open, begun, ended } = gates();
    const { seen, inputs } = source();
    const results = pool.map.pass(inputs, { args: [channel], concurrency: 3 });
    const first = results.next();
    await begun(0, 1, 2);
    await open(0);
    expect(await first).toEqual({ done: false, value: 0 });
    const second = reasonOf(results.next());
    await fail(2);
    expect(await second).toMatchObject({ name: "RangeError", message: "no 2" });
    await ended(1);
    expect(seen.closed).toBe(1);
    expect(await results.next()).toEqual({ done: true, value: undefined });
    await untilIdle(pool);
    expect(pool.stats().tasks["pass"]).toMatchObject({ ok: 1, failed: 1 });
    expect(pool.stats().workers.restarts).toBe(0);
  });

  test("with an error whose stack names the function that called map", async () => {
    const pool = await warmed(plainPool());
    async function collectsResults() {
      return await pool.map.fail(["no"]);
    }
    expect(((await reasonOf(collectsResults())) as Error).stack).toContain("collectsResults");
  });

  test("after the results that came before an error were read", async () => {
    const pool = plainPool();
    const inputs = [1, 2, () => {}] as number[];
    const results = pool.map.echo(inputs, { concurrency: 3 });
    expect(await results.next()).toEqual({ done: false, value: 1 });
    await untilIdle(pool);
    expect(await results.next()).toEqual({ done: false, value: 2 });
    expect(await reasonOf(results.next())).toMatchObject({ code: "not-cloneable" });
    expect(await results.next()).toEqual({ done: true, value: undefined });
  });

  test.skipIf(inProcesses)("when its reader breaks", async () => {
    const pool = plainPool({ size: 2 });
    const { channel, open, begun, ended } = gates();
    const { seen, inputs } = source();
    const reading = (async () => {
      for await (const each of pool.map.pass(inputs, { args: [channel], concurrency: 2 })) return each;
      return undefined;
    })();
    await begun(1);
    await open(0);
    expect(await reading).toBe(0);
    expect(seen.closed).toBe(1);
    await ended(1);
    await untilIdle(pool);
  });

  test("when its reader returns while someone awaits the array", async () => {
    const pool = plainPool();
    const results = pool.map.never([undefined] as never);
    const all = reasonOf(results);
    await expect.poll(() => pool.stats().open).toBe(1);
    await results.return();
    expect(await all).toMatchObject({ code: "cancelled" });
  });

  test.each(["with()", "map"])("when the signal of %s aborts, although its inputs hang", async (where) => {
    const pool = plainPool();
    const leaving = new AbortController();
    const { signal } = leaving;
    let closed = 0;
    const inputs: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: () => {
          closed++;
          return new Promise(() => {});
        },
      }),
    };
    const results = where === "map" ? pool.map.later(inputs, { signal }) : pool.with({ signal }).map.later(inputs);
    const next = reasonOf(results.next());
    await pool.ping();
    leaving.abort(new RangeError("left"));
    expect(await next).toMatchObject({ message: "left" });
    expect(closed).toBe(1);
  });

  test("at once when its signal has aborted before", async () => {
    const pool = plainPool();
    const { seen, inputs } = source();
    const reason = new RangeError("before");
    expect(await reasonOf(pool.map.add(inputs, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(seen).toEqual({ read: 0, closed: 0 });
  });

  test.each(["throws", "rejects"])("with the error of an onResult that %s", async (how) => {
    const pool = plainPool();
    const { seen, inputs } = source();
    const onResult = (): unknown => {
      if (how === "rejects") return Promise.reject(new RangeError("no more"));
      throw new RangeError("no more");
    };
    expect(await reasonOf(pool.map.add(inputs, { onResult }))).toMatchObject({ message: "no more" });
    expect(seen.closed).toBe(1);
    await untilIdle(pool);
  });

  test("when an onResult ends it", async () => {
    const pool = plainPool();
    const { seen, inputs } = source();
    const leaving = new AbortController();
    const results = pool.map.add(inputs, { signal: leaving.signal, onResult: () => leaving.abort("enough") });
    await expect(Promise.resolve(results)).rejects.toBe("enough");
    expect(seen.closed).toBe(1);
    await untilIdle(pool);
  });

  test.each(["close", "terminate"] as const)("on %s(), also while its inputs hang", async (end) => {
    const pool = plainPool();
    const asked = gate();
    const inputs = (async function* () {
      yield 1;
      asked.tell();
      await new Promise(() => {});
    })();
    const results = pool.map.add(inputs);
    expect(await results.next()).toEqual({ done: false, value: 2 });
    const next = reasonOf(results.next());
    await asked.promise;
    await pool[end]();
    expect(await next).toMatchObject({ code: end === "close" ? "pool-closed" : "pool-terminated" });
  });

  test.skipIf(inProcesses)("on close() with the results of the calls that were open", async () => {
    const pool = plainPool({ size: 2 });
    const { channel, begun, open } = gates();
    const { seen, inputs } = source();
    const results = pool.map.pass(inputs, { args: [channel], concurrency: 2 });
    const first = results.next();
    await begun(0, 1);
    const closed = pool.close();
    await open(0, 1);
    expect([await first, await results.next()].map(({ value }) => value)).toEqual([0, 1]);
    expect(await reasonOf(results.next())).toMatchObject({ code: "pool-closed" });
    await closed;
    expect(seen).toEqual({ read: 2, closed: 1 });
  });

  test("with pool-closed when the pool has ended before", async () => {
    const pool = plainPool();
    await pool.close();
    const { seen, inputs } = source();
    expect(await reasonOf(pool.map.add(inputs))).toMatchObject({ code: "pool-closed" });
    expect(seen.read).toBe(0);
  });
});

describe("map refuses", () => {
  test.each(["cold", "warm"])("a task that gives a stream, on a %s pool", async (start) => {
    const pool = plainPool();
    if (start === "warm") await pool.ready();
    const map = pool.map as unknown as { numbers(inputs: number[]): Promise<unknown> };
    expect(await reasonOf(map.numbers([1, 2]))).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining("numbers() gives a stream"),
    });
    await untilIdle(pool);
  });

  test.each([undefined, null, 5, "text", {}])("the inputs %o", async (inputs) => {
    const pool = plainPool();
    expect(await reasonOf(pool.map.add(inputs as never))).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining("inputs must be an iterable"),
    });
  });

  test.each<[string, object]>([
    ["concurrency", { concurrency: 0 }],
    ["ordered", { ordered: 1 }],
    ["signal", { signal: {} }],
    ["args", { args: 5 }],
    ["onResult", { onResult: 5 }],
    ["nearest is concurrency", { concurency: 5 }],
  ])("an invalid option: %s", async (message, options) => {
    const pool = plainPool();
    expect(await reasonOf(pool.map.add([1], options))).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining(message),
    });
  });
});
