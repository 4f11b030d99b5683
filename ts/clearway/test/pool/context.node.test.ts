// SPDX-License-Identifier: MIT OR Apache-2.0
import { AsyncLocalStorage } from "node:async_hooks";
import { callback } from "clearway/callback";
import { describe, expect, test } from "vitest";
import { builtUrl, gate, plainPool, testPool, warmed } from "../fixtures/pools.js";

type Callbacks = typeof import("../fixtures/callback.tasks.js");
type Crash = typeof import("../fixtures/crash.tasks.js");

const storage = new AsyncLocalStorage<string>();

/** Runs `act` once in the context of each name, all on one pool, so that messages of several contexts are handled together. */
async function inEach<T>(names: string[], act: (name: string) => Promise<T>): Promise<T[]> {
  return Promise.all(names.map((name) => storage.run(name, () => act(name))));
}

describe("AsyncLocalStorage:", () => {
  const names = ["a", "b", "c", "d"];

  test("onProgress runs in the context of its call", async () => {
    const pool = plainPool({ concurrency: 4 });
    await storage.run("pool", () => pool.ready());
    const seen: [name: unknown, context: unknown][] = [];
    const onProgress = (name: unknown): void => void seen.push([name, storage.getStore()]);
    const shared = storage.run("with", () => pool.with({ onProgress }));
    await inEach(names, (name) => shared.call.reportName(name, 3));
    expect(seen).toHaveLength(12);
    expect(seen.filter(([name, context]) => name !== context)).toEqual([]);
  });

  test("an iterable that a task reads runs in the context of its call, also its finally block", async () => {
    const pool = await warmed(plainPool({ concurrency: 4 }));
    const seen: [name: string, context: unknown][] = [];
    const look = (name: string): void => void seen.push([name, storage.getStore()]);
    async function* values(name: string) {
      try {
        // More values than the window, so that the task's credit resumes the iterable several times.
        for (let at = 0; at < 50; at++) {
          look(name);
          yield at;
        }
      } finally {
        look(name);
      }
    }
    const sums = await inEach(names, (name) => pool.call.sum(values(name), name === "b" ? 20 : 100));
    expect(sums).toEqual([1225, 190, 1225, 1225]);
    expect(seen.length).toBeGreaterThan(150);
    expect(seen.filter(([name, context]) => name !== context)).toEqual([]);
  });

  test("a callback runs in the context of its call, also when several calls share it and after it has awaited", async () => {
    const pool = testPool<Callbacks>(builtUrl("callback"), { size: 4 });
    await storage.run("pool", () => pool.ready());
    const seen: [name: unknown, context: unknown][] = [];
    const tell = storage.run("made", () =>
      callback(async (name: unknown) => {
        seen.push([name, storage.getStore()]);
        await Promise.resolve();
        seen.push([name, storage.getStore()]);
      }),
    );
    await inEach(names, (name) => pool.call.each([name, name, name], tell));
    expect(seen).toHaveLength(24);
    expect(seen.filter(([name, context]) => name !== context)).toEqual([]);
  });

  test("code that waits for a call, a stream, a mapping or a broadcast goes on in its own context", async () => {
    const pool = testPool<Callbacks>(builtUrl("callback"), { size: 2, concurrency: 4 });
    const echo = callback((value: unknown) => value);
    const double = callback((value: number) => value * 2);
    const contexts = await inEach(names, async () => {
      const seen: unknown[] = [];
      const look = (): void => void seen.push(storage.getStore());
      // The first call waits for the start of the pool.
      await pool.call.add(1, 2).then(look);
      look();
      for await (const _ of pool.call.stream([1, 2, 3], echo)) look();
      const stream = pool.call.stream([1, 2], echo);
      await Promise.all([stream.next().then(look), stream.next().then(look)]);
      await stream.return().then(look);
      await pool.map.mapped([1, 2], { args: [double], onResult: look }).then(look);
      for await (const _ of pool.map.mapped([1], { args: [double] })) look();
      await pool.broadcast.mapped(1, double).then(look);
      await pool.call.fails(echo).catch(look);
      await pool.room().then(look);
      return seen;
    });
    for (const [at, seen] of contexts.entries()) expect(seen).toEqual(Array(15).fill(names[at]));
  });

  test("an iterable whose call is never sent is closed in the context of its call", async () => {
    const pool = plainPool();
    const told = gate<unknown>();
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: true as const, value: undefined }),
        return: async () => {
          told.tell(storage.getStore());
          return { done: true as const, value: undefined };
        },
      }),
    };
    const controller = new AbortController();
    const call = storage.run("call", () => pool.with({ signal: controller.signal }).call.sum(source as never, 5));
    storage.run("abort", () => controller.abort());
    await expect(call).rejects.toThrow("abort");
    expect(await told.promise).toBe("call");
  });

  test("the inputs and onResult of a mapping run in the async context of the first read", async () => {
    const pool = plainPool();
    const seen = new Set<unknown>();
    const inputs = (function* () {
      for (let at = 0; at < 50; at++) {
        seen.add(storage.getStore());
        yield at;
      }
    })();
    const results = pool.map.add(inputs, { concurrency: 2, onResult: () => seen.add(storage.getStore()) });
    await storage.run("first", () => results.next());
    await storage.run("second", () => results.then(() => {}));
    expect([...seen]).toEqual(["first"]);
  });

  test("onError runs in the context in which the pool was created", async () => {
    const told = gate<unknown>();
    const pool = storage.run("made", () =>
      testPool<Crash>(builtUrl("crash"), { size: { min: 0, max: 1 }, onError: () => told.tell(storage.getStore()) }),
    );
    await storage.run("ready", () => pool.ready());
    await storage.run("call", () => pool.call.strayAfter());
    expect(await told.promise).toBe("made");
  });
});
