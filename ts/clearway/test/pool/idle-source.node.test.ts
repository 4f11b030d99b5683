// SPDX-License-Identifier: MIT OR Apache-2.0
import { EventEmitter, on, once } from "node:events";
import { PassThrough } from "node:stream";
import type { Pool } from "clearway";
import { connect, memoryPair } from "clearway/channel";
import { expect, test } from "vitest";
import { builtUrl, testPool } from "../fixtures/pools.js";

type Sources = typeof import("../fixtures/sources.tasks.js");
type Refused = Record<"first" | "missing", (...args: unknown[]) => Promise<unknown>>;

test.each(["first", "unread"] as const)("an idle Readable is destroyed when its task has ended: %s", async (task) => {
  const source = new PassThrough();
  const closed = once(source, "close");
  source.write("header");
  await testPool<Sources>(builtUrl("sources")).call[task](source);
  await closed;
  expect(source.destroyed).toBe(true);
});

test.each<[why: string, call: (pool: Pool<Sources>, source: PassThrough) => unknown]>([
  ["the module has no such task", (pool, source) => (pool.call as unknown as Refused).missing(source)],
  ["another argument cannot cross", (pool, source) => (pool.call as unknown as Refused).first(source, () => {})],
  [
    "an argument before it cannot cross",
    (pool, source) => (pool.with({ strict: true }).call as unknown as Refused).first(new Uint8Array(8), source),
  ],
  ["the signal of its mapping has aborted", (pool, source) => pool.map.same(source, { signal: AbortSignal.abort() })],
  ["its signal has aborted", (pool, source) => pool.with({ signal: AbortSignal.abort() }).call.first(source)],
  ["the pool is closed", async (pool, source) => pool.close().then(() => pool.call.first(source))],
])("an idle Readable is destroyed when its call is refused, because %s", async (_why, call) => {
  const pool = testPool<Sources>(builtUrl("sources"));
  await pool.ready();
  const source = new PassThrough();
  const closed = once(source, "close");
  await expect(call(pool, source)).rejects.toThrow();
  await closed;
});

test("a Readable whose destroy() throws ends with its call", async () => {
  const source = new PassThrough();
  source.destroy = () => {
    throw new Error("no");
  };
  expect(await testPool<Sources>(builtUrl("sources")).call.unread(source)).toBe("unread");
});

test("a Readable whose iterator's return() throws is destroyed", async () => {
  const source = new PassThrough({ objectMode: true });
  source.write("first");
  const iterator = Object.assign(source[Symbol.asyncIterator](), {
    return: () => {
      throw new Error("no");
    },
  });
  source[Symbol.asyncIterator] = () => iterator as never;
  const closed = once(source, "close");
  await testPool<Sources>(builtUrl("sources")).call.first(source);
  await closed;
});

/** Sources that have one value, and never another. `closed` tells whether they are closed. */
const idleSources: Record<string, () => { source: AsyncIterable<unknown>; closed(): boolean }> = {
  Readable: () => {
    const source = new PassThrough({ objectMode: true });
    source.write("first");
    return { source, closed: () => source.destroyed };
  },
  ReadableStream: () => {
    let cancelled = false;
    const source = new ReadableStream({
      start: (controller) => controller.enqueue("first"),
      pull: () => new Promise(() => {}),
      cancel: () => {
        cancelled = true;
      },
    });
    return { source, closed: () => cancelled };
  },
  "iterator of events": () => {
    const emitter = new EventEmitter();
    const source = on(emitter, "value");
    emitter.emit("value", "first");
    return { source, closed: () => emitter.listenerCount("value") === 0 };
  },
};
const readers: Record<string, (source: AsyncIterable<unknown>) => Promise<unknown>> = {
  "a task": (source) => testPool<Sources>(builtUrl("sources")).call.first(source),
  "a mapping": async (source) => {
    for await (const result of testPool<Sources>(builtUrl("sources")).map.same(source)) return result;
    return undefined;
  },
  "a listener of a channel": async (source) => {
    const [here, there] = await Promise.all(memoryPair().map((end) => connect(end)));
    there!.events("values").serve(() => source);
    for await (const event of here!.events("values").listen()) return event;
    return undefined;
  },
};

for (const [kind, make] of Object.entries(idleSources))
  test.each(Object.entries(readers))(
    `an idle ${kind} is closed when its reader wants no more: %s`,
    async (_name, read) => {
      const { source, closed } = make();
      await read(source);
      await expect.poll(closed).toBe(true);
    },
  );
