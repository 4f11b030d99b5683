// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Rules } from "../../error/checked.js";
import {
  type Codec,
  type CodecLimits,
  checkError,
  codecError,
  copyInto,
  defaultLimits,
  input,
  type LimitOptions,
  limitRules,
  type MessageCodec,
  type MethodCall,
  type MethodCodec,
  type MethodReply,
  outOfBand,
} from "./codec.js";
import { readUtf8 } from "./text.js";

const encoder = new TextEncoder();

const [quote, backslash, comma, colon, openList, closeList, openMap, closeMap] = [
  0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d,
];

/**
 * Throws `too-deep` if JSON is nested deeper than `depthMax`, and `too-large` if it has more than `valuesMax` values. Every
 * opening bracket, comma and colon counts as one value. This counts a key and its value as two, and an empty list or object as
 * one more. JSON with fewer bytes than both limits is not scanned. Engines parse JSON of any depth, but code that then walks the
 * value recursively overflows the stack.
 */
function checkNesting(bytes: Uint8Array, depthMax: number, valuesMax: number): void {
  if (bytes.length <= Math.min(depthMax, valuesMax)) return;
  let depth = 0;
  let values = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inText) {
      if (byte === backslash) at++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === openList || byte === openMap) {
      if (depth++ === depthMax) throw codecError("too-deep", `values are nested deeper than ${depthMax}`, 0);
      values++;
    } else if (byte === closeList || byte === closeMap) depth--;
    else if (byte === comma || byte === colon) values++;
    if (values > valuesMax) throw codecError("too-large", `more than ${valuesMax} values`, 0);
  }
}

// Finds the escapes of JSON. The group matches the escape of half of a surrogate pair without the other half.
const escapes = /\\(?:u[dD][89a-bA-B][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|.)/g;

/** Returns whether valid JSON has an escape of half of a surrogate pair, which UTF-8 cannot represent. */
function hasHalfPair(text: string): boolean {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return false;
  for (const [, half] of text.matchAll(escapes)) if (half !== undefined) return true;
  return false;
}

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
  if (hasHalfPair(text)) throw codecError("not-encodable", "a text has half of a surrogate pair", 0);
  return bytes;
}

/**
 * Decodes UTF-8 JSON. No other thread may write to the bytes. Throws `malformed` for what is no JSON in UTF-8, without saying where; `too-deep`; and
 * `too-large` if the message has more values than the endpoint accepts.
 */
function fromJson(bytes: Uint8Array, { depthMax }: CodecLimits): unknown {
  const { valuesMax = Number.POSITIVE_INFINITY } = outOfBand;
  outOfBand.valuesMax = undefined;
  checkNesting(bytes, depthMax, valuesMax);
  let cause: unknown;
  try {
    const text = readUtf8(bytes, 0, bytes.length);
    const value = JSON.parse(text);
    if (!hasHalfPair(text)) return value;
  } catch (error) {
    cause = error;
  }
  throw codecError("malformed", "not a JSON text", 0, cause);
}

const jsonRules: Rules = { depthMax: limitRules.depthMax };

/** Settings of a JSON codec. */
export interface JsonOptions extends Pick<LimitOptions, "depthMax"> {}

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
