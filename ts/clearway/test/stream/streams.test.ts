// SPDX-License-Identifier: MIT OR Apache-2.0
// Child processes, too: values and credit cross by pipes.
import { type CallOptions, move, type PoolOptions, type Stream } from "clearway";
import { describe, expect, test } from "vitest";
import { builtUrl, inProcesses, reasonOf, testPool, upTo, warmed } from "../fixtures/pools.js";

type Streams = typeof import("../fixtures/streams.tasks.js");

const cold = (options: PoolOptions = {}) => testPool<Streams>(builtUrl("streams"), options);

const warm = (options?: PoolOptions) => warmed(cold(options));

/** Returns all values of a stream and its end value. */
async function all<T>(stream: AsyncIterable<T>): Promise<{ values: T[]; end: unknown }> {
  const iterator = stream[Symbol.asyncIterator]();
  const values: T[] = [];
  for (;;) {
    const step = await iterator.next();
    if (step.done) return { values, end: step.value };
    values.push(step.value);
  }
}

describe.each([
  ["cold", async (options?: PoolOptions) => cold(options)],
  ["warm", warm],
])("a stream of a %s pool", (_name, make) => {
  test("returns every value in order, then the end value", async () => {
    const { call } = await make();
    expect(await all(call.count(500))).toEqual({ values: upTo(500), end: "end" });
    expect(await all(call.countSync(500))).toEqual({ values: upTo(500), end: "end" });
    expect(await all(call.count(0))).toEqual({ values: [], end: "end" });
  });

  test("is also the result of awaiting its call", async () => {
    const { call } = await make();
    const stream = (await (call.count(3) as unknown as Promise<Stream<number>>)) as Stream<number>;
    expect(await all(stream)).toEqual({ values: [0, 1, 2], end: "end" });
  });

  test("never runs when it is ended before its first value", async () => {
    const { call } = await make();
    const stream = call.count(3);
    expect(await stream.return("mine")).toEqual({ done: true, value: "mine" });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(await call.state()).toEqual({ drawn: 0, closed: 0 });
  });

  test("that throws returns its values first, then the complete error", async () => {
    const { call } = await make();
    const seen: number[] = [];
    const reason = (await reasonOf(
      (async () => {
        for await (const each of call.failAfter(40)) seen.push(each);
      })(),
    )) as Error & { code: string };
    expect(seen).toEqual(upTo(40));
    expect(reason).toBeInstanceOf(RangeError);
    expect(reason).toMatchObject({ name: "RangeError", message: "no more", code: "E_NO_MORE" });
    expect(reason.stack).toContain("streams.test");
    expect(await reasonOf(call.failAtOnce().next())).toMatchObject({ message: "at once" });
  });

  test("takes moved arguments at the call, not at the first read", async () => {
    const { call } = await make();
    const bytes = new Uint8Array([1, 2, 3]);
    const stream = call.each(move(bytes));
    expect(bytes.byteLength).toBe(0);
    expect((await all(stream)).values).toEqual([1, 2, 3]);
    const gone = call.each(move(bytes, [bytes.buffer]));
    expect(await reasonOf(all(gone))).toMatchObject({ code: "not-cloneable" });
    expect((await all(call.count(2))).values).toEqual([0, 1]);
  });
});

test("a cold call that was ended early also settles as a promise", async () => {
  const { call } = cold();
  const unread = call.count(9);
  await unread.return();
  const opened = call.count(1000);
  await opened.next();
  await opened.return();
  await Promise.allSettled([unread, opened]);
  const wrong = cold().call.plain(1) as unknown as AsyncIterableIterator<number> & Promise<number>;
  await wrong.return!();
  expect(await reasonOf(wrong)).toMatchObject({ code: "cancelled" });
});

describe("a call that is not a stream", () => {
  test("rejects with not-a-stream when it is iterated on a cold pool", async () => {
    const { call } = cold();
    const wrong = call.plain(1) as unknown as AsyncIterable<number>;
    expect(await reasonOf(all(wrong))).toMatchObject({ code: "not-a-stream" });
  });

  test("cannot be iterated on a warm pool", async () => {
    const { call } = await warm();
    const answer = call.plain(1);
    expect(Symbol.asyncIterator in answer).toBe(false);
    expect(await answer).toBe(2);
  });
});

