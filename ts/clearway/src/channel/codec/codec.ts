// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";

/** Encodes and decodes the values of a channel. A codec has no state, so any number of channels can share it. */
export interface Codec<T, Written = T> {
  /** The codec's name, for error messages and meters. */
  readonly name: CodecName;

  /**
   * Encodes a value into new memory of the message's exact size. The caller owns that memory. Copies the bytes of each list once; copies
   * long lists last, after walking the whole value. Everything else goes through a scratch buffer, which the thread
   * keeps for its next message up to 1 MiB. Does not block.
   * Throws a {@link CodecError}: `not-encodable`, `too-deep`, `too-large`; and `released` for a list whose memory was transferred.
   */
  encode(value: Written): Uint8Array;

  /**
   * Encodes a value into `into` from byte `offset` on; `into` may be shared memory. Copies long lists straight there and allocates
   * nothing for them, unless they are in that same memory. Returns the message's length in bytes, or -1 when it does not fit; in that
   * case `into` is unchanged. Throws as `encode` does.
   */
  encodeInto(value: Written, into: Uint8Array, offset?: number): number;

  /**
   * Decodes a message. Copies what the value keeps, so the caller can reuse the bytes; {@link DecodeOptions.owned} avoids the copies.
   * Copies shared memory as a whole first. Allocates nothing for a count before checking it against the remaining bytes.
   * Throws a {@link CodecError} for anything that is not exactly one message.
   */
  decode(bytes: Uint8Array, options?: DecodeOptions): T;
}

/** The names of the built-in codecs. */
export type CodecName = "standard" | "standard-method" | "json" | "json-method" | "string" | "binary";

/** Options of a codec's `decode`. */
export interface DecodeOptions {
  /**
   * The caller gives the bytes to the value: lists of numbers become views of them where their alignment allows, instead of copies.
   * Writing to one view, or transferring its memory, then affects the other parts of the value.
   */
  readonly owned?: boolean;
}

/** A codec whose message is one value. */
export interface MessageCodec<T, Written = T> extends Codec<T, Written> {}

/** A pair of codecs: for the calls of methods and for their replies. */
export interface MethodCodec {
  readonly name: CodecName;
  /** Encodes a method's name and its arguments. */
  readonly call: Codec<MethodCall>;
  /** Encodes a result, an error, or the absence of both. */
  readonly reply: Codec<MethodReply>;
}

/** A call of a method. */
export interface MethodCall {
  readonly method: string;
  readonly args: unknown;
}

/** A decoded reply: the method's result, its error, or `none` (the reply has no bytes: not implemented, or no handler). */
export type MethodReply = MethodSuccess | MethodError | NoReply;

/** A reply with a result. */
export interface MethodSuccess {
  readonly kind: "success";
  readonly value: unknown;
}

/** A reply with an error, as Flutter's method codecs have it. */
export interface MethodError {
  readonly kind: "error";
  readonly code: string;
  readonly message: string | null;
  readonly details: unknown;
  /** The stack trace at the other end: the fourth value of the reply. `undefined` leaves it out of the message. */
  readonly stack?: string | null;
}

/** A reply without bytes: the method is not implemented, or the channel has no handler. */
export interface NoReply {
  readonly kind: "none";
}

/** Limits on a message. A codec checks them before it allocates. */
export interface CodecLimits {
  /**
   * The largest nesting of lists, maps and extension values, when decoding and encoding: 0 to 1000, default 128.
   * Other parsers of untrusted text have the same default. A depth of 1000 uses about a tenth of the stack (Node and Chromium).
   */
  readonly depthMax: number;
  /**
   * The largest number of values that all lists and maps of one message may announce together, when decoding; default 16,777,216. A
   * value takes one byte of the message and up to about 60 bytes of memory, so this limit bounds the memory that a message can take.
   */
  readonly itemsMax: number;
}

export const defaultLimits: CodecLimits = { depthMax: 128, itemsMax: 1 << 24 };

/** The most hex digits of a big integer. Converting them to decimals takes time that grows with their square. */
export const bigIntegerDigitsMax = 1 << 20;

/** Checks the given limits and takes the others from `before`. Throws `invalid-argument`. */
export function checkLimits(given: Partial<CodecLimits>, before: CodecLimits): CodecLimits {
  const { depthMax = before.depthMax, itemsMax = before.itemsMax } = given;
  if (!(Number.isInteger(depthMax) && depthMax >= 0 && depthMax <= 1000))
    throw invalid("depthMax", "a whole number from 0 to 1000", depthMax);
  if (!(Number.isInteger(itemsMax) && itemsMax >= 0 && itemsMax <= 0xffff_ffff))
    throw invalid("itemsMax", "a whole number from 0 to 4294967295", itemsMax);
  return { depthMax, itemsMax };
}
