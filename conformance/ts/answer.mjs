// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers one case for TypeScript. Runs in Node and in a browser.
import {
  binaryCodec,
  isCodecError,
  jsonMessageCodec,
  jsonMethodCodec,
  standardMessageCodec,
  standardMethodCodec,
  stringCodec,
} from "clearway/channel";
import { read, readPlain, write } from "./notation.mjs";

// `emptyNull` is off, because a vector is a value and not a message: null has its type byte. `lossless` keeps 1 and 1.0 different.
const messages = {
  standard: { codec: standardMessageCodec.with({ lossless: true, emptyNull: false }), read },
  json: { codec: jsonMessageCodec, read: readPlain },
  string: { codec: stringCodec, read },
  binary: { codec: binaryCodec, read },
};

const methods = {
  "standard-method": { codec: standardMethodCodec.with({ lossless: true }), read },
  "json-method": { codec: jsonMethodCodec, read: readPlain },
};

/** Returns the answer to a case. The case and the answer are lines of JSON without a line feed. */
export function answerLine(line) {
  let asked;
  try {
    asked = JSON.parse(line);
  } catch {
    return JSON.stringify({ id: null, error: { code: "invalid-argument", offset: 0 } });
  }
  return JSON.stringify(answer(asked));
}

/** Returns the answer to a case: the case's id, and `hex`, `value` or `error`. */
export function answer({ id = null, ...asked }) {
  try {
    if (asked.op === "encode") return { id, hex: toHex(encode(asked)) };
    if (asked.op === "decode") {
      const value = decode(asked);
      // In a channel, zero bytes decode as "no reply". This case decodes an envelope, and zero bytes are a truncated envelope.
      return value === undefined ? { id, error: { code: "truncated", offset: 0 } } : { id, value };
    }
  } catch (thrown) {
    if (isCodecError(thrown)) return { id, error: { code: thrown.code, offset: thrown.offset } };
  }
  // The case itself is invalid, for example with an odd number of hex digits. It did not reach a codec.
  return { id, error: { code: "invalid-argument", offset: 0 } };
}

function encode({ codec: name, value }) {
  if (Object.hasOwn(messages, name)) return messages[name].codec.encode(messages[name].read(value));
  const { codec, read } = methods[name];
  if ("call" in value) return codec.call.encode({ method: value.call.method, args: read(value.call.args ?? null) });
  if ("success" in value) return codec.reply.encode({ kind: "success", value: read(value.success) });
  const { code, message, details, stacktrace } = value.error;
  const stack = stacktrace === undefined ? {} : { stack: stacktrace };
  return codec.reply.encode({ kind: "error", code, message, details: read(details ?? null), ...stack });
}

function decode({ codec: name, hex, as }) {
  const bytes = fromHex(hex);
  if (Object.hasOwn(messages, name)) return write(messages[name].codec.decode(bytes));
  const { codec } = methods[name];
  if (as === "call") {
    const { method, args } = codec.call.decode(bytes);
    return { call: { method, args: write(args) } };
  }
  const reply = codec.reply.decode(bytes);
  if (reply.kind === "success") return { success: write(reply.value) };
  if (reply.kind === "none") return undefined;
  const { code, message, details, stack } = reply;
  return {
    error: { code, message, details: write(details), ...(stack === undefined ? {} : { stacktrace: stack }) },
  };
}

function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(hex) {
  if (!/^([0-9a-f]{2})*$/i.test(hex)) throw new TypeError("not hex");
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) => Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16));
}
