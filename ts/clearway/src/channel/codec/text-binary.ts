// SPDX-License-Identifier: MIT OR Apache-2.0
import { codecError, copyInto, input, type MessageCodec, requireMemory } from "./codec.js";
import { hasLoneSurrogate, readUtf8 } from "./utf8.js";

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
export const binaryCodec: MessageCodec<Uint8Array, Uint8Array | null> = {
  name: "binary",
  encode: encodeBytes,
  encodeInto: (bytes, into, offset = 0) => copyInto(encodeBytes(bytes), into, offset),
  decode(message, { owned = false } = {}) {
    const { bytes, viewsAllowed } = input(message, owned);
    return viewsAllowed ? bytes : bytes.slice();
  },
};
