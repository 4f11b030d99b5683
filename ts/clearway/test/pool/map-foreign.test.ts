// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Pool, pool as poolOf } from "clearway";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { foreignSignals, hanging, type Misdeed, returning, throwing } from "../fixtures/misdeeds.js";
import { type Plain, plainPool, plainUrl } from "../fixtures/pools.js";

type Step = IteratorResult<number>;

/** Inputs of which one part misbehaves. They give a few numbers otherwise. */
const parts: Readonly<Record<string, (act: Misdeed) => unknown>> = {
  "[Symbol.asyncIterator]()": (act) => ({ [Symbol.asyncIterator]: act }),
  "[Symbol.iterator]()": (act) => ({ [Symbol.iterator]: act }),
  "the getter of an iterator": (act) => ({
    get [Symbol.iterator]() {
      return act();
    },
  }),
  "next() of asynchronous inputs": (act) => ({ [Symbol.asyncIterator]: () => ({ next: act }) }),
  "next() of synchronous inputs": (act) => ({ [Symbol.iterator]: () => ({ next: act }) }),
  "a later next()": (act) => {
    let asked = 0;
    const next = (): unknown => (asked++ < 2 ? { done: false, value: asked } : act());
    return { [Symbol.asyncIterator]: () => ({ next }) };
  },
  "done of a step": (act) =>
    stepping({
      get done() {
        return act() as false;
      },
      value: 1,
    }),
  "value of a step": (act) =>
    stepping({
      done: false,
      get value() {
        return act() as number;
      },
    }),
  "return()": (act) => ({ [Symbol.iterator]: () => ({ next: numbers(), return: act }) }),
  "a value that a task refuses, and return()": (act) => ({
    [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: () => 1 }), return: act }),
  }),
};

function numbers(): () => Step {
  let at = 0;
  return () => ({ done: false, value: at++ });
}

function stepping(step: Step): unknown {
  return { [Symbol.iterator]: () => ({ next: () => step }) };
}

// One pool for all misdeeds: none may harm it.
let pool: Pool<Plain>;
beforeAll(async () => {
  pool = poolOf<Plain>(plainUrl, { size: 1 });
  await pool.ready();
});
afterAll(() => pool.terminate());

const misdeeds = Object.entries({ ...throwing, ...returning, ...hanging });

describe.each(Object.entries(parts))("when %s of the inputs", (_part, make) => {
  test.each(misdeeds)("%s, the mapping ends and leaves nothing", async (_deed, act) => {
    const leaving = new AbortController();
    const settled = { results: 0, over: false };
    const results = pool.map.echo(make(act) as Iterable<unknown>, { concurrency: 2, signal: leaving.signal });
    const reading = (async () => {
      try {
        for await (const _each of results) if (++settled.results === 4) break;
      } catch {
        // Any error is right, because the inputs are wrong.
      }
      settled.over = true;
    })();
    // Inputs that hang end with the signal. All others end by themselves.
    await pool.ping();
    await expect.poll(() => settled.over || pool.stats().open === 0).toBe(true);
    leaving.abort("enough");
    await reading;
    await expect.poll(() => pool.stats().open).toBe(0);
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(pool.stats().workers.restarts).toBe(0);
  });
});

describe.each(Object.entries(foreignSignals))("when %s", (_part, make) => {
  test.each([...misdeeds, ["calls nothing", () => undefined] as const])(
    "%s, the mapping ends and leaves nothing",
    async (_deed, act) => {
      const { signal, abort } = make(act);
      const reading = Promise.allSettled([pool.map.add([1, 2, 3], { signal })]);
      await pool.ping();
      abort();
      await reading;
      await expect.poll(() => pool.stats().open).toBe(0);
      expect(await pool.call.add(1, 2)).toBe(3);
    },
  );
});

test("inputs that call back into the mapping while they are read do not harm it", async () => {
  const pool = plainPool();
  const steps: Promise<unknown>[] = [];
  let at = 0;
  const inputs = {
    [Symbol.iterator]: () => ({
      next: () => {
        if (at === 1) steps.push(results.next());
        if (at === 3) steps.push(results.return());
        return { done: false, value: at++ };
      },
    }),
  };
  const results = pool.map.add(inputs, { concurrency: 2 });
  const read: number[] = [];
  for await (const each of results) read.push(each);
  await Promise.all(steps);
  expect(read.length).toBeLessThanOrEqual(4);
  await expect.poll(() => pool.stats().open).toBe(0);
});

test("inputs that end the pool while they are read end the mapping", async () => {
  const pool = plainPool();
  const inputs = (function* () {
    yield 1;
    void pool.terminate();
    yield 2;
  })();
  await expect(Promise.resolve(pool.map.add(inputs))).rejects.toMatchObject({ code: "pool-terminated" });
});

test("the error of the inputs' return() reaches the pool's onError after a break", async () => {
  const heard: unknown[] = [];
  const pool = plainPool({ onError: (error) => heard.push(error) });
  const why = new RangeError("cannot close");
  const inputs = {
    [Symbol.iterator]: () => ({
      next: numbers(),
      return: () => {
        throw why;
      },
    }),
  };
  for await (const _each of pool.map.add(inputs as unknown as Iterable<number>)) break;
  await expect.poll(() => heard).toEqual([why]);
});

test("a rejected promise among synchronous inputs ends the mapping with its reason, and closes the inputs", async () => {
  const pool = plainPool();
  let closed = 0;
  const inputs = (function* () {
    try {
      yield 1;
      yield Promise.reject(new RangeError("no input"));
    } finally {
      closed++;
    }
  })();
  await expect(Promise.resolve(pool.map.add(inputs))).rejects.toMatchObject({ message: "no input" });
  expect(closed).toBe(1);
});
