// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { MessageCodec } from "./codec.js";
import { copyInto } from "./copy-into.js";
import { input } from "./input.js";
import { refusal } from "./refusal.js";

function encode(bytes: Uint8Array | null): Uint8Array {
  if (bytes === null) return new Uint8Array();
  if (!(bytes instanceof Uint8Array)) throw refusal("not-encodable", "a message of bytes is a Uint8Array", 0);
  if (bytes.length === 0) requireMemory(bytes);
  return bytes;
}

function requireMemory({ buffer }: Uint8Array): void {
  try {
    new Uint8Array(buffer);
  } catch (cause) {
    throw new ClearwayError("released", "the bytes were moved away before they were written", { cause });
  }
}

/**
 * Bytes as they are. `encode` returns the very bytes it was given and copies nothing; so does `decode` where they are owned,
 * else it copies.
 */
export const binaryCodec: MessageCodec<Uint8Array, Uint8Array | null> = {
  name: "binary",
  encode,
  encodeInto: (bytes, into, offset = 0) => copyInto(encode(bytes), into, offset),
  decode(message, { owned = false } = {}) {
    const { bytes, owned: ours } = input(message, owned);
    return ours ? bytes : bytes.slice();
  },
};
