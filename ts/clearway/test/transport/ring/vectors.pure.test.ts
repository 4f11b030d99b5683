// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import vectors from "../../../../../spec/vectors/ring.json" with { type: "json" };
import { Op } from "../../../src/transport/protocol.js";
import { viewTypes } from "../../../src/transport/ring/decode.js";
import { Encoder } from "../../../src/transport/ring/encode.js";
import * as layout from "../../../src/transport/ring/layout.js";
import { decoded } from "./pair.js";

const hex = (words: Int32Array): string =>
  [...words].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join(" ");

/** Decodes the vectors' notation: an object with one key that begins with `$` is a value that JSON does not have. */
function revive(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(revive);
  const [key, inside] = Object.entries(value)[0] ?? [];
  if (key === "$undefined") return undefined;
  if (key === "$number") return inside === "-0" ? -0 : Number(inside);
  if (key === "$units") return String.fromCharCode(...(inside as number[]));
  if (key === "$bytes") {
    const [kind, bytes] = inside as [string, number[]];
    const { buffer } = Uint8Array.from(bytes);
    const Type = viewTypes.find((each) => each?.name === kind);
    return Type === undefined ? buffer : new Type(buffer);
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, revive(each)]));
}

describe("the ring's vectors (spec/vectors/ring.json)", () => {
  test("have the library's offsets in bytes", () => {
    const bytes = (words: object): object =>
      Object.fromEntries(Object.entries(words).map(([name, word]) => [name, word * 4]));
    const { toWorker, toCaller, ...first } = layout.at;
    expect(vectors.layout).toEqual({
      magic: layout.magic,
      version: layout.version,
      headerBytes: layout.headerBytes,
      offsets: { ...bytes(first), toWorker: bytes(toWorker), toCaller: bytes(toCaller) },
    });
    for (const word of [...Object.values(toWorker), ...Object.values(toCaller)]) expect((word * 4) % 128).toBe(0);
  });

  test("have the library's limits, tags and kinds of memory", () => {
    const { frameWordsMax, depthMax, objectsMax, binaryBytesMax, Tag } = layout;
    expect(vectors.limits).toEqual({ frameWordsMax, depthMax, objectsMax, binaryBytesMax });
    expect(vectors.tags).toEqual(Object.fromEntries(Object.entries(Tag).filter(([, tag]) => typeof tag === "number")));
    expect(vectors.kinds).toEqual(viewTypes.map((type) => type?.name ?? "ArrayBuffer"));
  });

  test.each(vectors.frames)("have the words of $op $id $a $b", ({ op, id, a, b, words }) => {
    const encoder = new Encoder();
    const count =
      op === "Mark" ? encoder.mark(id) : encoder.frame(Op[op as keyof typeof Op], id, revive(a), revive(b), true);
    expect(hex(encoder.words.subarray(0, count))).toBe(words);
    if (op === "Mark") return;
    expect(decoded(encoder.words, count)).toEqual([revive(a), revive(b)]);
  });

  test.each(vectors.broken)("have words that are refused: $why", ({ words }) => {
    const frame = Int32Array.from(words.split(" "), (word) => Number.parseInt(word, 16));
    expect(() => decoded(frame)).toThrow(expect.objectContaining({ code: "protocol" }));
  });
});
