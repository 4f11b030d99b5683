// SPDX-License-Identifier: MIT OR Apache-2.0
import type { MessageCodec } from "./codec.js";
import { copyInto } from "./copy-into.js";
import { input } from "./input.js";
import { fromJson, toJson } from "./json-text.js";
import { type CodecLimits, checkLimits, defaultLimits } from "./limits.js";

/** What can be set on a JSON codec. */
export interface JsonOptions extends Partial<Pick<CodecLimits, "depthMax">> {}

/** The JSON codec of messages. */
export interface JsonMessageCodec extends MessageCodec<unknown> {
  /** The same codec with other settings. Throws `invalid-argument`. */
  with(options: JsonOptions): JsonMessageCodec;
}

const none = new Uint8Array();

function jsonWith(limits: CodecLimits): JsonMessageCodec {
  const encode = (value: unknown): Uint8Array =>
    value === null || value === undefined ? none.slice() : toJson(value, limits);
  return {
    name: "json",
    encode,
    encodeInto: (value, into, offset = 0) => copyInto(encode(value), into, offset),
    decode(message) {
      const { bytes } = input(message, false);
      return bytes.length === 0 ? null : fromJson(bytes, limits);
    },
    with: (options) => jsonWith(checkLimits(options, limits)),
  };
}

/**
 * UTF-8 JSON messages; a message of null has no bytes. Values are written as `JSON.stringify` writes them: NaN is null, lists
 * of bytes are objects. A key `__proto__` is read as a property of the object itself.
 */
export const jsonMessageCodec: JsonMessageCodec = jsonWith(defaultLimits);
