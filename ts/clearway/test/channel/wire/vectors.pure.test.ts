// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import vectors from "../../../../../spec/vectors/channel.json" with { type: "json" };
import {
  Flag,
  headBytes,
  helloMagic,
  Op,
  readFrame,
  readHello,
  Status,
  wireVersion,
  writeFrame,
  writeHello,
} from "../../../src/channel/wire/frame.js";
import fc, { cases } from "../../fixtures/fast-check.js";

interface Parts {
  op: number;
  flags?: number;
  id?: number;
  a?: number;
  b?: number;
  c?: number;
  channel?: string;
  body?: string;
  inside?: string[];
  beside?: number;
}

const bytes = (hex = ""): Uint8Array => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const hex = (data: Uint8Array): string => [...data].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const numbers = (of: object): object =>
  Object.fromEntries(Object.entries(of).filter(([, value]) => typeof value === "number"));

describe("the frames of channels (spec/vectors/channel.json):", () => {
  test("ops, statuses and flags have the spec's numbers", () => {
    expect(vectors).toMatchObject({ headBytes, helloMagic, version: wireVersion });
    // Only frames that ports post as values have the flag `value`. Frames of bytes never have it.
    const { value: _, ...flags } = Flag;
    expect([vectors.ops, vectors.status, vectors.flags]).toEqual([numbers(Op), numbers(Status), flags]);
  });

  test.each(vectors.frames as { name: string; parts: Parts; hex: string }[])("$name", ({ parts, hex: expected }) => {
    const { op, flags = 0, id = 0, a = 0, b = 0, c = 0, channel, body, inside = [], beside = 0 } = parts;
    const written = writeFrame({
      op,
      flags,
      id,
      a,
      b,
      c,
      name: bytes(channel),
      body: bytes(body),
      inlineAttachments: inside.map(bytes),
      separateCount: beside,
    });
    expect(hex(written)).toBe(expected);
    const besides = Array.from({ length: beside }, () => new Uint8Array(1));
    const read = readFrame(bytes(expected), besides);
    expect(read).toEqual({
      op,
      flags: flags | (inside.length > 0 ? Flag.inside : 0),
      id,
      a,
      b,
      c,
      name: bytes(channel),
      body: bytes(body),
      attachments: beside > 0 ? besides : inside.map(bytes),
    });
  });

  test.each(vectors.refused)("bytes that are not a frame are refused: $name", ({ hex: wrong }) => {
    expect(readFrame(bytes(wrong), [])).toBeUndefined();
  });

  test("padding bytes of any value are read like zeros", () => {
    for (const each of vectors.frames as { parts: Parts; hex: string }[]) {
      const besides = Array.from({ length: each.parts.beside ?? 0 }, () => new Uint8Array(1));
      const data = bytes(each.hex);
      const expected = readFrame(bytes(each.hex), besides);
      const nameBytes = (each.parts.channel ?? "").length / 2;
      data.fill(255, headBytes + nameBytes, headBytes + Math.ceil(nameBytes / 8) * 8);
      expect(readFrame(data, besides)).toEqual(expected);
    }
  });

  test("a hello decodes to its fields, also with further bytes after them", () => {
    const hello = { version: 1, wires: ["clearway", "plain"] as const, frameBytesMax: 1, nameBytesMax: 2, callsMax: 3 };
    const frame = readFrame(writeHello(hello), []);
    expect(frame && readHello(frame)).toEqual(hello);
    expect(frame && readHello({ ...frame, body: new Uint8Array([...frame.body, 1, 2, 3, 4]) })).toEqual(hello);
  });

  test("any bytes decode to a frame or to none, without an exception", () => {
    const near = fc
      .tuple(
        fc.constantFrom(...vectors.frames.map((each) => each.hex)),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }))),
      )
      .map(([good, changes]) => {
        const data = bytes(good);
        for (const [at, value] of changes) data[at % data.length] = value;
        return data;
      });
    fc.assert(
      fc.property(fc.oneof(near, fc.uint8Array({ maxLength: 200 })), (data) => {
        const frame = readFrame(data, []);
        if (frame) for (const each of frame.attachments) expect(each.length).toBeLessThanOrEqual(data.length);
      }),
      { numRuns: cases(2000) },
    );
  });
});
