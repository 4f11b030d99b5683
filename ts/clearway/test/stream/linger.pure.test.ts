// SPDX-License-Identifier: MIT OR Apache-2.0
import { beforeEach, describe, expect, test } from "vitest";
import { Consumer } from "../../src/stream/consumer.js";
import { adaptiveWindow, type WindowSetting } from "../../src/stream/credit.js";
import { Linger, lingerMicrotasks, Producer } from "../../src/stream/producer.js";
import { PortTransport } from "../../src/transport/port.js";
import { frameSlots, Op } from "../../src/transport/protocol.js";
import { TurnBudget } from "../../src/transport/turn-budget.js";
import { fakeClock } from "../fixtures/fake-timers.js";
import { pair } from "../transport/ring/pair.js";
import { FakeTurns } from "./fake-turns.js";
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

const values = 20_000;

const sources = {
  "a generator": function* () {
    for (let id = 0; id < values; id++) yield { id, x: id / 2, name: "row" };
  },
  "an async generator": async function* () {
    for (let id = 0; id < values; id++) yield { id, x: id / 2, name: "row" };
  },
};

interface Sides {
  /** Carries the values. Each of its messages costs a post, a wake-up and a turn of the reader. */
  values: PortTransport;
  posted(): number;
  /** Delivers what has been sent, as `arrive(a, b)` for each value. Returns whether there was anything. */
  deliver(arrive: (value: unknown, bytes: number) => void): boolean;
}

function byPort(): Sides {
  const sent: unknown[][] = [];
  let posted = 0;
  const post = (message: unknown): void => {
    posted++;
    sent.push(structuredClone(message as unknown[]));
  };
  const deliver: Sides["deliver"] = (arrive) => {
    const message = sent.shift() ?? [];
    for (let at = 0; at < message.length; at += frameSlots)
      if (message[at] === Op.Chunk) arrive(message[at + 2], message[at + 3] as number);
    return message.length > 0;
  };
  return { values: new PortTransport({ post }, () => {}), posted: () => posted, deliver };
}

/** A ring of the usual size, whose reader is awake and reads in each turn. */
function byRing(): Sides {
  const { transport, port, arrived, worker } = pair(65_536);
  const deliver: Sides["deliver"] = (arrive) => {
    const some = worker.drain();
    for (const frames of arrived.splice(0))
      for (let at = 0; at < frames.length; at += frameSlots)
        if (frames[at] === Op.Chunk) arrive(frames[at + 2], frames[at + 3] as number);
    return some;
  };
  return { values: transport, posted: () => port.length, deliver };
}

/** Reads a stream to its end. Returns the messages that its values and its credit took. */
async function messagesOf(
  sides: Sides,
  source: () => Iterator<unknown> | AsyncIterator<unknown>,
  window: WindowSetting,
) {
  let grants = 0;
  let ended = false;
  const turns = new FakeTurns();
  const producer = new Producer(source() as AsyncIterator<unknown, unknown, void>, {
    transport: sides.values,
    chunk: (value) => {
      sides.values.send(Op.Chunk, 1, value, 0);
      return 0;
    },
    end: () => {
      ended = true;
    },
    fail: (reason) => expect.unreachable(String(reason)),
  });
  const grantsDue: [number, number][] = [];
  const consumer = new Consumer(
    window,
    {
      grant: (items, bytes) => {
        grants++;
        grantsDue.push([items, bytes]);
      },
      cancel: () => {},
    },
    new TurnBudget(turns),
  );
  let read = 0;
  void (async () => {
    for (let step = await consumer.next(); !step.done; step = await consumer.next()) read++;
  })();
  for (let idle = 0; idle < 5; ) {
    for (let each = 0; each < 150; each++) await settle();
    for (const [items, bytes] of grantsDue.splice(0)) producer.grant(items, bytes);
    for (let each = 0; each < 150; each++) await settle();
    const some = sides.deliver((value, bytes) => {
      expect(consumer.arrived(value, bytes)).toBe(true);
    });
    idle = turns.turn() || some ? 0 : idle + 1;
  }
  expect(ended).toBe(true);
  expect(read).toBe(values);
  return { posted: sides.posted(), grants };
}

describe.each(Object.entries(sources))("a stream of small objects from %s", (_name, source) => {
  test("takes one message by port for at least 140 values, and one grant for 400", async () => {
    const { posted, grants } = await messagesOf(byPort(), source, adaptiveWindow);
    expect(posted).toBeLessThanOrEqual(values / 140);
    expect(grants).toBeLessThanOrEqual(values / 400);
  });

  test("takes at most as many messages with a window of 65,536 values", async () => {
    const { posted, grants } = await messagesOf(byPort(), source, { items: 65_536, bytes: 1 << 26 });
    expect(posted).toBeLessThanOrEqual(values / 140);
    expect(grants).toBeLessThanOrEqual(values / 300);
  });

  test.runIf(typeof SharedArrayBuffer === "function")(
    "takes no message by ring while the reader is awake",
    async () => {
      const { posted } = await messagesOf(byRing(), source, adaptiveWindow);
      expect(posted).toBe(0);
    },
  );
});
