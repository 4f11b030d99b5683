// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Rules } from "../../error/checked.js";
import { copyInto, input } from "./bytes.js";
import {
  type Codec,
  type CodecLimits,
  defaultLimits,
  limitRules,
  type MessageCodec,
  type MethodCall,
  type MethodCodec,
  type MethodReply,
} from "./codec.js";
import { checkError, codecError, isCodecError } from "./codec-error.js";
import { checkNesting, jsonError } from "./json-check.js";
import { outOfBand } from "./out-of-band.js";
import { readUtf8 } from "./utf8.js";

const encoder = new TextEncoder();

// Matches an escape that may be half of a surrogate pair. `JSON.stringify` writes unpaired surrogates as such escapes. Only a
// text that matches needs the slower check.
const escapedSurrogate = /\\u[dD][89a-fA-F]/;

/** Encodes a value as UTF-8 JSON. Throws `not-encodable` and `too-deep`. */
export function toJson(value: unknown, { depthMax }: CodecLimits): Uint8Array {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    if (cause instanceof RangeError)
      throw codecError("too-deep", `values are nested deeper than ${depthMax}`, 0, cause);
    throw codecError("not-encodable", "JSON has no form for the value", 0, cause);
  }
  if (text === undefined) throw codecError("not-encodable", `JSON has no form for a ${typeof value}`, 0);
  const bytes = encoder.encode(text);
  checkNesting(bytes, depthMax, Number.POSITIVE_INFINITY);
  if (escapedSurrogate.test(text) && jsonError(bytes, depthMax))
    throw codecError("not-encodable", "a text has half of a surrogate pair", 0);
  return bytes;
}

/**
 * Decodes UTF-8 JSON. No other thread may write to the bytes. Throws `bad-utf8`, `malformed`, `truncated`, `trailing-bytes`,
 * `too-deep`. Throws `too-large` if the message has more values than the endpoint accepts.
 */
export function fromJson(bytes: Uint8Array, { depthMax }: CodecLimits): unknown {
  const { valuesMax = Number.POSITIVE_INFINITY } = outOfBand;
  outOfBand.valuesMax = undefined;
  let value: unknown;
  let text: string;
  try {
    text = readUtf8(bytes, 0, bytes.length);
    checkNesting(bytes, depthMax, valuesMax);
    value = JSON.parse(text);
  } catch (cause) {
    if (isCodecError(cause) && cause.code === "too-large") throw cause;
    // `readUtf8`, `checkNesting` and `JSON.parse` do not report the first wrong byte of the whole message. `jsonError` scans
    // the bytes again to find it.
    throw jsonError(bytes, depthMax, cause) ?? cause;
  }
  const wrong = escapedSurrogate.test(text) ? jsonError(bytes, depthMax) : undefined;
  if (wrong) throw wrong;
  return value;
}

const jsonRules: Rules = { depthMax: limitRules.depthMax };

/** Settings of a JSON codec. */
export interface JsonOptions extends Partial<Pick<CodecLimits, "depthMax">> {}

/** The JSON message codec. */
export interface JsonMessageCodec extends MessageCodec<unknown> {
  /** Returns the same codec with other settings. Throws `invalid-argument`. */
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
    with: (options) => jsonWith(checked(options, jsonRules, limits) as CodecLimits),
  };
}

/**
 * Encodes messages as UTF-8 JSON. The message for null has no bytes. Values are encoded like those of `JSON.stringify`: NaN
 * becomes null, and lists of bytes become objects. A key `__proto__` is decoded as an own property.
 */
export const jsonMessageCodec: JsonMessageCodec = jsonWith(defaultLimits);

/** The JSON method codec. */
export interface JsonMethodCodec extends MethodCodec {
  /** Returns the same codec with other settings. Throws `invalid-argument`. */
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
  if (typeof method !== "string") throw codecError("not-encodable", "a method's name is no string", 0);
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
const noCall = (): Error => codecError("malformed", 'a call is not {"method": …, "args": …}', 0);
const noReply = (): Error => codecError("malformed", "a reply is neither [value] nor [code, message, details]", 0);

function methodsWith(limits: CodecLimits): JsonMethodCodec {
  // The array or object around a call or a reply does not count as a nesting level.
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
    with: (options) => methodsWith(checked(options, jsonRules, limits) as CodecLimits),
  };
}

/**
 * Encodes calls as UTF-8 JSON `{"method": …, "args": …}`, and replies as `[value]` or `[code, message, details]`. An error with
 * a stack trace has the trace as its fourth value.
 */
export const jsonMethodCodec: JsonMethodCodec = methodsWith(defaultLimits);