describe("the window of a stream", () => {
  const readOne = async (options: CallOptions, task: "count" | "countSync") => {
    const pool = await warm();
    const stream = pool.with(options).call[task](10_000);
    const { call } = pool;
    return { stream, drawn: async () => (await call.state()).drawn };
  };

  test.each(["count", "countSync"] as const)("limits the producer of %s to an exact number of items", async (task) => {
    const { stream, drawn } = await readOne({ window: { items: 8 } }, task);
    await stream.next();
    expect(await drawn()).toBe(8);
    expect(await drawn()).toBe(8);
    // Credit is returned for half a window at once.
    for (let at = 0; at < 2; at++) await stream.next();
    expect(await drawn()).toBe(8);
    await stream.next();
    expect(await drawn()).toBe(12);
    await stream.return();
  });

  test.skipIf(inProcesses)("also limits bytes, and every byte is moved", async () => {
    const pool = await warm();
    const length = 64 * 1024;
    const stream = pool.with({ window: { bytes: 4 * length, items: 1000 } }).call.chunks(100, length);
    await stream.next();
    expect((await pool.call.state()).drawn).toBe(4);
    let seen = 1;
    for await (const chunk of stream) {
      expect(chunk).toHaveLength(length);
      expect(chunk[0]).toBe(seen++);
    }
    expect(seen).toBe(100);
    const { fromWorkers } = pool.stats().ledger;
    expect(fromWorkers).toEqual({ movedBytes: 100 * length, sharedBytes: 0, copiedBytes: 0, copies: {} });
  });

  test.skipIf(inProcesses)(
    "of move(chunk, []) is at most window.bytes ahead, and the ledger counts copies",
    async () => {
      const pool = await warm();
      const length = 64 * 1024;
      const stream = pool.with({ window: { bytes: 4 * length, items: 1000 } }).call.keptChunks(100, length);
      await stream.next();
      expect((await pool.call.state()).drawn).toBe(4);
      for await (const chunk of stream) expect(chunk).toHaveLength(length);
      const { copiedBytes, copies } = pool.stats().ledger.fromWorkers;
      expect([copiedBytes, copies]).toEqual([100 * length, { "not-listed": { count: 100, bytes: 100 * length } }]);
      const strict = pool.with({ strict: true }).call.keptChunks(1, length);
      expect(await reasonOf(strict.next())).toMatchObject({ code: "would-copy" });
    },
  );
});

describe("leaving a stream", () => {
  test("with break runs the producer's finally block, and waits for it", async () => {
    const pool = await warm();
    for await (const each of pool.call.waitsInFinally()) if (each === 3) break;
    // Without a wait in `break`, this call would run while the finally block is still at work.
    expect(await pool.call.state()).toMatchObject({ closed: 1 });
  });

  test("with `await using` does the same", async () => {
    const { call } = await warm();
    {
      await using stream = call.count(1000);
      await stream.next();
    }
    expect(await call.state()).toMatchObject({ closed: 1 });
  });

  test("with throw() rejects with the reason, after the producer's finally block", async () => {
    const { call } = await warm();
    const stream = call.count(1000);
    await stream.next();
    expect(await reasonOf(stream.throw!(new RangeError("mine")))).toMatchObject({ message: "mine" });
    expect(await call.state()).toMatchObject({ closed: 1 });
  });

  test("that was never read occupies no worker", async () => {
    const pool = await warm();
    const streams = upTo(20).map(() => pool.call.count(5));
    expect(await pool.call.plain(2)).toBe(4);
    expect(pool.stats()).toMatchObject({ open: 0, workers: { busy: 0 } });
    expect((await all(streams[7]!)).values).toHaveLength(5);
  });

  test("is optional: a paused stream lets other calls run", async () => {
    const pool = await warm({ window: { items: 2 } });
    const stream = pool.call.count(100);
    await stream.next();
    for (let at = 0; at < 20; at++) expect(await pool.call.plain(at)).toBe(2 * at);
    expect((await all(stream)).values).toHaveLength(99);
  });

  test("is independent of other streams: three on one worker do not wait for one another", async () => {
    const { call } = await warm({ window: { items: 2 } });
    const streams = [call.count(50), call.countSync(50), call.count(50)];
    for (let at = 0; at < 50; at++) {
      const row = await Promise.all(streams.map((stream) => stream.next()));
      expect(row.map((step) => step.value)).toEqual([at, at, at]);
    }
    expect(await Promise.all(streams.map((stream) => stream.next()))).toEqual(
      new Array(3).fill({ done: true, value: "end" }),
    );
  });
});

