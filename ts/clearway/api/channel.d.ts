import { C as ClearwayError, a as CodecErrorCode } from './types-clearway-error.js';
export { E as ErrorCode, c as codecErrorCodes } from './types-clearway-error.js';
import { T as TransportLimits, C as ChannelTransport } from './types-transport.js';
export { a as ChannelSink, b as CloseCode, c as CloseReason } from './types-transport.js';

/** How the values of a channel become bytes, and bytes values. Codecs keep no state of a message: one serves any number of channels. */
interface Codec<T, Written = T> {
    /** Which one it is, for messages and meters. */
    readonly name: CodecName;
    /**
     * The message for a value: new memory of its exact size, which is the caller's, to keep, change or move. Copies each
     * list's bytes; of intermediate memory only a scratch that is kept for the next message. Does not block.
     * Throws a {@link CodecError}: `not-encodable`, `too-deep`, `too-large`; and `released` for a list whose memory was moved.
     */
    encode(value: Written): Uint8Array;
    /**
     * Writes the message into memory of the caller's, shared memory included, from byte `offset` on. Returns how many bytes
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
type CodecName = "standard" | "standard-method" | "json" | "json-method" | "string" | "binary";
interface DecodeOptions {
    /**
     * The caller gives the bytes away: lists of numbers in the value are views of them wherever their alignment allows, not
     * copies. Whoever writes to a view, or moves its memory, changes every other part of the value.
     */
    readonly owned?: boolean;
}
/** A message codec: one whole value a message. */
interface MessageCodec<T, Written = T> extends Codec<T, Written> {
}
/** A method codec: the calls of methods, and the replies to them. */
interface MethodCodec {
    readonly name: CodecName;
    /** Names and arguments. */
    readonly call: Codec<MethodCall>;
    /** Envelopes. */
    readonly reply: Codec<MethodReply>;
}
/** A method's call. */
interface MethodCall {
    readonly method: string;
    readonly args: unknown;
}
/** A reply's envelope, read: what the method gave, its error, or no bytes at all: not implemented, or no handler. */
type MethodReply = MethodSuccess | MethodError | NoReply;
interface MethodSuccess {
    readonly kind: "success";
    readonly value: unknown;
}
interface MethodError {
    readonly kind: "error";
    readonly code: string;
    readonly message: string | null;
    readonly details: unknown;
    /** The stack at the other end. It is the envelope's fourth value; left out, the envelope has three. */
    readonly stack?: string | null;
}
interface NoReply {
    readonly kind: "none";
}

/**
 * Bytes as they are. `encode` returns the very bytes it was given and copies nothing; so does `decode` where they are owned,
 * else it copies.
 */
declare const binaryCodec: MessageCodec<Uint8Array, Uint8Array | null>;

/**
 * A type of the application's own on the wire: a type byte from 128 on, and whatever body `write` gives it. Both ends must
 * have it. The body's numbers may be of any width; a float64 is aligned as the codec's own are.
 */
interface Extension<T = unknown> {
    /** 128 to 255; not used twice in one codec. */
    readonly tag: number;
    /** The class whose instances are written so: exactly this class, not its subclasses. */
    readonly type: abstract new (...args: never[]) => T;
    /** Writes the body. What it throws reaches whoever encodes. */
    write(value: T, writer: ValueWriter): void;
    /** Reads exactly what `write` wrote. What it throws, other than a {@link CodecError}, becomes the cause of a `malformed`. */
    read(reader: ValueReader): T;
}
/** Writes an extension's body. Not to be kept after `write`. */
interface ValueWriter {
    /** How many bytes the message has so far. */
    readonly offset: number;
    uint8(value: number): void;
    int32(value: number): void;
    uint32(value: number): void;
    int64(value: bigint): void;
    /** Padding to 8 and a float64. */
    float64(value: number): void;
    /** A size or a count, in 1, 3 or 5 bytes. */
    size(value: number): void;
    /** Bytes without a size; copies them. */
    bytes(value: Uint8Array): void;
    /** A text with its size, without a type byte. */
    text(value: string): void;
    /** Zeros up to a multiple of 1, 2, 4 or 8, counted from the message's first byte. */
    pad(alignment: 1 | 2 | 4 | 8): void;
    /** Any value with its type byte; one level deeper. */
    value(value: unknown): void;
}
/** Reads an extension's body. Not to be kept after `read`. Everything throws `truncated` where the message ends too soon. */
interface ValueReader {
    /** The byte that is read next. */
    readonly offset: number;
    /** Bytes that are left. */
    readonly left: number;
    uint8(): number;
    int32(): number;
    uint32(): number;
    int64(): bigint;
    /** Padding to 8 and a float64. */
    float64(): number;
    /** A size or a count. It is not checked against what is left. */
    size(): number;
    /** As many bytes: a copy, or a view where the message is owned. */
    bytes(count: number): Uint8Array;
    text(): string;
    pad(alignment: 1 | 2 | 4 | 8): void;
    value(): unknown;
}
/** Names the type of an extension's parts for `with({ extensions: [...] })`. */
declare function extension<T>(parts: Extension<T>): Extension;

/** A number that crosses as float64 even when it is whole. In arithmetic it is the number. */
declare class Float64 {
    readonly value: number;
    constructor(value: number);
    valueOf(): number;
    toJSON(): number;
}
/**
 * Forces float64 on the wire: the standard codec writes a whole `number` as an integer, and some receivers keep integers
 * and floats apart. Throws `invalid-argument` for what is no number.
 */
declare function float64(value: number): Float64;

