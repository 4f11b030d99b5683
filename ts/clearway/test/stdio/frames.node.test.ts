// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import type { CloseReason } from "../../src/channel/transport/transport.js";
import {
  closeBytesMax,
  closeFrame,
  FrameReader,
  frameHeader,
  headerBytes,
  kindClose,
  kindFrame,
  magic,
  sizeAt,
} from "../../src/stdio/frames.js";
import fc from "../fixtures/fast-check.js";

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
        else expect(allocated[1]).toBe(size);
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
