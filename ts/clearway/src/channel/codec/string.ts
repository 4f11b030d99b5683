// SPDX-License-Identifier: MIT OR Apache-2.0
import type { MessageCodec } from "./codec.js";
import { copyInto } from "./copy-into.js";
import { input } from "./input.js";
import { refusal } from "./refusal.js";
import { hasLoneSurrogate, readUtf8 } from "./utf8.js";

const encoder = new TextEncoder();

function encode(text: string | null): Uint8Array {
  if (text === null) return new Uint8Array();
  if (typeof text !== "string") throw refusal("not-encodable", `a ${typeof text} is no string`, 0);
  if (hasLoneSurrogate(text)) throw refusal("not-encodable", "a text has half of a surrogate pair", 0);
  return encoder.encode(text);
}

/** UTF-8 text. No bytes are the empty text; null has no bytes either. */
export const stringCodec: MessageCodec<string, string | null> = {
  name: "string",
  encode,
  encodeInto: (text, into, offset = 0) => copyInto(encode(text), into, offset),
  decode(message) {
    const { bytes } = input(message, false);
    return readUtf8(bytes, 0, bytes.length);
  },
};
