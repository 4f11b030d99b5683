// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { standardMethodCodec } from "../../../src/channel/codec/standard.js";
import { connect, type Endpoint } from "../../../src/channel/endpoint/endpoint.js";
import type { EndpointOptions, ListenOptions } from "../../../src/channel/endpoint/options.js";
import type { EventSink } from "../../../src/channel/endpoint/source.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { type ChannelTransport, messageBytes } from "../../../src/channel/transport/transport.js";
import { Op, readFrame, writeFrame } from "../../../src/channel/wire/frame.js";
import type { Window } from "../../../src/stream/credit.js";
import type { Log } from "../transports/contract.js";
import { answerBytes, bare, call, endWithTest, rejection, text, turn, withoutPause } from "./pairs.js";

describe("an endpoint that listens and stops at once", () => {
  test.each(["generators", "sinks"])("runs at most callsMax sources at once: %s", async (kind) => {
    const { end, there, log } = await bare({ callsMax: 4 });
    there.open(log);
    let running = 0;
    const waiting: (() => void)[] = [];
    const work = async (): Promise<void> => {
      running++;
      await new Promise<void>((resolve) => waiting.push(resolve));
      running--;
    };
    if (kind === "generators")
      end.events("e").serve(async function* () {
        await work();
        yield 1;
      });
    else end.events("e").serve((_, _sink: EventSink) => work());
    const body = new Uint8Array([7, 6, ...text.encode("listen"), 0]);
    for (let id = 1; id <= 300; id++) {
      there.send(writeFrame({ op: Op.listen, id, name: text.encode("e"), a: 9, b: 9, body }));
      await turn();
      there.send(writeFrame({ op: Op.stop, id }));
    }
    await turn();
    expect(running).toBe(4);
    for (const go of waiting.splice(0)) go();
    await turn();
    there.send(writeFrame({ op: Op.listen, id: 301, name: text.encode("e"), a: 9, b: 9, body }));
    await turn();
    expect(running).toBe(1);
  });
});

describe("a listener whose transport has no room", () => {
  test("gives its credit back in one frame, once there is room", async () => {
    const { end, there, log } = await bare();
    const events = end
      .events("e")
      .listen(null, { window: { items: 4 } })
      [Symbol.asyncIterator]();
    void end.messages("m").post(new Uint8Array(2000)); // more than the window
    const body = new Uint8Array([0, 3, 1, 0, 0, 0]);
    for (let n = 0; n < 4; n++) {
      there.send(writeFrame({ op: Op.event, id: 1, body }));
      expect((await events.next()).value).toBe(1);
    }
    there.open(log);
    const credits = (): number[] =>
      log.frames.map((bytes) => readFrame(bytes, [])!).flatMap(({ op, a }) => (op === Op.credit ? [a] : []));
    await log.until(() => credits().length > 0);
    expect(credits()).toEqual([4]);
  });
});

