// SPDX-License-Identifier: MIT OR Apache-2.0
import { PassThrough, Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { FrameReader, frameHeader, joinFrames } from "../../src/stdio/frames.js";
import { streamTransport } from "../../src/stdio/stdio-transport.js";
import { pattern } from "../channel/transports/contract.js";

/** A stream that counts what would be system calls: a write, or the chunks of one `writev`. */
class Counted extends Writable {
  readonly calls: Buffer[] = [];

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.calls.push(chunk);
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.calls.push(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    done();
  }
}

const framed = (...frames: Uint8Array[]): Buffer =>
  Buffer.concat(frames.flatMap((frame) => [frameHeader(frame.byteLength), frame]));

describe("a transport over streams", () => {
  test("writes the first frame of a tick at once, and the others in one write at its end", async () => {
    const writable = new Counted();
    const transport = streamTransport({ readable: new PassThrough(), writable });
    const frames = Array.from({ length: 50 }, (_, at) => pattern(at % 3 === 0 ? 5000 : at, at));
    transport.send(frames[0]!);
    expect(writable.calls).toEqual([framed(frames[0]!)]);
    for (const frame of frames.slice(1, 10)) transport.send(frame);
    expect(writable.calls).toHaveLength(1);
    await Promise.resolve();
    expect(writable.calls).toEqual([framed(frames[0]!), framed(...frames.slice(1, 10))]);
    transport.send(frames[10]!);
    expect(writable.calls).toHaveLength(3);
    for (const frame of frames.slice(11)) transport.send(frame);
    transport.close();
    expect(Buffer.concat(writable.calls).subarray(0, framed(...frames).length)).toEqual(framed(...frames));
  });

  test("writes the replies to the frames of one piece in one write", () => {
    const readable = new PassThrough();
    const writable = new Counted();
    const transport = streamTransport({ readable, writable });
    return new Promise<void>((resolve) => {
      let left = 20;
      transport.open({
        frame(frame) {
          transport.send(frame);
          if (--left > 0) return;
          expect(writable.calls).toEqual([]);
          queueMicrotask(() => {
            expect(writable.calls).toEqual([framed(...Array.from({ length: 20 }, (_, at) => pattern(at, at)))]);
            resolve();
          });
        },
        drained: () => {},
        closed: () => {},
      });
      readable.write(framed(...Array.from({ length: 20 }, (_, at) => pattern(at, at))));
    });
  });

  test("counts waiting frames against the window", () => {
    const transport = streamTransport({ readable: new PassThrough(), writable: new Counted() }, { windowBytes: 5000 });
    expect(transport.send(pattern(10))).toBe(true);
    expect(transport.send(pattern(3000))).toBe(true);
    expect(transport.send(pattern(3000))).toBe(false);
  });
});

describe("joined frames", () => {
  test("have the bytes of the frames, and copy only small ones", () => {
    for (const sizes of [[0], [1, 0, 4096], [4097], [4097, 4097], [1, 5000, 2, 3, 9000], [5000, 1], []]) {
      const frames = sizes.map((size, at) => pattern(size, at));
      const chunks = joinFrames(frames);
      expect(Buffer.concat(chunks)).toEqual(framed(...frames));
      for (const frame of frames) if (frame.byteLength > 4096) expect(chunks).toContain(frame);
    }
  });
});

describe("a piece that is one frame", () => {
  const read = (piece: Uint8Array): { frames: Uint8Array[]; ends: string[] } => {
    const frames: Uint8Array[] = [];
    const ends: string[] = [];
    const reader = new FrameReader(10_000, {
      frame: (frame) => void frames.push(frame),
      end: ({ code }) => void ends.push(code),
    });
    reader.push(piece);
    return { frames, ends };
  };

  test("is not copied, unless it would keep a larger buffer alive or is not aligned", () => {
    const whole = new Uint8Array(framed(pattern(100)));
    const [view] = read(whole).frames;
    expect(view).toEqual(pattern(100));
    expect(view?.constructor).toBe(Uint8Array);
    expect(view?.buffer).toBe(whole.buffer);
    for (const [around, from] of [
      [4096, 64],
      [120, 3],
    ] as const) {
      const part = new Uint8Array(around).subarray(from, from + whole.length);
      part.set(whole);
      const [copied] = read(part).frames;
      expect(copied).toEqual(pattern(100));
      expect(copied?.buffer).not.toBe(part.buffer);
    }
  });

  test("is checked as any other", () => {
    const tooLarge = new Uint8Array(framed(pattern(10_001)));
    expect(read(tooLarge).ends).toEqual(["too-large"]);
    const other = new Uint8Array(framed(pattern(100)));
    other[3] = 7;
    expect(read(other)).toEqual({ frames: [], ends: ["protocol"] });
  });
});
