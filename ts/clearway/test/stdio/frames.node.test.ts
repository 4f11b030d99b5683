// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { PassThrough, Writable } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import type { CloseReason } from "../../src/channel/transport/transport.js";
import {
  closeBytesMax,
  closeFrame,
  FrameReader,
  frameHeader,
  headerBytes,
  joinFrames,
  kindClose,
  kindFrame,
  magic,
  sizeAt,
} from "../../src/stdio/frames.js";
import { streamTransport } from "../../src/stdio.js";
import { channelTransportContract, Log, pattern } from "../channel/transports/contract.js";
import { useFakeTimers } from "../fixtures/fake-timers.js";
import fc from "../fixtures/fast-check.js";
import { socketPair } from "./socket-pair.js";

interface Vector {
  name: string;
  hex: string;
  frames: string[];
  end: Partial<CloseReason> | null;
  inside: boolean;
}

const file = new URL("../../../../spec/vectors/stdio.json", import.meta.url);
const { streams, frameBytesMax } = JSON.parse(readFileSync(file, "utf8")) as {
  streams: Vector[];
  frameBytesMax: number;
};

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Reads a stream that arrives in these pieces, and returns its frames and ends. */
function read(pieces: Uint8Array[]): { frames: string[]; ends: CloseReason[]; inside: boolean } {
  const frames: string[] = [];
  const ends: CloseReason[] = [];
  const reader = new FrameReader(frameBytesMax, {
    frame: (frame) => {
      expect(ends).toEqual([]);
      frames.push(hex(frame));
    },
    end: (reason) => ends.push(reason),
  });
  for (const piece of pieces) reader.push(piece);
  return { frames, ends, inside: reader.inside };
}

/** Returns the header of a frame of this kind that announces `size` bytes. */
function headerOf(kind: number, size: number): Uint8Array {
  const header = Uint8Array.from([...magic, kind, 0, 0, 0, 0]);
  new DataView(header.buffer).setUint32(sizeAt, size, true);
  return header;
}

/** Returns a `Uint8Array` that notes the length of each array that is made by length. */
const recording = (allocated: number[]): Uint8ArrayConstructor =>
  new Proxy(Uint8Array, {
    construct(target, [given, ...rest], newTarget) {
      if (typeof given === "number") allocated.push(given);
      return Reflect.construct(target, [given, ...rest], newTarget);
    },
  });

