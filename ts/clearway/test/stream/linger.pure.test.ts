// SPDX-License-Identifier: MIT OR Apache-2.0
import { beforeEach, describe, expect, test } from "vitest";
import { Linger, lingerMicrotasks, Producer } from "../../src/stream/producer.js";
import { PortTransport } from "../../src/transport/port.js";
import { frameSlots, Op } from "../../src/transport/protocol.js";
import { fakeClock } from "../fixtures/fake-timers.js";
import { settle } from "./timeline.js";

// The clock stands still: all values belong to one burst.
beforeEach(() => fakeClock(() => 0));

/** Returns a transport, the ids in each message that it has posted, and a function that sends a stream's values through it. */
function start(): { transport: PortTransport; posted: number[][]; stream(iterator: AsyncIterator<unknown>): Producer } {
  const posted: number[][] = [];
  const post = (message: unknown): void => {
    const frames = message as unknown[];
    posted.push(frames.filter((_, slot) => slot % frameSlots === 1) as number[]);
  };
  const transport = new PortTransport({ post }, () => {});
  const stream = (iterator: AsyncIterator<unknown>): Producer =>
    new Producer(iterator, {
      transport,
      chunk: (value) => {
        transport.send(Op.Chunk, value as number, value);
        return 1;
      },
      end: () => transport.send(Op.End, -1),
      fail: () => transport.send(Op.Abort, -1),
    });
  return { transport, posted, stream };
}

async function* count(to: number): AsyncGenerator<number> {
  for (let value = 1; value <= to; value++) yield value;
}

async function* through(source: AsyncIterable<number>): AsyncGenerator<number> {
  for await (const value of source) yield value;
}

describe("the values of an async iterator", () => {
  test.each([
    ["an async generator", () => count(400)],
    ["an async generator that reads another", () => through(count(400))],
  ])("share a message when they come one after the other, from %s", async (_name, make) => {
    const { posted, stream } = start();
    stream(make()).grant(999, 999);
    for (let each = 0; each < 100; each++) await settle();
    expect(posted.flat()).toEqual([...Array.from({ length: 400 }, (_, index) => index + 1), -1]);
    // The first ones are posted one by one. Later, an eighth of the burst may wait.
    expect(posted.slice(0, 7)).toEqual([[1], [2], [3], [4], [5], [6], [7]]);
    expect(posted.length).toBeLessThan(100);
  });

  test("are sent when the credit is used up", async () => {
    const { posted, stream } = start();
    stream(count(400)).grant(3, 99);
    await settle();
    expect(posted).toEqual([[1], [2], [3]]);
  });

  test("are sent while the iterator waits for its next value", async () => {
    const { posted, stream } = start();
    async function* waiting(): AsyncGenerator<number> {
      yield* [1, 2];
      await new Promise(() => {});
    }
    stream(waiting()).grant(99, 99);
    await settle();
    expect(posted).toEqual([[1], [2]]);
  });

  test("share a message with the frames that are sent meanwhile, in order", async () => {
    const { transport, posted, stream } = start();
    async function* answering(): AsyncGenerator<number> {
      yield 1;
      transport.send(Op.Result, 50);
      yield 2;
    }
    stream(answering()).grant(99, 99);
    await settle();
    expect(posted).toEqual([[1], [50, 2], [-1]]);
  });
});

describe("a linger", () => {
  test("flushes after its number of microtasks, counted from the last hold", async () => {
    let flushes = 0;
    const transport = { scheduled: false, flush: () => flushes++ };
    const linger = new Linger(transport);
    const flushedAfter = async (microtasks: number): Promise<number> => {
      for (let each = 0; each < microtasks; each++) await Promise.resolve();
      return flushes;
    };
    linger.hold();
    expect(await flushedAfter(lingerMicrotasks - 4)).toBe(0);
    linger.hold();
    expect(await flushedAfter(lingerMicrotasks - 4)).toBe(0);
    expect(transport.scheduled).toBe(true);
    expect(await flushedAfter(lingerMicrotasks)).toBe(1);
    expect(transport.scheduled).toBe(false);
  });

  test("does not delay a flush that is due for another frame", async () => {
    const { transport, posted } = start();
    transport.send(Op.Result, 1);
    new Linger(transport).hold();
    await Promise.resolve();
    await Promise.resolve();
    expect(posted).toEqual([[1]]);
  });
});
