// SPDX-License-Identifier: MIT OR Apache-2.0

import { checkError } from "./check-error.js";
import type { Codec, MethodCall, MethodCodec, MethodReply } from "./codec.js";
import { copyInto } from "./copy-into.js";
import { input } from "./input.js";
import type { JsonOptions } from "./json-message.js";
import { fromJson, toJson } from "./json-text.js";
import { type CodecLimits, checkLimits, defaultLimits } from "./limits.js";
import { refusal } from "./refusal.js";

/** The JSON codec of methods. */
export interface JsonMethodCodec extends MethodCodec {
  /** The same codec with other settings. Throws `invalid-argument`. */
  with(options: JsonOptions): JsonMethodCodec;
}

function half<T>(encode: (value: T) => Uint8Array, decode: (bytes: Uint8Array) => T): Codec<T> {
  return {
    name: "json-method",
    encode,
    encodeInto: (value, into, offset = 0) => copyInto(encode(value), into, offset),
    decode: (message) => decode(input(message, false).bytes),
  };
}

function writeCall({ method, args }: MethodCall, limits: CodecLimits): Uint8Array {
  if (typeof method !== "string") throw refusal("not-encodable", "a method's name is no string", 0);
  return toJson({ method, args: args ?? null }, limits);
}

function readCall(bytes: Uint8Array, limits: CodecLimits): MethodCall {
  const call = fromJson(bytes, limits);
  if (call === null || typeof call !== "object" || Array.isArray(call)) throw noCall();
  const { method, args = null } = call as Partial<MethodCall>;
  if (typeof method !== "string") throw noCall();
  return { method, args };
}

function writeReply(reply: MethodReply, limits: CodecLimits): Uint8Array {
  if (reply.kind === "none") return new Uint8Array();
  if (reply.kind === "success") return toJson([reply.value ?? null], limits);
  const { code, message, details = null, stack } = checkError(reply);
  return toJson(stack === undefined ? [code, message, details] : [code, message, details, stack], limits);
}

function readReply(bytes: Uint8Array, limits: CodecLimits): MethodReply {
  if (bytes.length === 0) return { kind: "none" };
  const reply = fromJson(bytes, limits);
  if (!Array.isArray(reply)) throw noReply();
  if (reply.length === 1) return { kind: "success", value: reply[0] };
  const [code, message, details, stack] = reply as unknown[];
  const wrong = typeof code !== "string" || !isTextOrNull(message);
  if (wrong || reply.length < 3 || reply.length > 4) throw noReply();
  if (reply.length === 3) return { kind: "error", code, message, details };
  if (!isTextOrNull(stack)) throw noReply();
  return { kind: "error", code, message, details, stack };
}

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === "string";
const noCall = (): Error => refusal("malformed", 'a call is not {"method": …, "args": …}', 0);
const noReply = (): Error => refusal("malformed", "a reply is neither [value] nor [code, message, details]", 0);

function methodsWith(limits: CodecLimits): JsonMethodCodec {
  // The envelope is no level.
  const inside = { ...limits, depthMax: limits.depthMax + 1 };
  return {
    name: "json-method",
    call: half(
      (call) => writeCall(call, inside),
      (bytes) => readCall(bytes, inside),
    ),
    reply: half(
      (reply) => writeReply(reply, inside),
      (bytes) => readReply(bytes, inside),
    ),
    with: (options) => methodsWith(checkLimits(options, limits)),
  };
}

/** UTF-8 JSON calls `{"method": …, "args": …}` and replies `[value]` or `[code, message, details]`. */
export const jsonMethodCodec: JsonMethodCodec = methodsWith(defaultLimits);
