// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import type { ChannelSink, ChannelTransport, CloseReason } from "../../../src/channel/transport/transport.js";

/** Two connected ends. `kill` ends b without a close message, where the transport allows that. */
export interface Connected {
  a: ChannelTransport;
  b: ChannelTransport;
  kill?: () => void;
  /** Called after each test. */
  dispose?: () => void | Promise<void>;
}

/** The limit that the suite requires of each transport. */
export interface Wanted {
  frameBytesMax: number;
}

export type Connect = (wanted: Wanted) => Connected | Promise<Connected>;

/** Records what an end receives, and lets a test wait for it. */
export class Log implements ChannelSink {
  readonly frames: Uint8Array[] = [];
  readonly attachments: (readonly Uint8Array[])[] = [];
  readonly reasons: CloseReason[] = [];
  drains = 0;
  /** Called for each frame, after the log has recorded it. */
  onFrame: ((frame: Uint8Array) => void) | undefined;
  #waiting: { met: () => boolean; go: () => void }[] = [];

  frame(frame: Uint8Array, attachments: readonly Uint8Array[]): void {
    expect(this.reasons).toEqual([]);
    this.frames.push(frame);
    this.attachments.push(attachments);
    this.onFrame?.(frame);
    this.#look();
  }

  drained(): void {
    this.drains++;
    this.#look();
  }

  closed(reason: CloseReason): void {
    this.reasons.push(reason);
    this.#look();
  }

  until(met: () => boolean): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ met, go });
      this.#look();
    });
  }

  count(frames: number): Promise<void> {
    return this.until(() => this.frames.length >= frames);
  }

  async end(): Promise<CloseReason> {
    await this.until(() => this.reasons.length > 0);
    return this.reasons[0]!;
  }

  #look(): void {
    for (const each of this.#waiting.splice(0)) {
      if (each.met()) each.go();
      else this.#waiting.push(each);
    }
  }
}

/** Returns bytes that differ by position and by seed. */
export function pattern(bytes: number, seed = 1): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes).map((_, at) => (at * 31 + seed) & 0xff);
}

const limit = 1 << 20;

/**
 * Tests the contract of every channel transport. Call it once per transport: `channelTransportContract("port", connect)`. `shares` is whether
 * the host shares memory with the other end.
 */
