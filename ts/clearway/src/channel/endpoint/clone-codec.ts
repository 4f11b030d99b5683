// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Codec, MessageCodec, MethodCall, MethodCodec, MethodReply } from "../codec/codec.js";
import { codecError } from "../codec/codec-error.js";
import { standardMessageCodec, standardMethodCodec } from "../codec/standard.js";
import type { ValueFrame } from "../transport/value-frame.js";
import { Flag, type FrameParts, Op } from "../wire/frame.js";
import type { OutgoingValue } from "./outgoing-value.js";

// The codecs of a channel that names none, between two ends that take values by structured clone. They encode nothing: the connection sends
// their values as they are. If the other end names the standard codec for the channel, its messages are bytes, which these codecs read.

/** The message codec of values by structured clone. */
export const cloneMessageCodec: MessageCodec<unknown> = { ...standardMessageCodec, name: "clone" };

/** The method codec of values by structured clone. */
export const cloneMethodCodec: MethodCodec = {
  name: "clone",
  call: { ...standardMethodCodec.call, name: "clone" },
  reply: { ...standardMethodCodec.reply, name: "clone" },
};

/** Returns the name of a method. Throws `not-encodable` if it is no string, as the other codecs do. */
export function checkMethod(method: string): string {
  if (typeof method !== "string") throw codecError("not-encodable", "a method's name is no string", 0);
  return method;
}

/**
 * Returns the message of a frame for a channel's codec. A channel that names a codec reads the bytes that the standard codec makes of the
 * value, as if the other end had sent them. Throws a `CodecError`, with the remedy, for a value that this codec cannot read.
 */
export function readCloned<T>(codec: Codec<T, never>, { op, method, value }: ValueFrame): T {
  if (codec === (cloneMethodCodec.reply as unknown)) return { kind: "success", value } satisfies MethodReply as T;
  if (codec === (cloneMessageCodec as unknown)) return value as T;
  if (codec === (cloneMethodCodec.call as unknown)) {
    if (method === undefined) throw codecError("malformed", "a call without a method", 0);
    return { method, args: value } satisfies MethodCall as T;
  }
  try {
    return codec.decode(standardBytes(op !== Op.call && codec.name.endsWith("-method"), method, value));
  } catch (cause) {
    const what = `the other end sent a value by structured clone, which the codec "${codec.name}" of this end cannot read. Name the same codec at both ends`;
    throw codecError("malformed", what, 0, cause);
  }
}

function standardBytes(isReply: boolean, method: string | undefined, value: unknown): Uint8Array {
  if (method !== undefined) return standardMethodCodec.call.encode({ method, args: value });
  if (isReply) return standardMethodCodec.reply.encode({ kind: "success", value });
  return standardMessageCodec.encode(value);
}

/** Returns the frame of a value, or a frame without a message. */
export function valueFrame(parts: FrameParts, flags: number, message: OutgoingValue | undefined): ValueFrame {
  const { op, id = 0, a = 0, b = 0, c = 0, channel = "" } = parts;
  return {
    op,
    flags: message ? flags | Flag.value : flags,
    // As in a frame of bytes.
    id: id >>> 0,
    a: a >>> 0,
    b: b >>> 0,
    c,
    name: parts.name ? channel : "",
    method: message?.method,
    value: message?.value,
    bytes: message ? message.bytes : 0,
    copied: message ? message.copiedBytes : 0,
    moved: message ? message.movedBytes : 0,
    shared: message ? message.sharedBytes : 0,
  };
}
