// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Rules, type Test, wholeFrom } from "../../error/checked.js";
import { invalid } from "../../error/clearway-error.js";

/** Encodes and decodes the values of a channel. A codec has no state, so any number of channels can share one. */
export interface Codec<T, Written = T> {
  /** The codec's name, for error messages and meters. */
  readonly name: CodecName;

  /**
   * Encodes a value into a new message of the exact size. The caller owns its memory. The binary codec returns its argument
   * instead.
   *
   * The standard codec writes the value into a scratch buffer, and copies the buffer into the message. Lists of 16 KiB or more
   * skip the scratch buffer: the codec copies them once, after it has walked the whole value. The thread keeps a scratch buffer
   * of up to 1 MiB for its next message. Does not block.
   *
   * Throws a {@link CodecError}: `not-encodable`, `too-deep` or `too-large`. Throws `released` for a list whose memory was
   * transferred.
   */
  encode(value: Written): Uint8Array;

  /**
   * Encodes a value into `into`, from byte `offset` on. `into` may be shared memory. The standard codec copies long lists
   * straight into `into`. The codec allocates nothing for these lists, unless they are in the same memory as `into`. Returns
   * the message's length in bytes. Returns -1 if the message does not fit, and leaves `into` unchanged. Throws the same errors
   * as `encode`.
   */
  encodeInto(value: Written, into: Uint8Array, offset?: number): number;

  /**
   * Decodes a message. Copies everything that the value keeps, so the caller can reuse the bytes afterwards. The option {@link
   * DecodeOptions.owned} avoids these copies. If the bytes are shared memory, the codec first copies all of them. The codec
   * checks every count against the remaining bytes before it allocates memory for that count. Throws a {@link CodecError} for
   * anything that is not exactly one message.
   */
  decode(bytes: Uint8Array, options?: DecodeOptions): T;
}

/** The names of the built-in codecs. "clone": values cross by structured clone, as the option `codec` of `connect` says. */
export type CodecName = "clone" | "standard" | "standard-method" | "json" | "json-method" | "string" | "binary";

/** Options of a codec's `decode`. */
export interface DecodeOptions {
  /**
   * Whether the caller gives the bytes to the decoded value. Lists of numbers then become views of the bytes, instead of
   * copies, if their alignment allows it. Code that writes to one view, or transfers its memory, also changes the other parts
   * of the value. Default: false.
   */
  readonly owned?: boolean;
}

/** A codec whose message is one value. */
export interface MessageCodec<T, Written = T> extends Codec<T, Written> {}

/** A pair of codecs: one for method calls and one for their replies. */
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

/** A method's reply: a result, an error, or `none`. A reply of kind `none` has no bytes. */
export type MethodReply = MethodSuccess | MethodError | NoReply;

/** A reply with a result. */
export interface MethodSuccess {
  readonly kind: "success";
  readonly value: unknown;
}

/** A reply with an error, in the form of Flutter's method codecs. */
export interface MethodError {
  readonly kind: "error";
  readonly code: string;
  readonly message: string | null;
  readonly details: unknown;
  /**
   * Stack trace at the end that threw the error: the fourth value of the reply. If `undefined`, the reply has only three
   * values.
   */
  readonly stack?: string | null;
}

/** A reply without bytes: the method is not implemented, or the channel has no handler. */
export interface NoReply {
  readonly kind: "none";
}

/** Limits on a message. A codec checks them before it allocates. */
export interface CodecLimits {
  /**
   * Maximum nesting of lists, maps and extension values, for encoding and decoding. The limit is a whole number from 0 to 1000.
   * Default: 128. Other parsers of untrusted text have the same default. A depth of 1000 uses about a tenth of the stack in
   * Node and Chromium.
   */
  readonly depthMax: number;
  /**
   * Maximum number of values in all lists, maps and extension values of one message together. Decoding checks this limit.
   * Encoding does not. A map entry counts as two values. Default: 16,777,216. A value takes at least one byte of the message and
   * up to about 200 bytes of memory, so this limit bounds the memory of a decoded message. An endpoint also has `valuesMax`; the
   * smaller limit holds.
   */
  readonly itemsMax: number;
}

export const defaultLimits: CodecLimits = { depthMax: 128, itemsMax: 1 << 24 };

/** Maximum number of hex digits in a big integer. The time to convert them to decimal grows with the square of their number. */
export const bigIntegerDigitsMax = 1 << 20;

/** Rules for the options in {@link CodecLimits}. */
export const limitRules: Rules & Record<keyof CodecLimits, Test> = {
  depthMax: (value) => wholeFrom(value, 0, 1000),
  itemsMax: (value) => wholeFrom(value, 0, 0xffff_ffff),
};

/** Throws `invalid-argument` unless the value has the functions of a message codec. */
export function checkMessageCodec(codec: unknown): void {
  if (!isCodec(codec)) throw invalid("codec", "a MessageCodec", codec);
}

/** Throws `invalid-argument` unless the value has the functions of a method codec. */
export function checkMethodCodec(codec: unknown): void {
  const { call, reply } = (codec ?? {}) as Partial<MethodCodec>;
  if (!isCodec(call) || !isCodec(reply)) throw invalid("codec", "a MethodCodec", codec);
}

function isCodec(value: unknown): boolean {
  const { encode, decode } = (value ?? {}) as Partial<Codec<unknown>>;
  return typeof encode === "function" && typeof decode === "function";
}