describe("an endpoint that listens and never reads", () => {
  const body = new Uint8Array([7, 6, ...text.encode("listen"), 0]);
  const listen = (id: number): Uint8Array =>
    writeFrame({ op: Op.listen, id, name: text.encode("e"), a: 9, b: 9, body });
  const ended = (log: Log): number[] =>
    log.frames.map((bytes) => readFrame(bytes, [])!).flatMap(({ op, id }) => (op === Op.end ? [id] : []));

  /** What an end serves, by what happens to its streams when the other end listens in a loop. */
  const ways: Record<string, (end: Endpoint) => void> = {
    "too many before their handler comes": () => {},
    refused: (end) => end.messages("e").handle(() => undefined),
  };

  describe.each(Object.keys(ways))("when its streams are %s", (way) => {
    /** Listens a thousand times. */
    async function flood(options: EndpointOptions, change?: (transport: ChannelTransport) => ChannelTransport) {
      const made = await bare({ replyBytesMax: 20_000, ...options }, change);
      ways[way]!(made.end);
      for (let id = 1; id <= 1000; id++) made.there.send(listen(id));
      await turn();
      return made;
    }

    test("has at most replyBytesMax bytes of stream ends waiting for it, and no further frames of it are read", async () => {
      const { end } = await flood({});
      const { waitingBytes } = end.stats();
      expect(waitingBytes).toBeGreaterThanOrEqual(20_000);
      expect(waitingBytes).toBeLessThan(20_000 + 100);
    });

    test("receives the end of every stream, in order, when it reads later", async () => {
      const { end, there, log } = await flood({});
      there.open(log);
      const kept = way.startsWith("too many") ? 16 : 0; // the default of `early`
      const last = 1000 - kept;
      await log.until(() => ended(log).length === last);
      expect(ended(log)).toEqual(Array.from({ length: last }, (_, at) => at + 1));
      expect(end.stats().waitingBytes).toBe(0);
    });

    test("is disconnected at once when it goes on over a transport that cannot be paused", async () => {
      const { end, there } = await flood({ replyBytesMax: 1 << 30, callsMax: 10 }, withoutPause);
      for (let id = 2000; id < 12_000; id++) there.send(listen(id));
      expect(await end.closed).toMatchObject({ code: "timeout" });
      expect(end.stats()).toMatchObject({ serving: 0, waitingBytes: 0 });
    });
  });

  test.each(["wait", "fail", "dropOldest", "dropNewest"] as const)(
    "makes at most replyBytesMax bytes of pushed events wait, at any requested capacity: %s",
    async (whenFull) => {
      const { end, there } = await bare({ replyBytesMax: 50_000 });
      const results: Promise<unknown>[] = [];
      end.events("e").serve(
        (_, sink: EventSink) => {
          for (let n = 0; n < 500; n++) results.push(sink.send(new Uint8Array(answerBytes)).catch(({ code }) => code));
        },
        { whenFull },
      );
      end.events("other").serve((_, sink: EventSink) => {
        for (let n = 0; n < 500; n++) void sink.send(new Uint8Array(answerBytes)).catch(() => {});
      });
      const body = new Uint8Array([7, 6, ...text.encode("listen"), 0]);
      for (const [id, name] of ["e", "other"].entries())
        there.send(writeFrame({ op: Op.listen, id, name: text.encode(name), a: 1, b: 1, c: 0xffff, body }));
      await turn();
      expect(end.stats().waitingBytes).toBeGreaterThanOrEqual(50_000);
      // One event may exceed the limit. In each stream, one call of `send` may always wait, and the first event may leave.
      expect(end.stats().waitingBytes).toBeLessThan(50_000 + 4 * (answerBytes + 200));
      end.terminate();
      const settled = await Promise.all(results);
      expect(settled.filter((each) => each === true).length).toBeGreaterThan(whenFull === "dropOldest" ? 400 : 40);
      if (whenFull === "fail" || whenFull === "wait") expect(settled.at(-1)).toBe("queue-full");
      expect(end.stats().waitingBytes).toBe(0);
    },
  );

  /** Pushes events of these sizes to a listener without credit, for which 20,000 bytes may wait. */
  async function pushed(...sizes: number[]) {
    const { end, there } = await bare({ replyBytesMax: 20_000 });
    const taken: Promise<boolean>[] = [];
    end.events("e").serve((_, sink: EventSink) => {
      for (const size of sizes) taken.push(sink.send(new Uint8Array(size)));
    });
    const dropOldest = 3 << 4;
    const name = text.encode("e");
    there.send(writeFrame({ op: Op.listen, id: 1, name, a: 0, b: 0, c: 0xffff, flags: dropOldest, body }));
    await turn();
    return end.stats().waitingBytes;
  }

  test("is charged for each pushed event as an object too", async () => {
    const bytes = standardMethodCodec.reply.encode({ kind: "success", value: new Uint8Array(0) }).length;
    expect(await pushed(...Array<number>(100).fill(0))).toBe(100 * (bytes + messageBytes));
    expect(await pushed(...Array<number>(1000).fill(0))).toBeLessThan(20_000 + bytes + messageBytes);
  });

  test("has as many small events dropped as a large one takes", async () => {
    const sizes = [...Array<number>(150).fill(0), ...Array<number>(50).fill(answerBytes)];
    expect(await pushed(...sizes)).toBeLessThan(20_000 + answerBytes + 200);
  });
});

/** Returns all events of a stream. */
async function all(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const each of stream) events.push(each);
  return events;
}

describe("a listener that does not read", () => {
  /** Sends `count` events with attachments of these sizes to a stream with this window, and its end. */
  async function events(count: number, sizes: number[], window: Window, replyBytesMax: number) {
    const { end, there } = await bare({ replyBytesMax });
    const stream = end.events("e").listen(null, { window });
    const message = { body: new Uint8Array(2), inlineAttachments: sizes.map((size) => new Uint8Array(size)) };
    for (let n = 0; n < count; n++) there.send(writeFrame({ op: Op.event, id: 1 }, message));
    there.send(writeFrame({ op: Op.end, id: 1 }));
    await turn();
    return { end, stream };
  }

  // The window explains 2 * 1000 + 100 * 128 bytes, and 10,000 more may wait. An event with 100 empty attachments is charged 12,930.
  const window = { items: 100, bytes: 1000 };
  const empty = Array<number>(100).fill(0);

  test("keeps events with empty attachments up to the memory that its window explains", async () => {
    const { stream } = await events(2, empty, window, 10_000);
    expect(await all(stream)).toEqual([null, null]);
  });

  test("ends the transport with protocol when events with empty attachments take more", async () => {
    const { end } = await events(3, empty, window, 10_000);
    expect(await end.closed).toEqual({ code: "protocol", message: "events with too many small attachments: e" });
  });

  test("keeps a window full of events whose attachments have 128 bytes", async () => {
    const sizes = Array<number>(100).fill(128);
    const { stream } = await events(8, sizes, { items: 8, bytes: 8 * 12_802 }, 1);
    expect(await all(stream)).toHaveLength(8);
  });

  test("is not charged for events that it has read", async () => {
    const { end, there } = await bare({ replyBytesMax: 10_000 });
    const stream = end.events("e").listen(null, { window });
    const inlineAttachments = empty.map((size) => new Uint8Array(size));
    for (let n = 0; n < 20; n++) {
      there.send(writeFrame({ op: Op.event, id: 1 }, { body: new Uint8Array(2), inlineAttachments }));
      await turn();
      expect((await stream.next()).value).toBe(null);
    }
  });
});

