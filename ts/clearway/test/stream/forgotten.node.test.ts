// SPDX-License-Identifier: MIT OR Apache-2.0
import { EventEmitter, on, once } from "node:events";
import { PassThrough } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Pool } from "clearway";
import { connect, memoryPair, schema } from "clearway/channel";
import { describe, expect, test } from "vitest";
import { builtUrl, plainPool, testPool, warmed } from "../fixtures/pools.js";

type Streams = typeof import("../fixtures/streams.tasks.js");

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

describe("a stream without references", () => {
  test.each(["warm", "cold"])(
    "is ended when it is garbage-collected, on a %s pool, and its finally block runs",
    async (start) => {
      const pool = testPool<Streams>(builtUrl("streams"), { window: { items: 2 } });
      if (start === "warm") await pool.ready();
      await (async () => {
        const stream = pool.call.count(1000);
        await stream.next();
      })();
      expect(pool.stats().open).toBe(1);
      await expect
        .poll(() => {
          collect();
          return pool.stats().open;
        })
        .toBe(0);
      expect(await pool.call.state()).toMatchObject({ closed: 1 });
      expect(pool.stats().workers.restarts).toBe(0);
    },
  );

  test("is ended, too, when it was dropped before the code that reads it was loaded", async () => {
    const pool = testPool<Streams>(builtUrl("streams"));
    // The pool does not know yet whether the call is a stream.
    (() => pool.call.count(1000))();
    const closed = (async () => (await pool.call.state()).closed)();
    collect();
    expect(await closed).toBe(0);
    expect(pool.stats().open).toBe(0);
  });

  test("counts as one failed call when it was never read", async () => {
    const pool = await warmed(testPool<Streams>(builtUrl("streams")));
    (() => pool.call.count(1000))();
    const counts = { calls: 1, failed: 1, cancelled: 0, errors: { abandoned: 1 } };
    await expect
      .poll(() => {
        collect();
        return pool.stats();
      })
      .toMatchObject({ open: 0, tasks: { count: counts } });
  });

  test("is not ended while the reader of its arrays is in use", async () => {
    const pool = await warmed(testPool<Streams>(builtUrl("streams"), { window: { items: 2 } }));
    const batches = (() => pool.call.count(10).batches())();
    const values: number[] = [];
    for (let step = await batches.next(); !step.done; step = await batches.next()) {
      collect();
      values.push(...step.value);
    }
    expect(values).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("is not ended while a read of it is pending", async () => {
    const pool = await warmed(testPool<Streams>(builtUrl("streams")));
    const next = (() => pool.call.count(10).next())();
    collect();
    expect((await next).value).toBe(0);
  });
});

describe("a mapping", () => {
  test("without references is ended when it is garbage-collected, and closes its inputs", async () => {
    const pool = plainPool();
    let closed = 0;
    await (async () => {
      const inputs = (function* () {
        try {
          for (;;) yield 1;
        } finally {
          closed++;
        }
      })();
      await pool.map.add(inputs).next();
    })();
    await expect
      .poll(() => {
        collect();
        return closed;
      })
      .toBe(1);
    await expect.poll(() => pool.stats().open).toBe(0);
  });

  test("is not ended while a read of it, or its array, is pending", async () => {
    const pool = plainPool();
    const next = (() => pool.map.add([1]).next())();
    const all = (() => pool.map.add([1, 2]).then((results) => results))();
    collect();
    expect((await next).value).toBe(2);
    expect(await all).toEqual([2, 3]);
  });
});

type Refused = Record<"first" | "missing", (...args: unknown[]) => Promise<unknown>>;

test.each(["first", "ignoresInput"] as const)(
  "an idle Readable is destroyed when its task has ended: %s",
  async (task) => {
    const source = new PassThrough();
    const closed = once(source, "close");
    source.write("header");
    await testPool<Streams>(builtUrl("streams")).call[task](source);
    await closed;
    expect(source.destroyed).toBe(true);
  },
);

test.each<[why: string, call: (pool: Pool<Streams>, source: PassThrough) => unknown]>([
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
  const pool = await warmed(testPool<Streams>(builtUrl("streams")));
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
  expect(await testPool<Streams>(builtUrl("streams")).call.ignoresInput(source)).toBe("done");
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
  await testPool<Streams>(builtUrl("streams")).call.first(source);
  await closed;
});

const uses: Record<string, (pool: Pool<Streams>, source: AsyncIterable<unknown>) => Promise<unknown>> = {
  "by a task": ({ call }, source) => call.first(source),
  "by a task that never reads it": ({ call }, source) => call.ignoresInput(source),
  "in a call that is refused": ({ call }, source) => call.first(source, ...([() => 1] as unknown as [])),
  "in a call that is aborted": (pool, source) => pool.with({ signal: AbortSignal.abort() }).call.first(source),
  "by a mapping": async ({ map }, source) => map.same(source),
  "by a mapping that is aborted": async ({ map }, source) => map.same(source, { signal: AbortSignal.abort() }),
};

test.each(Object.entries(uses))(
  "an error of a stream of Node is no uncaught exception before it is read %s",
  async (how, use) => {
    const source = new PassThrough({ objectMode: true });
    // Not with once() of node:events, which would hear the error, too.
    const closed = new Promise((resolve) => source.once("close", resolve));
    const used = use(testPool<Streams>(builtUrl("streams")), source).then(undefined, (reason) => reason);
    const lost = new RangeError("lost");
    source.destroy(lost);
    if (how === "by a task" || how === "by a mapping") expect(await used).toBeInstanceOf(RangeError);
    await Promise.all([used, closed]);
  },
);

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
  "a task": (source) => testPool<Streams>(builtUrl("streams")).call.first(source),
  "a mapping": async (source) => {
    for await (const result of testPool<Streams>(builtUrl("streams")).map.same(source)) return result;
    return undefined;
  },
  "a listener of a channel": async (source) => {
    const [here, there] = await Promise.all(memoryPair().map((end) => connect(end)));
    there!.events("values").serve(() => source);
    for await (const event of here!.events("values").listen()) return event;
    return undefined;
  },
  "a listener of a schema's events": async (source) => {
    const values = schema({ channel: "values", events: { all: { value: "any" } } });
    const [here, there] = await Promise.all(memoryPair().map((end) => connect(end)));
    values.handle(there!, { events: { all: () => source } });
    for await (const event of values.caller(here!).listen.all()) return event;
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
