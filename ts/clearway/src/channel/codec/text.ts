// SPDX-License-Identifier: MIT OR Apache-2.0
import { attaching, codecError, copyInto, input, type MessageCodec, requireMemory } from "./codec.js";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// Maximum length of a text, in bytes, for `readAscii`. Building such a text takes 15 to 35 ns, and the engine's decoder takes
// 75 ns. V8 joins strings of 13 characters or more lazily, and the first read of such a string is expensive.
const shortMax = 12;
const { fromCharCode } = String;

/**
 * Decodes UTF-8 from memory that no other thread writes to. Throws `bad-utf8` with the offset of the first ill-formed sequence.
 */
export function readUtf8(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= shortMax) {
    const text = readAscii(bytes, start, end);
    if (text !== undefined) return text;
  }
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch (cause) {
    throw codecError("bad-utf8", "a text is not UTF-8", validUntil(bytes, start, end), cause);
  }
}

function readAscii(bytes: Uint8Array, start: number, end: number): string | undefined {
  let text = "";
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const a = bytes[at]!;
    const b = bytes[at + 1]!;
    const c = bytes[at + 2]!;
    const d = bytes[at + 3]!;
    if ((a | b | c | d) > 0x7f) return undefined;
    text += fromCharCode(a, b, c, d);
  }
  for (; at < end; at++) {
    const byte = bytes[at]!;
    if (byte > 0x7f) return undefined;
    text += fromCharCode(byte);
  }
  return text;
}

/** Returns the offset of the first ill-formed sequence (Unicode 16, table 3-7), or `end` if there is none. */
function validUntil(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const first = bytes[at]!;
    const more = first < 0x80 ? 0 : first < 0xc2 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : -1;
    if (more < 0 || at + more >= end) return at;
    for (let next = 1; next <= more; next++) {
      const byte = bytes[at + next]!;
      const min = next > 1 ? 0x80 : first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
      const max = next > 1 ? 0xbf : first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
      if (byte < min || byte > max) return at;
    }
    at += more + 1;
  }
  return end;
}

const lone = /\p{Surrogate}/u;

/** Returns whether a text has half of a surrogate pair, which UTF-8 cannot encode. */
export function hasLoneSurrogate(text: string): boolean {
  const { isWellFormed } = text as { isWellFormed?: () => boolean };
  return isWellFormed === undefined ? lone.test(text) : !isWellFormed.call(text);
}

// A cache of map keys, by their bytes. Messages of one kind repeat the same keys. A hit saves the time to build the text, and
// the engine's lookup in its table of property names. The cache holds 512 keys of at most 32 characters (32 KiB), so a peer
// cannot fill the memory with keys.
const slots = 512;
const bytesMax = 32;
const seen: string[] = new Array<string>(slots).fill("");
const seenBytes = new Uint8Array(slots * bytesMax);

/** Decodes UTF-8 like `readUtf8`, with a cache for texts that repeat. */
export function keyText(bytes: Uint8Array, start: number, end: number): string {
  const size = end - start;
  if (size === 0 || size > bytesMax) return readUtf8(bytes, start, end);
  const slot = (size * 67 + bytes[start]! * 31 + bytes[end - 1]! * 17 + bytes[start + (size >> 1)]! * 7) & (slots - 1);
  const key = seen[slot]!;
  const place = slot * bytesMax;
  if (key.length === size) {
    let index = 0;
    while (index < size && seenBytes[place + index] === bytes[start + index]) index++;
    if (index === size) return key;
  }
  const text = readUtf8(bytes, start, end);
  // The cache keeps ASCII texts only. An ASCII text has as many characters as bytes.
  if (text.length === size) {
    seen[slot] = text;
    seenBytes.set(bytes.subarray(start, end), place);
  }
  return text;
}

const encoder = new TextEncoder();

function encodeText(text: string | null): Uint8Array {
  if (text === null) return new Uint8Array();
  if (typeof text !== "string") throw codecError("not-encodable", `a ${typeof text} is no string`, 0);
  if (hasLoneSurrogate(text)) throw codecError("not-encodable", "a text has half of a surrogate pair", 0);
  return encoder.encode(text);
}

/** Encodes text as UTF-8. The empty text and null both have no bytes. A message without bytes decodes as the empty text. */
export const stringCodec: MessageCodec<string, string | null> = {
  name: "string",
  encode: encodeText,
  encodeInto: (text, into, offset = 0) => copyInto(encodeText(text), into, offset),
  decode(message) {
    const { bytes } = input(message, false);
    return readUtf8(bytes, 0, bytes.length);
  },
};

function encodeBytes(bytes: Uint8Array | null): Uint8Array {
  if (bytes === null) return new Uint8Array();
  if (!(bytes instanceof Uint8Array)) throw codecError("not-encodable", "a message of bytes is a Uint8Array", 0);
  if (bytes.length === 0) requireMemory(bytes);
  return bytes;
}

/**
 * Passes bytes through. `encode` returns its argument without a copy. `decode` does not copy owned bytes, unless they are in
 * shared memory; it copies all other bytes.
 */
export const binaryCodec: MessageCodec<Uint8Array, Uint8Array | null> = /* @__PURE__ */ attaching({
  name: "binary",
  encode: encodeBytes,
  encodeInto: (bytes, into, offset = 0) => copyInto(encodeBytes(bytes), into, offset),
  decode(message, { owned = false } = {}) {
    const { bytes, viewsAllowed } = input(message, owned);
    return viewsAllowed ? bytes : bytes.slice();
  },
});
