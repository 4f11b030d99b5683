// SPDX-License-Identifier: MIT OR Apache-2.0
import { isThenable, onRejected, type Rules, type Test, wholeFrom } from "../../error/checked.js";
import type { CodecErrorCode } from "../../error/clearway-error.js";
import { ClearwayError, invalid } from "../../error/clearway-error.js";
import { viewName } from "../../host/structure.js";

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
  readonly owned?: boolean | undefined;
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

/** The limits as options. */
export type LimitOptions = { readonly [Name in keyof CodecLimits]?: CodecLimits[Name] | undefined };

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

/** The error that a codec throws, with the position of the failure. */
export interface CodecError extends ClearwayError {
  readonly code: CodecErrorCode;
  /**
   * Offset of the failure, in bytes. When a message is decoded, this is the first byte that cannot be read; spec/wire.md
   * defines that byte for each code. When the standard codec encodes a value, this is the number of bytes written before the
   * failure.
   */
  readonly offset: number;
}

/** Creates a {@link CodecError}. `what` describes the failure; the function appends the offset. */
export function codecError(code: CodecErrorCode, what: string, offset: number, cause?: unknown): CodecError {
  const error = new ClearwayError(code, `${what}, at byte ${offset}`, cause === undefined ? undefined : { cause });
  return Object.assign(error, { offset }) as ClearwayError as CodecError;
}

/** Returns whether a thrown value is a {@link CodecError}. */
export function isCodecError(thrown: unknown): thrown is CodecError {
  return thrown instanceof ClearwayError && typeof (thrown as Partial<CodecError>).offset === "number";
}

/**
 * Throws `released` if the list's memory was transferred. Only empty lists need this check: a list that lost its memory has the
 * length 0.
 */
export function requireMemory({ buffer }: ArrayBufferView): void {
  try {
    new Uint8Array(buffer);
  } catch (cause) {
    throw memoryMovedError(cause);
  }
}

/** Returns the error for a list whose memory was transferred before the codec copied it. */
export function memoryMovedError(cause?: unknown): ClearwayError {
  return new ClearwayError("released", "a list's memory was moved away before it was written", { cause });
}

/** Checks the types of an error reply's code, message and stack. Throws `not-encodable`. */
export function checkError(error: MethodError): MethodError {
  const { code, message, stack } = error;
  if (typeof code !== "string") throw codecError("not-encodable", "an error's code is no string", 0);
  if (message !== null && typeof message !== "string")
    throw codecError("not-encodable", "an error's message is neither a string nor null", 0);
  if (stack !== undefined && stack !== null && typeof stack !== "string")
    throw codecError("not-encodable", "an error's stack trace is neither a string nor null", 0);
  return error;
}

/** Takes large lists out of a message. The transport sends these lists next to the message, as attachments. */
export interface AttachmentSink {
  /**
   * Adds a list to the attachments and returns the attachment's number. Returns -1 if the list stays in the message. Throws if
   * the message cannot be sent.
   */
  take(list: ArrayBufferView): number;
}

/**
 * Attachments of the next message that this thread encodes or decodes with a standard codec, its maximum size, and the limit on the values
 * of the next message that a standard or JSON codec decodes. This global variable keeps them out of the public codec interfaces. The
 * endpoint sets them just before the codec runs, and all but `valuesMax` only for a codec that {@link attaches}. Such a codec takes and
 * clears them before it does anything else. A nested message, which an extension or a getter encodes, therefore has none.
 */
export const outOfBand: {
  sink: AttachmentSink | undefined;
  attached: readonly Uint8Array[] | undefined;
  /** Whether the message may share a buffer with others. The endpoint sets it if it copies the encoded message at once. */
  mayShareBuffer: boolean;
  /** Maximum size of the message that is encoded next, in bytes. Undefined if no endpoint encodes. */
  bytesMax: number | undefined;
  /** The endpoint's `valuesMax`. Undefined if no endpoint decodes. */
  valuesMax: number | undefined;
} = {
  sink: undefined,
  attached: undefined,
  mayShareBuffer: false,
  bytesMax: undefined,
  valuesMax: undefined,
};

const attachingCodecs = /* @__PURE__ */ new WeakSet<object>();

