// SPDX-License-Identifier: MIT OR Apache-2.0
// Child processes, too: inputs cross by pipes.
import { move } from "clearway";
import { describe, expect, test } from "vitest";
import { builtUrl, gate, inProcesses, reasonOf, testPool, warmed } from "../fixtures/pools.js";

type Streams = typeof import("../fixtures/streams.tasks.js");

const warm = () => warmed(testPool<Streams>(builtUrl("streams")));

/** Returns a caller's generator, with the number of values drawn and a promise of its finally block. */
function source(to = Number.POSITIVE_INFINITY) {
  const closed = gate();
  const state = { drawn: 0, closed: closed.promise, isClosed: false };
  const stream = (async function* () {
    try {
      for (let at = 0; at < to; at++) {
        state.drawn++;
        yield at;
      }
    } finally {
      state.isClosed = true;
      closed.tell();
    }
  })();
  return { stream, state };
}

describe("a stream as an argument", () => {
  test("is read by the task in order, to its end", async () => {
    const { call } = await warm();
    const { stream, state } = source(300);
    expect(await call.catchInput(stream)).toEqual({ seen: Array.from({ length: 300 }, (_, at) => at) });
    expect(state).toMatchObject({ drawn: 300, isClosed: true });
  });

  test("fails the task's read at once when a value cannot be cloned, even when its source never settles afterwards", async () => {
    const { call } = await warm();
    async function* waits() {
      yield 1;
      yield (() => 2) as never;
      await new Promise(() => {});
    }
    const { seen, reason } = await call.catchInput(waits());
    expect(seen).toEqual([1]);
    expect(reason?.message).toMatch(/a value of the stream argument cannot cross a thread/);
  });

  test("works in the first call of a cold pool", async () => {
    const { call } = testPool<Streams>(builtUrl("streams"));
    expect(await call.take(source().stream, 3)).toEqual([0, 1, 2]);
  });

  test("does not start before the task reads it, and stops at its window of 16 when the task stops reading", async () => {
    const pool = await warm();
    const { stream, state } = source();
    const output = pool.with({ window: { items: 1 } }).call.takeSlowly(stream);
    expect(state.drawn).toBe(0);
    await output.next();
    // After a round trip, everything that the task requested has arrived.
    for (let turn = 0; turn < 3; turn++) await pool.ping();
    expect(state.drawn).toBeGreaterThanOrEqual(1);
    expect(state.drawn).toBeLessThanOrEqual(17);
    for (let taken = 2; taken < 60; taken++) {
      expect((await output.next()).value).toBe(taken - 1);
      // The task may be one value ahead of this reader, and the caller's stream one window ahead of the task.
      expect(state.drawn).toBeLessThanOrEqual(taken + 1 + 16);
    }
    await output.return();
    await state.closed;
  });

  test("is closed when the task breaks, before the task continues", async () => {
    const { call } = await warm();
    const { stream, state } = source();
    const taking = call.take(stream, 5);
    expect(await taking).toEqual([0, 1, 2, 3, 4]);
    expect(state.isClosed).toBe(true);
  });

  test("that throws throws its complete error in the task, after its values", async () => {
    const { call } = await warm();
    const stream = (async function* () {
      yield 1;
      yield 2;
      throw Object.assign(new RangeError("mine"), { code: "E_MINE" });
    })();
    const { seen, reason } = await call.catchInput(stream);
    expect(seen).toEqual([1, 2]);
    expect(reason).toMatchObject({ message: "mine" });
  });

  test.skipIf(inProcesses)("may be moved value by value", async () => {
    const pool = await warm();
    const sent: Uint8Array[] = [];
    const sum = await pool.call.sums(
      (async function* () {
        for (let at = 0; at < 20; at++) {
          const chunk = new Uint8Array(1000).fill(1);
          sent.push(chunk);
          yield move(chunk);
        }
      })(),
    );
    expect(sum).toBe(20_000);
    expect(sent.every((chunk) => chunk.byteLength === 0)).toBe(true);
    expect(pool.stats().ledger.toWorkers).toMatchObject({ movedBytes: 20_000, copiedBytes: 0 });
  });

  test("fails its call under strict when a value would be copied, and its finally block runs", async () => {
    const pool = await warm();
    let closed = false;
    const stream = (async function* () {
      try {
        yield new Uint8Array(8);
      } finally {
        closed = true;
      }
    })();
    expect(await reasonOf(pool.with({ strict: true }).call.sums(stream))).toMatchObject({ code: "would-copy" });
    expect(closed).toBe(true);
  });

  test("may be one of several streams", async () => {
    const { call } = await warm();
    const letters = (async function* () {
      yield* "abc";
    })();
    const rows: (readonly [number, string])[] = [];
    for await (const row of call.zip(source(3).stream, letters)) rows.push(row);
    expect(rows).toEqual([
      [0, "a"],
      [1, "b"],
      [2, "c"],
    ]);
  });

  test("may be a ReadableStream", async () => {
    const { call } = await warm();
    const stream = new ReadableStream<number>({
      start(controller) {
        for (let at = 0; at < 40; at++) controller.enqueue(at);
        controller.close();
      },
    });
    expect((await call.catchInput(stream as unknown as AsyncIterable<number>)).seen).toHaveLength(40);
  });

  test("that the task never reads never starts, and is closed", async () => {
    const { call } = await warm();
    const { stream, state } = source();
    expect(await call.ignoresInput(stream)).toBe("done");
    expect(state.drawn).toBe(0);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  test("of a call that was never sent is released, too", async () => {
    const pool = await warm();
    const stream = new ReadableStream<number>({ pull: (controller) => controller.enqueue(1) });
    const aborted = AbortSignal.abort(new RangeError("before"));
    const taking = pool.with({ signal: aborted }).call.take(stream as unknown as AsyncIterable<number>, 2);
    expect(await reasonOf(taking)).toMatchObject({ message: "before" });
    await expect.poll(() => stream.locked).toBe(false);
  });

  test("is closed when its call is cancelled during the stream", async () => {
    const pool = await warm();
    const controller = new AbortController();
    const { stream, state } = source();
    const output = pool.with({ signal: controller.signal }).call.takeSlowly(stream);
    await output.next();
    controller.abort(new RangeError("enough"));
    expect(await reasonOf(readAll(output))).toMatchObject({ message: "enough" });
    await state.closed;
    expect(await pool.call.plain(1)).toBe(2);
  });

  test("is closed when the reader leaves the output stream", async () => {
    const pool = await warm();
    const { stream, state } = source();
    for await (const each of pool.call.takeSlowly(stream)) if (each === 30) break;
    await state.closed;
    expect(pool.stats()).toMatchObject({ open: 0, workers: { restarts: 0 } });
  });

  test("is closed when the worker dies during the stream", async () => {
    const pool = await warm();
    const { stream, state } = source();
    expect(await reasonOf(pool.call.dieReading(stream))).toMatchObject({ code: "worker-exited" });
    await state.closed;
    expect(await pool.call.plain(1)).toBe(2);
  });

  test("is closed when the pool is terminated", async () => {
    const pool = await warm();
    const { stream, state } = source();
    const output = pool.call.takeSlowly(stream);
    await output.next();
    await pool.terminate();
    expect(await reasonOf(readAll(output))).toMatchObject({ code: "pool-terminated" });
    await state.closed;
  });
});

async function readAll(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _each of stream);
}

test.each(["first", "ignoresInput"] as const)(
  "an idle ReadableStream is cancelled when its task has ended: %s",
  async (task) => {
    const { promise, tell } = gate();
    const source = new ReadableStream({
      start: (controller) => controller.enqueue("header"),
      // Never gives another value.
      pull: () => new Promise(() => {}),
      cancel: () => tell(),
    });
    const pool = testPool<Streams>(builtUrl("streams"));
    expect(await pool.call[task](source)).toBe(task === "first" ? "header" : "done");
    await promise;
    await expect.poll(() => source.locked).toBe(false);
  },
);

test.each([
  ["first", "throws", 1],
  ["first", "rejects", 1],
  ["ignoresInput", "throws", "done"],
  ["ignoresInput", "rejects", "done"],
] as const)("the error of a source whose return() fails goes to onError: %s, %s", async (task, how, result) => {
  const mine = new RangeError("in return()");
  const source = {
    next: async () => ({ done: false, value: 1 }),
    return: () => {
      if (how === "rejects") return Promise.reject(mine);
      throw mine;
    },
    [Symbol.asyncIterator]: () => source,
  };
  const errors: unknown[] = [];
  const pool = testPool<Streams>(builtUrl("streams"), { onError: (error) => errors.push(error) });
  expect(await pool.call[task](source)).toBe(result);
  await expect.poll(() => errors).toEqual([mine]);
});

test("a ReadableStream that is read to its end is unlocked", async () => {
  const source = new ReadableStream({
    start: (controller) => controller.close(),
  });
  expect(await testPool<Streams>(builtUrl("streams")).call.first(source)).toBeUndefined();
  expect(source.locked).toBe(false);
});

test("a source whose reader throws refuses its call", async () => {
  const source = Object.assign((async function* () {})(), {
    getReader: () => {
      throw new RangeError("no reader");
    },
  });
  await expect(testPool<Streams>(builtUrl("streams")).call.first(source)).rejects.toThrow("no reader");
});