/** What a codec refuses for its size, before it allocates anything for it. */
interface CodecLimits {
    /**
     * How many lists, maps and extension values may stand inside one another, reading and writing: 0 to 1000, default 128.
     * The default is that of other parsers of untrusted text. At 1000 the stack is about a tenth used (Node and Chromium).
     */
    readonly depthMax: number;
    /**
     * How many values the lists and maps of one message may announce together when it is read; default 16,777,216. A value
     * takes one byte of the message and up to about 60 of memory, so this bounds what a message can make the reader allocate.
     */
    readonly itemsMax: number;
}

/** What can be set on a JSON codec. */
interface JsonOptions extends Partial<Pick<CodecLimits, "depthMax">> {
}
/** The JSON codec of messages. */
interface JsonMessageCodec extends MessageCodec<unknown> {
    /** The same codec with other settings. Throws `invalid-argument`. */
    with(options: JsonOptions): JsonMessageCodec;
}
/**
 * UTF-8 JSON messages; a message of null has no bytes. Values are written as `JSON.stringify` writes them: NaN is null, lists
 * of bytes are objects. A key `__proto__` is read as a property of the object itself.
 */
declare const jsonMessageCodec: JsonMessageCodec;

/** The JSON codec of methods. */
interface JsonMethodCodec extends MethodCodec {
    /** The same codec with other settings. Throws `invalid-argument`. */
    with(options: JsonOptions): JsonMethodCodec;
}
/** UTF-8 JSON calls `{"method": …, "args": …}` and replies `[value]` or `[code, message, details]`. */
declare const jsonMethodCodec: JsonMethodCodec;

/** What a codec throws: which of {@link codecErrorCodes} it is, and where. */
interface CodecError extends ClearwayError {
    readonly code: CodecErrorCode;
    /**
     * Reading: the byte of the message at which it can be read no further, as spec/wire.md defines for each code. Writing:
     * how many bytes had been written.
     */
    readonly offset: number;
}
/** Whether a thrown value is a codec's refusal, with an offset. */
declare function isCodecError(thrown: unknown): thrown is CodecError;

/** What can be set on a standard codec. */
interface StandardOptions extends Partial<CodecLimits> {
    /** Types of the application's own, added to those the codec has. */
    readonly extensions?: readonly Extension[];
    /**
     * Reads what would otherwise lose its form: a whole float64 as a `float64()` object, every map as a `Map` in the
     * message's order. What is read and written again then has the same bytes, if they were in the shortest form. Default false.
     */
    readonly lossless?: boolean;
    /**
     * What a message of `null` is: no bytes, as Flutter has it (the default), or the type byte 0, for carriers on which an
     * empty message means something else. Then no bytes are refused. Inside of methods it is always the type byte.
     */
    readonly emptyNull?: boolean;
}
/** The standard codec of messages. */
interface StandardMessageCodec extends MessageCodec<unknown> {
    /** The same codec with other settings. Throws `invalid-argument`. */
    with(options: StandardOptions): StandardMessageCodec;
}
/**
 * Flutter's standard message codec (spec/wire.md): null, booleans, numbers, `bigint`, text, lists of bytes and numbers,
 * arrays, plain objects and `Map`s, and extensions. Whole numbers are written as integers, see {@link float64}; `undefined`
 * as null. What has no form throws `not-encodable`: it is never left out or changed.
 */
declare const standardMessageCodec: StandardMessageCodec;

/** The standard codec of methods. */
interface StandardMethodCodec extends MethodCodec {
    /** The same codec with other settings. Throws `invalid-argument`. */
    with(options: StandardOptions): StandardMethodCodec;
}
/**
 * Flutter's standard method codec (spec/wire.md). A reply without bytes reads as `{ kind: "none" }`; the caller of a method
 * takes it for "not implemented, or no handler".
 */
declare const standardMethodCodec: StandardMethodCodec;

/** UTF-8 text. No bytes are the empty text; null has no bytes either. */
declare const stringCodec: MessageCodec<string, string | null>;

/**
 * Two ends in one thread: for tests, and for parts of an app that may move apart later. Copies nothing: frames are handed
 * over as they are, attachments are moved, so that a sender loses them here as it would elsewhere. Delivers in microtasks.
 * Throws `invalid-argument`.
 */
declare function memoryPair(limits?: TransportLimits): [ChannelTransport, ChannelTransport];

/**
 * One side of a worker's wire: a `MessagePort`, a `Worker` as its owner sees it, a worker's `self` or `parentPort`; Node's or
 * a browser's, by what they share.
 */
interface PortLike {
    postMessage(message: unknown, transfer: never[]): void;
}

/**
 * Channels over a worker's wire. Frames of one tick travel as one message; attachments are moved, shared memory is shared.
 * Does not own a worker: `close` leaves it running. It closes a `MessagePort`. Keeps a Node process alive for as long as it is
 * open, as any port does that is listened to. Throws `invalid-argument`.
 */
declare function portTransport(port: PortLike, limits?: TransportLimits): ChannelTransport;

export { ChannelTransport, ClearwayError, CodecErrorCode, Float64, TransportLimits, binaryCodec, extension, float64, isCodecError, jsonMessageCodec, jsonMethodCodec, memoryPair, portTransport, standardMessageCodec, standardMethodCodec, stringCodec };
export type { Codec, CodecError, CodecLimits, CodecName, DecodeOptions, Extension, JsonMessageCodec, JsonMethodCodec, JsonOptions, MessageCodec, MethodCall, MethodCodec, MethodError, MethodReply, MethodSuccess, NoReply, PortLike, StandardMessageCodec, StandardMethodCodec, StandardOptions, ValueReader, ValueWriter };