describe("a stream whose values cannot cross, or whose generator never settles,", () => {
  test.skipIf(inProcesses)("closes its producer and fails after its values, when a value cannot cross", async () => {
    const pool = await warm({ strict: true });
    const stream = pool.call.partial();
    expect((await stream.next()).value).toHaveLength(8);
    expect(await reasonOf(stream.next())).toMatchObject({ code: "would-copy" });
    expect(await pool.call.state()).toMatchObject({ closed: 1 });
  });

  test.skipIf(inProcesses)(
    "copies only the visible part of a buffer when not strict, and moves the buffer when it is listed",
    async () => {
      const pool = await warm();
      const { values } = await all(pool.call.partial());
      expect(values.map((each) => each.buffer.byteLength)).toEqual([8, 8]);
      expect(pool.stats().ledger.fromWorkers.copies).toMatchObject({ "partial-view": { count: 1, bytes: 8 } });
      const [moved] = (await all(pool.call.movedParts())).values;
      expect(moved!.buffer.byteLength).toBe(64);
    },
  );

  test("ends at once for a reader that leaves, even when its generator never settles", async () => {
    const pool = await warm({ graceMs: 600_000 });
    for await (const each of pool.call.waits()) {
      expect(each).toBe(1);
      break;
    }
    expect(await pool.call.plain(2)).toBe(4);
    expect(pool.stats()).toMatchObject({ open: 0, workers: { size: 1, restarts: 0 } });
  });

  test("fails at once when a value cannot cross, even when its generator never settles afterwards", async () => {
    const pool = await warm();
    const stream = pool.call.uncloneableThenWaits();
    expect(await stream.next()).toEqual({ done: false, value: 1 });
    expect(await reasonOf(stream.next())).toMatchObject({ name: "ClearwayError", code: "not-cloneable" });
    expect(await pool.call.plain(2)).toBe(4);
    expect(pool.stats()).toMatchObject({ open: 0, workers: { restarts: 0 } });
  });

  test("fails when the last value of a synchronous generator cannot cross", async () => {
    const { call } = await warm();
    const stream = call.uncloneableLast();
    expect((await stream.next()).value).toBe(1);
    expect(await reasonOf(stream.next())).toMatchObject({ code: "not-cloneable" });
  });

  test("fails at its end when the end value cannot cross", async () => {
    const { call } = await warm();
    const stream = call.uncloneableEnd();
    expect((await stream.next()).value).toBe(1);
    expect(await reasonOf(stream.next())).toMatchObject({ code: "not-cloneable" });
  });
});

test.each(["symbol", "yieldsSymbol", "endsWithSymbol"] as const)(
  "the error for a symbol names its task: %s",
  async (task) => {
    const { call } = await warm();
    const answer = task === "symbol" ? call[task]() : all<unknown>(call[task]());
    expect(await reasonOf(answer)).toMatchObject({
      code: "not-cloneable",
      message: expect.stringContaining(`the result of ${task}()`),
    });
  },
);

test("progress messages keep their order between values, and none arrives after the end", async () => {
  const pool = await warm();
  const told: unknown[] = [];
  const stream = pool.with({ onProgress: (value) => told.push(value) }).call.interleaved(50);
  for (let at = 0; at < 50; at++) {
    expect((await stream.next()).value).toBe(at);
    expect(told).toContain(`before ${at}`);
  }
  expect((await stream.next()).value).toBe("end");
  expect(told).toEqual([...upTo(50).map((at) => `before ${at}`), "before the end"]);
});

test("a stream is cancelled by a signal, and rejects with its reason", async () => {
  const pool = await warm();
  const controller = new AbortController();
  const stream = pool.with({ signal: controller.signal }).call.untilCancelled();
  expect((await stream.next()).value).toBe("started");
  const next = reasonOf(stream.next());
  controller.abort(new RangeError("enough"));
  expect(await next).toMatchObject({ name: "RangeError", message: "enough" });
  expect(await pool.call.plain(1)).toBe(2);
});
