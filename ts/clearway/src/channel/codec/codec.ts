// SPDX-License-Identifier: MIT OR Apache-2.0

/** How the values of a channel become bytes, and bytes values. Codecs keep no state of a message: one serves any number of channels. */
export interface Codec<T, Written = T> {
  /** Which one it is, for messages and meters. */
  readonly name: CodecName;

  /**
   * The message for a value: new memory of its exact size, which is the caller's, to keep, change or move. Copies each
   * list's bytes once; long lists last, when the whole value has been walked. Of intermediate memory only a scratch for the rest,
   * which is kept for the thread's next message up to 1 MiB. Does not block.
   * Throws a {@link CodecError}: `not-encodable`, `too-deep`, `too-large`; and `released` for a list whose memory was moved.
   */
  encode(value: Written): Uint8Array;

  /**
   * Writes the message into memory of the caller's, shared memory included, from byte `offset` on; long lists are copied
   * straight there, and allocate nothing (unless they stand in that very memory). Returns how many bytes
   * it has, or -1 when it does not fit; then what stands behind `offset` is as it was. Throws as `encode` does.
   */
  encodeInto(value: Written, into: Uint8Array, offset?: number): number;

  /**
   * Reads a message. Copies what it keeps, so that the bytes may be used again; see {@link DecodeOptions.owned} for the
   * other way. Shared memory is first copied as a whole. Allocates nothing for a count that was not checked against the
   * bytes there are. Throws a {@link CodecError} with the offset for anything that is not exactly one message.
   */
  decode(bytes: Uint8Array, options?: DecodeOptions): T;
}

/** The names of the codecs that are here. */
export type CodecName = "standard" | "standard-method" | "json" | "json-method" | "string" | "binary";

export interface DecodeOptions {
  /**
   * The caller gives the bytes away: lists of numbers in the value are views of them wherever their alignment allows, not
   * copies. Whoever writes to a view, or moves its memory, changes every other part of the value.
   */
  readonly owned?: boolean;
}

/** A message codec: one whole value a message. */
export interface MessageCodec<T, Written = T> extends Codec<T, Written> {}

/** A method codec: the calls of methods, and the replies to them. */
export interface MethodCodec {
  readonly name: CodecName;
  /** Names and arguments. */
  readonly call: Codec<MethodCall>;
  /** Envelopes. */
  readonly reply: Codec<MethodReply>;
}

/** A method's call. */
export interface MethodCall {
  readonly method: string;
  readonly args: unknown;
}

/** A reply's envelope, read: what the method gave, its error, or no bytes at all: not implemented, or no handler. */
export type MethodReply = MethodSuccess | MethodError | NoReply;

export interface MethodSuccess {
  readonly kind: "success";
  readonly value: unknown;
}

export interface MethodError {
  readonly kind: "error";
  readonly code: string;
  readonly message: string | null;
  readonly details: unknown;
  /** The stack at the other end. It is the envelope's fourth value; left out, the envelope has three. */
  readonly stack?: string | null;
}

export interface NoReply {
  readonly kind: "none";
}