export function channelTransportContract(name: string, connect: Connect, shares = true): void {
  type Run = (ends: Connected & { atA: Log; atB: Log }) => Promise<void>;
  const between = (open: boolean) => (title: string, run: Run) =>
    test(title, async () => {
      const ends = await connect({ frameBytesMax: limit });
      const atA = new Log();
      const atB = new Log();
      if (open) {
        ends.a.open(atA);
        ends.b.open(atB);
      }
      try {
        await run({ ...ends, atA, atB });
      } finally {
        ends.a.close();
        ends.b.close();
        await ends.dispose?.();
      }
    });
  /** Tests of two ends, whose sinks are set before. */
  const opened = between(true);
  const unopened = between(false);

  describe(`the ${name} transport`, () => {
    opened("carries frames whole and in order, in both directions", async ({ a, b, atA, atB }) => {
      for (let index = 0; index < 200; index++) {
        a.send(pattern(index, index));
        b.send(pattern(index, index + 7));
      }
      await Promise.all([atA.count(200), atB.count(200)]);
      expect(atB.frames).toEqual(Array.from({ length: 200 }, (_, index) => pattern(index, index)));
      expect(atA.frames).toEqual(Array.from({ length: 200 }, (_, index) => pattern(index, index + 7)));
    });

    opened("carries frames of every size up to its limit, small ones between large ones", async ({ a, atB }) => {
      const sizes = [0, 1, 7, 8, 9, 253, 254, 255, 256, 4095, 4096, 8192, 65535, 65536, 65537, limit - 1, limit];
      const sent = sizes.flatMap((size) => [size, 3]);
      for (const size of sent) a.send(pattern(size, size));
      await atB.count(sent.length);
      expect(atB.frames.map(({ byteLength }) => byteLength)).toEqual(sent);
      expect(atB.frames.every((frame) => equal(frame, pattern(frame.byteLength, frame.byteLength)))).toBe(true);
    });

    opened("carries a frame that is part of a larger buffer, without the bytes around it", async ({ a, atB }) => {
      const around = pattern(40_000);
      a.send(around.subarray(100, 110));
      a.send(around.subarray(10_000, 30_000));
      await atB.count(2);
      expect(atB.frames).toEqual([pattern(40_000).slice(100, 110), pattern(40_000).slice(10_000, 30_000)]);
      expect(atB.frames.every(({ buffer }) => name === "memory" || buffer.byteLength < 40_000)).toBe(true);
    });

    unopened("keeps frames that arrive before the sink is set", async ({ a, b, atA, atB }) => {
      a.open(atA);
      for (let index = 0; index < 10; index++) a.send(pattern(10, index));
      await new Promise((resolve) => setTimeout(resolve));
      b.open(atB);
      await atB.count(10);
      expect(atB.frames).toEqual(Array.from({ length: 10 }, (_, index) => pattern(10, index)));
    });

    opened("refuses a second sink", async ({ a }) => {
      expect(() => a.open(new Log())).toThrow("sink must be given once");
    });

    opened("refuses a frame over its limit, and keeps working", async ({ a, atB }) => {
      expect(a.frameBytesMax).toBe(limit);
      expect(() => a.send(new Uint8Array(limit + 1))).toThrowError(expect.objectContaining({ code: "too-large" }));
      a.send(pattern(3));
      await atB.count(1);
      expect(atB.frames).toEqual([pattern(3)]);
    });

    opened("moves attachments with a frame, or refuses them", async ({ a, atB }) => {
      const attachment = pattern(50_000);
      if (!a.moves) {
        expect(() => a.send(pattern(3), [attachment])).toThrow("attachments must be");
        expect(attachment.byteLength).toBe(50_000);
        return;
      }
      const other = pattern(3, 9);
      a.send(pattern(8, 2));
      a.send(pattern(8, 3), [attachment, other]);
      a.send(pattern(8, 4));
      expect([attachment.byteLength, other.byteLength]).toEqual([0, 0]);
      await atB.count(3);
      expect(atB.frames).toEqual([pattern(8, 2), pattern(8, 3), pattern(8, 4)]);
      expect(atB.attachments).toEqual([[], [pattern(50_000), pattern(3, 9)], []]);
      for (const each of atB.attachments[1]!) expect(each.buffer.byteLength).toBe(each.byteLength);
    });

    opened("refuses an attachment that is part of its buffer", async ({ a }) => {
      const part = pattern(50).subarray(10, 20);
      expect(() => a.send(pattern(3), [part])).toThrow("attachments must be");
      expect(part).toEqual(pattern(50).slice(10, 20));
    });

    if (shares && typeof SharedArrayBuffer === "function")
      opened("shares shared memory when `shares` is true, and otherwise refuses it", async ({ a, atB }) => {
        const shared = new Uint8Array(new SharedArrayBuffer(64));
        if (!a.shares) return expect(() => a.send(pattern(3), [shared])).toThrow("attachments must be");
        expect(a.moves).toBe(true);
        a.send(pattern(3), [shared.subarray(8, 16)]);
        await atB.count(1);
        shared[8] = 77;
        expect(atB.attachments[0]![0]![0]).toBe(77);
        expect(atB.attachments[0]![0]!.byteLength).toBe(8);
      });

    opened("lets the sink send from inside its frame callback", async ({ a, b, atA, atB }) => {
      atB.onFrame = (frame) => b.send(frame.map((byte) => byte + 1));
      atA.onFrame = (frame) => frame[0]! < 20 && a.send(frame.map((byte) => byte + 1));
      a.send(new Uint8Array([1]));
      await atA.until(() => atA.frames.at(-1)?.[0] === 20);
      expect(atA.frames.map(([first]) => first)).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
    });

    unopened("reports back-pressure, still accepts frames, and then reports a drain", async ({ a, b, atA, atB }) => {
      a.open(atA);
      let sent = 0;
      let room = true;
      for (; room && sent < 10_000; sent++) room = a.send(pattern(60_000, sent));
      expect(room).toBe(false);
      a.send(pattern(60_000, sent++));
      expect(atA.drains).toBe(0);
      b.open(atB);
      await Promise.all([atB.count(sent), atA.until(() => atA.drains > 0)]);
      expect(atB.frames.map(([first]) => first)).toEqual(Array.from({ length: sent }, (_, seed) => seed & 0xff));
      expect(atA.drains).toBe(1);
      expect(a.send(pattern(3))).toBe(true);
    });

    opened(
      "holds frames back between pause() and resume(), and still reports a drain, if it can pause",
      async ({ a, b, atA, atB }) => {
        if (b.pause === undefined || b.resume === undefined) return;
        a.send(pattern(10));
        await atB.count(1);
        b.pause();
        let sent = 0;
        for (let room = true; room && sent < 10_000; sent++) room = a.send(pattern(60_000, sent));
        // b is paused, but a still receives what b sends.
        let answers = 0;
        let full = false;
        while (!full && answers < 100) full = !b.send(pattern(60_000, answers++));
        await Promise.all([atA.count(answers), atB.until(() => atB.drains === (full ? 1 : 0))]);
        expect([atB.frames.length, atA.drains]).toEqual([1, 0]);
        b.resume();
        await Promise.all([atB.count(1 + sent), atA.until(() => atA.drains === 1)]);
        expect(atB.frames.slice(1).map(([first]) => first)).toEqual(
          Array.from({ length: sent }, (_, seed) => seed & 0xff),
        );
      },
    );

    opened("delivers frames that were sent before close(), also to a paused endpoint", async ({ a, b, atB }) => {
      b.pause?.();
      for (let index = 0; index < 50; index++) a.send(pattern(2000, index));
      a.close({ code: "protocol", message: "enough" });
      await new Promise((resolve) => setTimeout(resolve));
      b.resume?.();
      expect(await atB.end()).toEqual({ code: "protocol", message: "enough" });
      expect(atB.frames).toHaveLength(50);
    });

    opened(
      "delivers frames that were sent before close(), then gives both endpoints the reason once",
      async ({ a, atA, atB }) => {
        for (let index = 0; index < 50; index++) a.send(pattern(2000, index));
        const reason = { code: "protocol", message: "enough of it" } as const;
        a.close(reason);
        a.close({ code: "closed", message: "again" });
        expect(atA.reasons).toEqual([]);
        const [here, there] = await Promise.all([atA.end(), atB.end()]);
        expect(atB.frames).toHaveLength(50);
        expect([here, there]).toEqual([reason, reason]);
        await new Promise((resolve) => setTimeout(resolve));
        expect([atA.reasons.length, atB.reasons.length]).toEqual([1, 1]);
      },
    );

    opened("drops frames that are sent after the end, without an error", async ({ a, b, atA, atB }) => {
      a.close();
      expect(a.send(pattern(3))).toBe(false);
      await Promise.all([atA.end(), atB.end()]);
      expect(b.send(pattern(3))).toBe(false);
      expect([a.send(pattern(3)), atA.frames.length, atB.frames.length]).toEqual([false, 0, 0]);
    });

    unopened("gives the reason to a sink that is set after the end", async ({ a, atA }) => {
      a.close();
      a.open(atA);
      expect(atA.reasons).toEqual([]);
      expect(await atA.end()).toMatchObject({ code: "closed" });
    });

    opened("can be closed by both endpoints at once, also from inside a frame callback", async ({ a, b, atA, atB }) => {
      atB.onFrame = () => {
        a.close();
        b.close();
      };
      a.send(pattern(1));
      a.send(pattern(2));
      await Promise.all([atA.end(), atB.end()]);
      expect(atB.frames).toHaveLength(1);
    });

    opened("reports `lost` to an endpoint when the other endpoint disappears", async ({ kill, atA, atB }) => {
      if (kill === undefined) return;
      await new Promise((resolve) => setTimeout(resolve));
      kill();
      expect(await atA.end()).toMatchObject({ code: "lost" });
      expect(atB.reasons.length).toBeLessThan(2);
    });
  });
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