describe("a listener on the plain wire that does not read", () => {
  /** Sends events of these sizes, each with its place as its bytes, to a listener that may keep 10,000 bytes. */
  async function events(options: ListenOptions, ...sizes: number[]) {
    const [transport, there] = memoryPair();
    const end = await connect(transport, { wire: "plain", hello: false, replyBytesMax: 10_000 });
    endWithTest(end);
    const stream = end.events("e").listen<Uint8Array>(null, options);
    for (const [at, size] of sizes.entries()) {
      const body = standardMethodCodec.reply.encode({ kind: "success", value: new Uint8Array(size).fill(at) });
      there.send(writeFrame({ op: Op.message, name: text.encode("e"), body }));
    }
    await turn();
    return stream;
  }

  test("ends with queue-full when the events exceed replyBytesMax", async () => {
    const stream = await events({}, 4000, 4000, 4000);
    expect(await rejection(stream.next())).toMatchObject({
      code: "queue-full",
      message: "e: the reader is 2 events behind",
    });
  });

  test("drops the oldest events when the events exceed replyBytesMax", async () => {
    const stream = await events({ whenFull: "dropOldest" }, 4000, 4000, 4000, 9000, 100);
    const read = [await stream.next(), await stream.next()];
    expect(read.map(({ value }) => (value as Uint8Array)[0])).toEqual([3, 4]);
    expect(stream.dropped).toBe(3);
  });

  test("keeps one event that is larger than replyBytesMax", async () => {
    const stream = await events({ whenFull: "dropNewest" }, 20_000, 1);
    expect((await stream.next()).value).toHaveLength(20_000);
  });
});

describe("an endpoint whose stream is stopped before its handler comes", () => {
  test("serves only the later stream of the same number", async () => {
    const { end, there } = await bare();
    const listen = (args: string): void => {
      const body = new Uint8Array([7, 6, ...text.encode("listen"), 7, args.length, ...text.encode(args)]);
      there.send(writeFrame({ op: Op.listen, id: 1, name: text.encode("e"), a: 9, b: 9, body }));
    };
    listen("first");
    there.send(writeFrame({ op: Op.stop, id: 1 }));
    listen("second");
    await turn();
    const served: unknown[] = [];
    end.events("e").serve((args, _sink: EventSink) => void served.push(args));
    await turn();
    expect([served, end.stats().serving]).toEqual([["second"], 1]);
  });
});

describe("an endpoint that asks for answers to events on the plain wire and never reads", () => {
  test("is disconnected when too many answers wait", async () => {
    const [transport, there] = memoryPair({ windowBytes: 1000 });
    const end = await connect(transport, { wire: "plain", hello: false, callsMax: 10 });
    endWithTest(end);
    end.events("e").listen(null, { whenFull: "dropOldest" });
    const parts = { op: Op.message, name: text.encode("e"), body: new Uint8Array(9) };
    for (let id = 1; id <= 10_000; id++) there.send(writeFrame({ ...parts, id }));
    expect(await end.closed).toMatchObject({
      code: "timeout",
      message: expect.stringContaining("reads no answers and goes on calling"),
    });
    expect(end.stats()).toMatchObject({ listening: 0, waitingBytes: 0 });
  });
});

describe("events and calls of an end go on while the other end keeps many large replies in flight", () => {
  const body = new Uint8Array([7, 6, ...text.encode("listen"), 0]);

  test.each(["a generator", "an async generator", "a sink"])("events from %s, calls and posts", async (kind) => {
    const { end, there, log } = await bare();
    end.messages("m").handle(() => new Uint8Array(answerBytes));
    const event = new Uint8Array(answerBytes);
    end.events("e").serve((_, sink: EventSink) => {
      if (kind === "a sink") return void Promise.all(Array.from({ length: 100 }, () => sink.send(event)));
      if (kind === "a generator") return Array.from({ length: 100 }, () => event);
      return (async function* () {
        for (let at = 0; at < 100; at++) yield event;
      })();
    });
    let last = 0;
    while (last < 20) there.send(call(++last));
    await turn();
    there.send(writeFrame({ op: Op.listen, id: 1, name: text.encode("e"), a: 100, b: 1 << 20, body: body }));
    await turn();
    void rejection(end.messages("n").send(event));
    void end.messages("n").post(event);
    const seen: number[] = [];
    // The other end reads one message at a time, and calls again for each reply.
    log.onFrame = (bytes) => {
      const { op } = readFrame(bytes, [])!;
      seen.push(op);
      there.pause!();
      if (op === Op.reply) there.send(call(++last));
    };
    there.open(log);
    for (let read = 0; read < 60; read++) {
      await turn();
      there.resume!();
    }
    const count = (op: number): number => seen.filter((each) => each === op).length;
    expect(count(Op.event)).toBeGreaterThan(5);
    expect(count(Op.reply)).toBeGreaterThan(10);
    expect([count(Op.call), count(Op.post)]).toEqual([1, 1]);
  });
});
