// SPDX-License-Identifier: MIT OR Apache-2.0
import { PassThrough } from "node:stream";
import { connect } from "@nats-io/transport-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { fields } from "../../src/wire/call.js";
import { Op, subjectsOf } from "../../src/wire/protocol.js";
import { noServer } from "../server/nats-server.js";
import { codec, oneServer, pair, until } from "./ends.js";

async function* numbers(values: number, ended?: () => void): AsyncGenerator<number> {
  try {
    for (let value = 0; value < values; value++) yield value;
  } finally {
    ended?.();
  }
}

describe.skipIf(noServer)("a stream in request mode", () => {
  const nats = oneServer();

  test("a stream gives all values in order, on the first call of a task and on later ones", async () => {
    const { pool } = await pair(nats.url);
    for (let round = 0; round < 2; round++) {
      const seen: number[] = [];
      for await (const value of pool.call.count(2_000)) seen.push(value as number);
      expect(seen).toEqual(Array.from({ length: 2_000 }, (_, at) => at));
    }
    expect(pool.stats()).toMatchObject({ open: 0, tasks: { count: { calls: 2, ok: 2 } } });
  });

  test("a stream gives its return value, and then undefined", async () => {
    const { pool } = await pair(nats.url);
    for (let round = 0; round < 2; round++) {
      const stream = pool.call.count(1);
      expect(await stream.next()).toEqual({ done: false, value: 0 });
      expect(await stream.next()).toEqual({ done: true, value: "counted" });
      expect(await stream.next()).toEqual({ done: true, value: undefined });
    }
  });

  test("a stream inside a value is refused by structured clone", async () => {
    const { pool } = await pair(nats.url);
    await using stream = pool.call.count(1);
    expect(() => structuredClone({ stream })).toThrow("could not be cloned");
  });

  test("batches() gives the values in arrays", async () => {
    const { pool } = await pair(nats.url);
    await pool.call.count(1).next();
    const seen: unknown[] = [];
    for await (const batch of pool.call.count(3_000).batches()) seen.push(...batch);
    expect(seen).toEqual(Array.from({ length: 3_000 }, (_, at) => at));
  });

  test("values that are larger than a message of NATS arrive", async () => {
    const { pool } = await pair(nats.url);
    const sizes: number[] = [];
    for await (const value of pool.call.large(4, 1_500_000)) sizes.push((value as Uint8Array).length);
    expect(sizes).toEqual([1_500_000, 1_500_000, 1_500_000, 1_500_000]);
  });

  test("a task is never ahead of its reader by more than the windows", async () => {
    const { pool, server } = await pair(nats.url);
    const stream = pool.with({ window: { items: 8 } }).call.count(1_000_000);
    expect(await stream.next()).toEqual({ done: false, value: 0 });
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    // Far fewer than a million small values have crossed.
    expect(server.stats().request!.ledger.sentBytes).toBeLessThan(10_000);
    await stream.return();
  });

  test("a stream that is left early ends its task, and return() settles after the task's finally", async () => {
    const { pool, server } = await pair(nats.url);
    for (let round = 1; round <= 2; round++) {
      for await (const value of pool.call.count(1_000_000)) if (value === 3) break;
      expect(await pool.call.notes()).toHaveLength(round);
    }
    expect(server.stats().request!.open).toBe(0);
    expect(pool.stats().open).toBe(0);
  });

  test("a stream that is never read starts nothing", async () => {
    const { pool, server } = await pair(nats.url);
    await pool.call.count(1).next();
    const before = server.stats().request!.calls;
    const stream = pool.call.count(5);
    await stream.return();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(server.stats().request!.calls).toBe(before);
  });

  test("a stream fails with the task's error, before and after values", async () => {
    const { pool } = await pair(nats.url);
    for (let round = 0; round < 2; round++) {
      await expect(pool.call.failing().next()).rejects.toMatchObject({ name: "PaymentError", code: "declined" });
      const stream = pool.call.failingLate();
      expect(await stream.next()).toEqual({ done: false, value: 1 });
      await expect(stream.next()).rejects.toMatchObject({ message: "no more values" });
      expect(await stream.next()).toEqual({ done: true, value: undefined });
    }
  });

  test("a stream fails when the codec has no form for a value", async () => {
    const { pool } = await pair(nats.url);
    const stream = pool.call.unencodableValue();
    const read = async (): Promise<void> => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toMatchObject({ code: "not-encodable" });
    expect(await pool.call.add(1, 1)).toBe(2);
  });

  test("a stream rejects with the reason of its signal", async () => {
    const { pool, server } = await pair(nats.url);
    const controller = new AbortController();
    const stream = pool.with({ signal: controller.signal, window: { items: 4 } }).call.count(1_000_000);
    await stream.next();
    controller.abort("enough");
    const rest = async (): Promise<void> => {
      for await (const _ of stream);
    };
    await expect(rest()).rejects.toBe("enough");
    await until(() => server.stats().request!.open === 0);
  });

  test("a task that gives one result cannot be iterated", async () => {
    const { pool } = await pair(nats.url);
    const call = pool.call.add(1, 2) as unknown as AsyncIterator<unknown>;
    await expect(call.next()).rejects.toMatchObject({ code: "not-a-stream" });
  });

  test("the promise of a stream's first call resolves with the stream", async () => {
    const { pool } = await pair(nats.url);
    const stream = await (pool.call.count(2) as unknown as Promise<AsyncIterable<number>>);
    const seen: number[] = [];
    for await (const value of stream) seen.push(value);
    expect(seen).toEqual([0, 1]);
  });

  test("an async iterable as an argument reaches the task, value by value", async () => {
    const { pool } = await pair(nats.url);
    for (let round = 0; round < 2; round++) expect(await pool.call.sum(numbers(2_000))).toBe(1_999_000);
  });

  test("an argument whose last value or error is nested as deep as the codec allows ends the task's stream", async () => {
    const { pool } = await pair(nats.url);
    const nested = (depth: number): unknown => (depth === 0 ? 0 : [nested(depth - 1)]);
    for (let depth = 250; depth < 260; depth++) {
      const ends = (async function* () {
        yield 1;
        return nested(depth);
      })();
      expect(await pool.call.sum(ends)).toBe(1);
      // biome-ignore lint/correctness/useYield: it fails before its first value
      const fails = (async function* (): AsyncGenerator<number> {
        throw Object.assign(new Error("too deep"), { at: nested(depth) });
      })();
      await expect(pool.call.sum(fails)).rejects.toMatchObject({ message: "too deep" });
    }
  });

  test("values of an argument that are larger than a message of NATS arrive", async () => {
    const { pool, server } = await pair(nats.url);
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let chunk = 0; chunk < 3; chunk++) yield new Uint8Array(2_000_000);
    }
    expect(await pool.call.bytesOf(chunks())).toBe(6_000_000);
    expect(server.stats().request!.bytes).toBe(0);
  });

  test("a task reads and writes streams at once", async () => {
    const { pool } = await pair(nats.url);
    const seen: unknown[] = [];
    for await (const value of pool.call.doubled(numbers(1_000))) seen.push(value);
    expect(seen).toEqual(Array.from({ length: 1_000 }, (_, at) => at * 2));
  });

  test("a source is closed when the task has read enough", async () => {
    const { pool, server } = await pair(nats.url);
    let ended = false;
    expect(await pool.call.firstOf(numbers(1_000_000, () => (ended = true)))).toBe(0);
    await until(() => ended);
    expect(server.stats().request!.bytes).toBe(0);
  });

  test("an idle stream of Node or of the web is closed when the task has read enough", async () => {
    const { pool } = await pair(nats.url);
    const readable = new PassThrough({ objectMode: true });
    readable.write(1);
    let cancelled = false;
    const web = new ReadableStream<number>({
      start: (controller) => controller.enqueue(1),
      cancel: () => {
        cancelled = true;
      },
    });
    expect(await pool.call.firstOf(readable)).toBe(1);
    expect(await pool.call.firstOf(web)).toBe(1);
    await until(() => readable.destroyed && cancelled);
  });

  test("an error of a source fails the task's read with that error", async () => {
    const { pool } = await pair(nats.url);
    async function* broken(): AsyncGenerator<number> {
      yield 1;
      throw new TypeError("the source is broken");
    }
    await expect(pool.call.sum(broken())).rejects.toMatchObject({ name: "TypeError", message: "the source is broken" });
  });

  test("a source that hangs does not outlive a cancelled call", async () => {
    const { pool, server } = await pair(nats.url);
    const controller = new AbortController();
    const source = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<IteratorResult<number>>(() => {}) }) };
    const call = pool.with({ signal: controller.signal }).call.sum(source);
    const failed = expect(call).rejects.toBe("stop");
    await until(() => server.stats().request!.calls === 1);
    controller.abort("stop");
    await failed;
    await until(() => server.stats().request!.open === 0);
  });

  test("a source whose results are no objects fails the task's read", async () => {
    const { pool } = await pair(nats.url);
    const source = { [Symbol.asyncIterator]: () => ({ next: async () => null }) } as unknown as AsyncIterable<number>;
    await expect(pool.call.sum(source)).rejects.toBeInstanceOf(TypeError);
  });

  test("the streams of a call that cannot be sent are closed", async () => {
    const { pool } = await pair(nats.url);
    const broken = {
      [Symbol.asyncIterator]() {
        throw new Error("no iterator");
      },
    };
    for (const last of [broken, () => {}]) {
      const source = new ReadableStream<number>();
      await expect(pool.call.add(source as never, last as never)).rejects.toThrow(/no iterator|no form/);
      await until(() => !source.locked);
    }
    expect(pool.stats()).toMatchObject({ open: 0 });
  });

  test("a large value that crosses the answer of its call is no new call", async () => {
    const { pool, server, module } = await pair(nats.url);
    const caller = await connect({ servers: nats.url });
    onTestFinished(() => caller.close());
    // Repeats every announcement of a large message after the answer, when the call is over.
    const announcements: { data: Uint8Array; reply: string }[] = [];
    const worker = subjectsOf(module, "0").worker(server.stats().workerId);
    caller.subscribe(worker, {
      callback: (_error, { data, reply }) => {
        if (fields(codec, data, false)[0] === Op.large) announcements.push({ data: data.slice(), reply: reply! });
      },
    });
    await caller.flush();
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let chunk = 0; chunk < 2; chunk++) yield new Uint8Array(1_500_000);
    }
    expect(await pool.call.bytesOf(chunks())).toBe(3_000_000);
    await until(() => announcements.length === 2);
    const before = server.stats().request!.dropped.forNobody;
    for (const { data, reply } of announcements) caller.publish(worker, data, { reply });
    await until(() => server.stats().request!.dropped.forNobody === before + 2);
    expect(server.stats().request).toMatchObject({ open: 0, calls: 1, bytes: 0 });
  });
});