/** Lets the messages of a codec have attachments. The codec must run no other code before it has taken them from {@link outOfBand}. */
export function attaching<Own extends object>(codec: Own): Own {
  attachingCodecs.add(codec);
  return codec;
}

/**
 * Returns whether a codec's messages may have attachments. A codec of the app never has any, also if it wraps one of Clearway's or is a changed
 * copy of it: if it seals what the standard codec writes, lists beside the message would cross unsealed.
 */
export function attaches(codec: object): boolean {
  return attachingCodecs.has(codec);
}

/**
 * Encodes a value in at most about `bytesMax` bytes: a standard codec throws `too-large` before it takes memory for more. A list that occurs
 * many times in a value, as an attachment may in a value that arrived, makes a message that is far larger than the value. Other codecs have
 * no such limit, so the caller checks the size, too. Throws `invalid-argument` if a codec of the app returns no bytes, and `released` if their memory
 * was moved away.
 */
export function encodeWithin<T>(codec: Codec<unknown, T>, value: T, bytesMax: number): Uint8Array {
  if (attaches(codec)) outOfBand.bytesMax = bytesMax;
  try {
    const bytes = codec.encode(value);
    if (viewName(bytes) !== "Uint8Array") throw notAtOnce("encode", "a Uint8Array", bytes);
    if (bytes.length === 0) requireMemory(bytes);
    return bytes;
  } finally {
    outOfBand.bytesMax = undefined;
  }
}

/** Returns a value that a codec has decoded. Throws `invalid-argument` for a promise, whose rejection nothing would handle. */
export function atOnce<T>(value: T): T {
  if (isThenable(value)) throw notAtOnce("decode", "a value", value);
  return value;
}

function notAtOnce(method: string, what: string, given: unknown): ClearwayError {
  onRejected(given, () => {});
  return invalid(`codec.${method}()`, `a function that returns ${what} at once`, given);
}

/** A message in memory that no other thread can change. */
export interface Input {
  readonly bytes: Uint8Array;
  /** Whether decoded lists may be views of the memory. */
  readonly viewsAllowed: boolean;
}

const shared = typeof SharedArrayBuffer === "undefined" ? undefined : SharedArrayBuffer;

/**
 * Prepares bytes for a `Reader`. Copies shared memory, because another thread could change it between a check and its use.
 * Replaces a Node `Buffer` by a `Uint8Array` over the same memory: `Buffer.slice` does not copy, and decoded values would be
 * `Buffer` objects. Throws `invalid-argument`.
 */
export function input(bytes: Uint8Array, viewsAllowed: boolean): Input {
  if (!(bytes instanceof Uint8Array)) throw invalid("bytes", "a Uint8Array", bytes);
  if (shared !== undefined && bytes.buffer instanceof shared)
    return { bytes: new Uint8Array(bytes), viewsAllowed: true };
  if (bytes.constructor === Uint8Array) return { bytes, viewsAllowed };
  return { bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), viewsAllowed };
}

/** Checks the arguments of `encodeInto`. Throws `invalid-argument`. */
export function checkTarget(into: Uint8Array, offset: number): void {
  if (!(into instanceof Uint8Array)) throw invalid("into", "a Uint8Array", into);
  if (!(Number.isInteger(offset) && offset >= 0 && offset <= into.length))
    throw invalid("offset", `a whole number from 0 to ${into.length}`, offset);
}

/**
 * Copies a message into `into` at `offset`. Returns the message's length in bytes, or -1 if the message does not fit. Throws
 * `invalid-argument`.
 */
export function copyInto(message: Uint8Array, into: Uint8Array, offset: number): number {
  checkTarget(into, offset);
  if (message.length > into.length - offset) return -1;
  into.set(message, offset);
  return message.length;
}

const probe = new Uint16Array([1]);

/**
 * Throws `unsupported-host` on a big-endian host. The codec copies lists of numbers in the host's byte order, and the wire is
 * little-endian. Tests pass their own array as `one`.
 */
export function requireLittleEndian(one: Uint16Array = probe): void {
  if (new Uint8Array(one.buffer, one.byteOffset)[0] !== 1)
    throw codecError("unsupported-host", "this host is big-endian; the standard codec is little-endian", 0);
}