describe("frames on a stream", () => {
  test.each(streams)(
    "$name: is decoded when it arrives whole, and byte by byte",
    ({ hex: text, frames, end, inside }) => {
      const bytes = Buffer.from(text, "hex");
      for (const found of [read([bytes]), read([...bytes].map((byte) => new Uint8Array([byte])))]) {
        expect(found.frames).toEqual(frames);
        expect(found.ends).toHaveLength(end === null ? 0 : 1);
        if (end !== null) expect(found.ends[0]).toMatchObject(end);
        else expect(found.inside).toBe(inside);
      }
    },
  );

  test("decode from pieces of any size", () => {
    const bodies = fc.array(fc.uint8Array({ maxLength: frameBytesMax }), { maxLength: 8 });
    fc.assert(
      fc.property(bodies, fc.array(fc.nat(40)), (all, cuts) => {
        const stream = Buffer.concat(all.flatMap((body) => [frameHeader(body.length), body]));
        const pieces: Uint8Array[] = [];
        let at = 0;
        for (const cut of cuts) {
          pieces.push(stream.subarray(at, at + cut));
          at += cut;
        }
        pieces.push(stream.subarray(at));
        expect(read(pieces)).toEqual({ frames: all.map(hex), ends: [], inside: false });
      }),
    );
  });

  const begun = fc.constantFrom([], [0x43], [0x43, 0x57, 1], [0x43, 0x57, 1, 0], [0x43, 0x57, 1, 1, 4, 0, 0, 0]);

  test("decode from any bytes or end the stream, and no frame exceeds the limit", () => {
    fc.assert(
      fc.property(begun, fc.uint8Array(), (start, rest) => {
        const { frames, ends } = read([new Uint8Array([...start, ...rest])]);
        expect(ends.length).toBeLessThan(2);
        for (const frame of frames) expect(frame.length / 2).toBeLessThanOrEqual(frameBytesMax);
      }),
    );
  });

  test("allocate at most the limit, whatever size they announce", () => {
    const sizes = fc.oneof(fc.nat({ max: frameBytesMax + 2 }), fc.nat({ max: closeBytesMax + 2 }), fc.nat(0xffff_ffff));
    fc.assert(
      fc.property(fc.constantFrom(kindFrame, kindClose), sizes, fc.uint8Array(), (kind, size, rest) => {
        const stream = new Uint8Array([...headerOf(kind, size), ...rest]);
        const allocated: number[] = [];
        vi.stubGlobal("Uint8Array", recording(allocated));
        let ends: CloseReason[];
        try {
          ({ ends } = read([stream]));
        } finally {
          vi.unstubAllGlobals();
        }
        const bytesMax = kind === kindFrame ? frameBytesMax : closeBytesMax;
        expect(allocated[0]).toBe(headerBytes);
        if (size > bytesMax) expect([allocated.length, ends[0]?.code]).toEqual([1, "too-large"]);
        // A frame that is there as a whole may be a part of what arrived.
        else if (rest.length < size) expect(allocated[1]).toBe(size);
        else expect([undefined, size]).toContain(allocated[1]);
        for (const bytes of allocated) expect(bytes).toBeLessThanOrEqual(Math.max(frameBytesMax, closeBytesMax));
      }),
    );
  });

  test("end the stream at a printed line, with the line and its position in the reason", () => {
    const { ends } = read([frameHeader(0), Buffer.from("Compiling 3 files…\n")]);
    expect(ends[0]).toMatchObject({
      message:
        'something that is no frame, at byte 8: "Compiling 3 files…\\n"; does the other end print to its standard output?',
    });
  });

  test("have a close reason that is cut when it is too long", () => {
    const [end] = read([
      closeFrame({ code: "failed", message: "\u0000".repeat(100_000), cause: new Error("here") }),
    ]).ends;
    expect(end).toEqual({ code: "failed", message: "\u0000".repeat(1000) });
  });
});

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

  test("delivers frames that had arrived before it gave the other end up, although this thread was blocked", async () => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const [back, there] = [new PassThrough(), new PassThrough()];
    const log = new Log();
    streamTransport({ readable: back, writable: there }).open(log);
    there.destroy();
    await once(there, "close");
    vi.advanceTimersByTime(1000);
    back.end(framed(pattern(5)));
    await log.end();
    expect(log.frames).toEqual([pattern(5)]);
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

channelTransportContract("stdio, over sockets", async (wanted) => {
  const [one, other] = await socketPair();
  return {
    a: streamTransport({ readable: one, writable: one }, wanted),
    b: streamTransport({ readable: other, writable: other }, wanted),
    kill: () => other.resetAndDestroy(),
    dispose: () => {
      one.destroy();
      other.destroy();
    },
  };
});

channelTransportContract("stdio, over pairs of streams", (wanted) => {
  const there = new PassThrough();
  const back = new PassThrough();
  return {
    a: streamTransport({ readable: back, writable: there }, wanted),
    b: streamTransport({ readable: there, writable: back }, wanted),
    kill: () => {
      back.end();
      there.destroy();
    },
  };
});

test("a transport that is closed before it is opened tells the other end, and releases its streams", async () => {
  const [one, other] = await socketPair();
  const transport = streamTransport({ readable: one, writable: one });
  const there = new Promise<CloseReason>((closed) => {
    const sink = { frame: () => {}, drained: () => {}, closed };
    streamTransport({ readable: other, writable: other }).open(sink);
  });
  transport.close({ code: "refused", message: "full" });
  expect(await there).toMatchObject({ code: "refused" });
  // The socket was read to its end, and closed.
  if (!one.closed) await once(one, "close");
  const reason = new Promise<CloseReason>((closed) => transport.open({ frame: () => {}, drained: () => {}, closed }));
  expect(await reason).toMatchObject({ code: "refused", message: "full" });
});
