// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { WorkerRingPort } from "../../../src/task/worker-ring-port.js";
import { PortTransport } from "../../../src/transport/port.js";
import { frameSlots, Op } from "../../../src/transport/protocol.js";
import { at } from "../../../src/transport/ring/layout.js";
import { ReceiveRing, type RingOffsets, SendRing } from "../../../src/transport/ring/ring.js";
import { RingPort } from "../../../src/transport/ring/ring-port.js";
import fc from "../../fixtures/fast-check.js";
import { ringMemory } from "./pair.js";

const place: RingOffsets = { tail: 0, head: 32, data: 64, capacity: 64 };

function ring(start = 0) {
  const words = new Int32Array(new SharedArrayBuffer((64 + place.capacity) * 4));
  words[place.tail] = words[place.head] = start;
  return { words, send: new SendRing(words, place), receive: new ReceiveRing(words, place) };
}

function frameOf(length: number, value: number): Int32Array {
  return Int32Array.from([length << 8, ...new Array(length - 1).fill(value)]);
}

function take(receive: ReceiveRing): number[][] {
  const frames: number[][] = [];
  receive.loadTail();
  for (let count = receive.read(); count > 0; count = receive.read()) {
    frames.push([...receive.frame.subarray(0, count)]);
    receive.take(count);
  }
  receive.release();
  return frames;
}

describe.runIf(typeof SharedArrayBuffer === "function")("a ring", () => {
  test("delivers frames of any length in order, also when it wraps and when it is full", () => {
    const step = fc.oneof(fc.integer({ min: 2, max: 40 }), fc.constant("take" as const));
    fc.assert(
      fc.property(fc.nat(40), fc.array(step, { maxLength: 60 }), (start, steps) => {
        const { send, receive } = ring(start);
        const sent: number[][] = [];
        const got: number[][] = [];
        let used = 0;
        steps.forEach((each, at) => {
          if (each === "take") {
            got.push(...take(receive));
            used = 0;
            return;
          }
          const frame = frameOf(each, at);
          const fits = used + each <= place.capacity;
          expect(send.write(frame, each)).toBe(fits);
          send.publish();
          if (!fits) return;
          used += each;
          sent.push([...frame]);
        });
        got.push(...take(receive));
        expect(got).toEqual(sent);
      }),
    );
  });

  test.each([2 ** 31 - 100, 2 ** 32 - 100])("keeps working when its 32-bit indices overflow, from %i", (start) => {
    const { words, send, receive } = ring(start);
    for (let at = 0; at < 10; at++) {
      for (let each = 0; each < 3; each++) expect(send.write(frameOf(21, at), 21)).toBe(true);
      expect(send.write(frameOf(2, at), 2)).toBe(false);
      send.publish();
      expect(take(receive)).toHaveLength(3);
    }
    expect([words[place.tail], words[place.head]]).toEqual([(start + 630) | 0, (start + 630) | 0]);
  });

  test("hides frames before they are published", () => {
    const { send, receive } = ring();
    send.write(frameOf(3, 1), 3);
    expect([receive.waiting, take(receive)]).toEqual([false, []]);
    send.publish();
    expect([receive.waiting, take(receive).length]).toEqual([true, 1]);
  });

  test("is read only up to the tail at the time of look()", () => {
    const { send, receive } = ring();
    send.write(frameOf(3, 1), 3);
    send.publish();
    receive.loadTail();
    send.write(frameOf(3, 2), 3);
    send.publish();
    receive.take(receive.read());
    expect(receive.read()).toBe(0);
    expect(take(receive)).toEqual([[3 << 8, 2, 2]]);
  });

  test.each<[string, (words: Int32Array) => void]>([
    ["a tail before the head", (words) => words.fill(-1, place.tail, place.tail + 1)],
    ["a tail further than the ring is long", (words) => words.fill(65, place.tail, place.tail + 1)],
    ["a frame with one word", (words) => words.set([1 << 8], place.data)],
    ["a frame of zero words", (words) => words.set([0], place.data)],
    ["a frame longer than what was published", (words) => words.set([9 << 8], place.data)],
    ["a frame longer than any may be", (words) => words.set([0xffffff << 8], place.data)],
  ])("that contains %s throws an error, and does not loop", (_name, harm) => {
    const { words, send, receive } = ring();
    send.write(frameOf(4, 1), 4);
    send.publish();
    harm(words);
    expect(() => take(receive)).toThrow(expect.objectContaining({ code: "protocol" }));
  });

  test.each([-65, -1, 1, 65])("whose head is off by %i throws an error at the sender when it reads the head", (off) => {
    const { words, send } = ring();
    for (let at = 0; at < 2; at++) send.write(frameOf(32, 1), 32);
    send.publish();
    words[place.head] = off < 0 ? off : 64 + off;
    expect(() => send.write(frameOf(2, 1), 2)).toThrow(expect.objectContaining({ code: "protocol" }));
  });

  test("with arbitrary words is read in bounded time, to frames or an error", () => {
    fc.assert(
      fc.property(fc.int32Array({ minLength: 128, maxLength: 128 }), fc.nat(64), (noise, tail) => {
        const { words, receive } = ring();
        words.set(noise);
        words[place.tail] = tail;
        words[place.head] = 0;
        try {
          expect(take(receive).flat().length).toBe(tail);
        } catch (reason) {
          expect(reason).toMatchObject({ code: "protocol" });
        }
      }),
    );
  });
});

const quiet = { broken: () => {}, copied: () => {}, drained: () => {}, busy: () => false };

/** Connects a worker, which can send by port before its ring is open, with a caller that is awake. */
function opening() {
  const memory = ringMemory(4096);
  const port: unknown[] = [];
  const values: unknown[] = [];
  const take = (op: Op, a: unknown): void => void (op === Op.Chunk && values.push(a));
  const caller = new RingPort(
    memory,
    "caller",
    { post: () => {} },
    {
      ...quiet,
      message: (frames) => {
        for (let slot = 0; slot < frames.length; slot += frameSlots) take(frames[slot] as Op, frames[slot + 2]);
      },
      frame: (op, _id, a) => take(op, a),
    },
  );
  const endpoint = { post: (message: unknown) => void port.push(structuredClone(message)) };
  const transport = new PortTransport(endpoint, () => {});
  const open = (): void => {
    transport.flush();
    transport.ring = new WorkerRingPort(memory, endpoint, { ...quiet, message: () => {}, frame: () => {} });
  };
  return { caller, transport, open, port, values, words: new Int32Array(memory) };
}

describe.runIf(typeof SharedArrayBuffer === "function")("a worker's ring", () => {
  test("does not overtake frames that left by port before it was opened", () => {
    const { caller, transport, open, port, values } = opening();
    for (let value = 0; value < 6; value++) transport.send(Op.Chunk, 7, value, 0);
    open();
    transport.send(Op.Chunk, 7, 6, 0);
    transport.flush();
    // The caller reads the ring before its event loop delivers the port's messages.
    caller.drain();
    expect(values).toEqual([]);
    while (port.length > 0) {
      caller.receive(port.shift());
      caller.drain();
    }
    expect(values).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test("wakes a parked caller when it opens, so that its frames are read", () => {
    const { caller, transport, open, port, values, words } = opening();
    words[at.toCaller.parked] = 1;
    open();
    transport.send(Op.Chunk, 7, 0, 0);
    transport.flush();
    expect(port.length).toBeGreaterThan(0);
    while (port.length > 0) caller.receive(port.shift());
    expect(values).toEqual([0]);
  });
});
