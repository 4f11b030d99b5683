// SPDX-License-Identifier: MIT OR Apache-2.0
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, test } from "vitest";
import { builtUrl, gate, testPool } from "../fixtures/pools.js";

type Context = typeof import("../fixtures/context.tasks.js");
type Crash = typeof import("../fixtures/crash.tasks.js");

const storage = new AsyncLocalStorage<string>();

/** Runs `act` once in the context of each name, all on one pool, so that messages of several contexts are handled together. */
async function inEach<T>(names: string[], act: (name: string) => Promise<T>): Promise<T[]> {
  return Promise.all(names.map((name) => storage.run(name, () => act(name))));
}

describe("AsyncLocalStorage:", () => {
  const names = ["a", "b", "c", "d"];

  test("onProgress runs in the context of its call", async () => {
    const pool = testPool<Context>(builtUrl("context"), { concurrency: 4 });
    await storage.run("pool", () => pool.ready());
    const seen: [name: unknown, context: unknown][] = [];
    const onProgress = (name: unknown): void => void seen.push([name, storage.getStore()]);
    const shared = storage.run("with", () => pool.with({ onProgress }));
    await inEach(names, (name) => shared.call.tell(name, 3));
    expect(seen).toHaveLength(12);
    expect(seen.filter(([name, context]) => name !== context)).toEqual([]);
  });

  test("an iterable that a task reads runs in the context of its call, also its finally block", async () => {
    const pool = testPool<Context>(builtUrl("context"), { concurrency: 4 });
    await pool.ready();
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

  test("an iterable whose call is never sent is closed in the context of its call", async () => {
    const pool = testPool<Context>(builtUrl("context"));
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
