// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import type { OnRefused, Transport } from "../../src/transport/port.js";
import { frameSlots, Op } from "../../src/transport/protocol.js";
import { movable } from "../fixtures/capabilities.js";

/** A carrier and its other end, for the suite. */
export interface Carried {
  transport: Transport;
  /** Waits until nothing is in flight. Returns the received messages, one entry each. */
  arrived(): Promise<unknown[][]>;
}

/** Splits a message into its frames, four slots each. */
export function framesOf(message: unknown[]): unknown[][] {
  const frames: unknown[][] = [];
  for (let at = 0; at < message.length; at += frameSlots) frames.push(message.slice(at, at + frameSlots));
  return frames;
}

function lockedStream(): object {
  const stream = new ReadableStream();
  stream.getReader();
  return stream;
}

// The reads of the tag throw, and so does every other use.
const unreadableTag = (): object => ({
  get [Symbol.toStringTag](): string {
    throw new Error("no tag");
  },
});

type Refusal = Parameters<OnRefused>;

/**
 * Tests the contract of every carrier. Call it once per carrier: `carrierContract("port", make)`. A carrier that sends `atOnce` does not
 * gather the frames of a tick.
 */
export function carrierContract(name: string, make: (refused: OnRefused) => Carried, atOnce = false): void {
  const start = (): Carried & { refusals: Refusal[]; ids(): Promise<unknown[]> } => {
    const refusals: Refusal[] = [];
    const carried = make((...refusal) => refusals.push(refusal));
    const ids = async (): Promise<unknown[]> =>
      (await carried.arrived()).flatMap((message) => framesOf(message).map((frame) => frame[1]));
    return { ...carried, refusals, ids };
  };

  describe(`the ${name} carrier`, () => {
    test("carries the frames of one tick in one message, in order", async () => {
      const { transport, arrived } = start();
      for (let id = 1; id <= 100; id++) transport.send(Op.Result, id, { value: id }, id * 2);
      const messages = await arrived();
      expect(messages).toHaveLength(1);
      expect(framesOf(messages[0]!)).toEqual(
        Array.from({ length: 100 }, (_, at) => [Op.Result, at + 1, { value: at + 1 }, (at + 1) * 2]),
      );
    });

    test("carries the frames of a later tick in a later message", async () => {
      const { transport, arrived } = start();
      transport.send(Op.Result, 1, "a");
      await Promise.resolve();
      await Promise.resolve();
      transport.send(Op.Result, 2, "b");
      const messages = await arrived();
      expect(messages.map((message) => message[1])).toEqual([1, 2]);
    });

    test("sends on flush() at once, and only once", async () => {
      const { transport, arrived } = start();
      transport.send(Op.Result, 1);
      transport.flush();
      transport.flush();
      transport.send(Op.Result, 2);
      const lengths = (await arrived()).map((message) => message.length);
      expect(lengths).toEqual(atOnce ? [2 * frameSlots] : [frameSlots, frameSlots]);
    });

    test("moves memory in the transfer list, and copies the rest", async () => {
      const { transport, arrived } = start();
      const moved = new Uint8Array(8).fill(1);
      const copied = new Uint8Array(8).fill(2);
      transport.send(Op.Result, 1, { moved, copied }, 0, [moved.buffer]);
      const [message] = await arrived();
      expect(message![2]).toEqual({ moved: new Uint8Array(8).fill(1), copied: new Uint8Array(8).fill(2) });
      expect([moved.byteLength, copied.byteLength]).toEqual([0, 8]);
    });

    test("refuses only a frame that cannot be encoded; the others arrive in order", async () => {
      const { transport, refusals, ids } = start();
      const kept = new Uint8Array(8);
      const gone = new Uint8Array(8);
      transport.send(Op.Result, 1, gone, 0, [gone.buffer]);
      transport.send(Op.Result, 2, [() => 1, kept], 0, [kept.buffer]);
      transport.send(Op.Result, 3, "c");
      transport.send(Op.Chunk, 4, Symbol("s"));
      transport.send(Op.Result, 5, "e");
      expect(await ids()).toEqual([1, 3, 5]);
      expect(refusals.map(([op, id]) => [op, id])).toEqual([
        [Op.Result, 2],
        [Op.Chunk, 4],
      ]);
      expect(refusals[0]![3]).toMatchObject({ name: "DataCloneError" });
      expect(refusals[0]![4]).toEqual([kept.buffer]);
      expect([gone.byteLength, kept.byteLength]).toEqual([0, 8]);
    });

    test("carries hundreds of calls of one tick in order, without those that cannot be encoded and with what moves", async () => {
      const { transport, refusals, ids } = start();
      const bad = [1, 127, 128, 129, 256, 257, 400];
      const moved = Array.from({ length: 401 }, () => new Uint8Array(8));
      for (let id = 1; id <= 400; id++) {
        const transfer = id % 50 === 0 ? [moved[id]!.buffer] : [];
        transport.send(Op.Call, id, 0, [bad.includes(id) ? () => id : id, moved[id]], transfer);
      }
      const all = Array.from({ length: 400 }, (_, at) => at + 1);
      expect(await ids()).toEqual(all.filter((id) => !bad.includes(id)));
      expect(refusals.map(([op, id]) => [op, id])).toEqual(bad.map((id) => [Op.Call, id]));
      expect(all.filter((id) => moved[id]!.byteLength === 0)).toEqual([50, 100, 150, 200, 250, 300, 350]);
    });

    test.each([
      ["a locked stream", lockedStream],
      ["an object whose string tag throws", unreadableTag],
    ])("refuses only a frame that transfers %s; memory in the other frames arrives", async (_what, make) => {
      const { transport, refusals, ids } = start();
      const bad = make();
      const [before, after] = [new Uint8Array(8), new Uint8Array(8)];
      const open = movable();
      transport.send(Op.Result, 1, before, 0, [before.buffer]);
      transport.send(Op.Result, 2, { open }, 0, [open]);
      transport.send(Op.Result, 3, { bad }, 0, [bad]);
      transport.send(Op.Result, 4, after, 0, [after.buffer]);
      expect(await ids()).toEqual([1, 2, 4]);
      expect(refusals.map(([op, id]) => [op, id])).toEqual([[Op.Result, 3]]);
    });

    test("refuses a single frame after one attempt", async () => {
      const { transport, refusals, ids } = start();
      let reads = 0;
      const value = {
        get once() {
          reads++;
          return () => 1;
        },
      };
      transport.send(Op.Result, 1, value);
      expect(await ids()).toEqual([]);
      expect(refusals).toHaveLength(1);
      expect(reads).toBe(1);
    });

    test("refuses the second of two frames that transfer the same object", async () => {
      const { transport, refusals, ids } = start();
      const bytes = new Uint8Array(8);
      transport.send(Op.Result, 1, bytes, 0, [bytes.buffer]);
      transport.send(Op.Result, 2, bytes, 0, [bytes.buffer]);
      transport.send(Op.Result, 3, "c");
      expect(await ids()).toEqual([1, 3]);
      expect(refusals.map(([, id]) => id)).toEqual([2]);
    });

    test("sends frames from inside a refusal", async () => {
      let transport!: Transport;
      const carried = make((_op, id) => transport.send(Op.Failure, id, "refused"));
      transport = carried.transport;
      transport.send(Op.Result, 1, () => 1);
      transport.send(Op.Result, 2, "b");
      const frames = (await carried.arrived()).flatMap(framesOf);
      expect(frames.map((frame) => frame.slice(0, 2))).toEqual([
        [Op.Result, 2],
        [Op.Failure, 1],
      ]);
    });

    test("carries nothing after close(), and drops frames that it has not sent yet", async () => {
      const { transport, ids } = start();
      transport.send(Op.Result, 1);
      transport.close();
      transport.send(Op.Result, 2);
      transport.flush();
      expect(await ids()).toEqual(atOnce ? [1] : []);
    });
  });
}
