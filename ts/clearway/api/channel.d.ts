/// <reference lib="esnext.disposable" />
import { C as ClearwayError, a as CodecErrorCode } from './types-clearway-error.js';
export { b as ChannelErrorCode, E as ErrorCode, d as channelErrorCodes, e as codecErrorCodes } from './types-clearway-error.js';
import { c as CloseReason, C as ChannelTransport, T as TransportLimits } from './types-transport.js';
export { a as ChannelSink, b as CloseCode, V as ValueFrame } from './types-transport.js';
import { Window } from './index.js';
import { M as Moved } from './types-move.js';
export { m as move } from './types-move.js';
import { P as PortLike, a as PortOptions } from './types-port-like.js';

/** Encodes and decodes the values of a channel. A codec has no state, so any number of channels can share one. */
interface Codec<T, Written = T> {
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
type CodecName = "clone" | "standard" | "standard-method" | "json" | "json-method" | "string" | "binary";
/** Options of a codec's `decode`. */
interface DecodeOptions {
    /**
     * Whether the caller gives the bytes to the decoded value. Lists of numbers then become views of the bytes, instead of
     * copies, if their alignment allows it. Code that writes to one view, or transfers its memory, also changes the other parts
     * of the value. Default: false.
     */
    readonly owned?: boolean;
}
/** A codec whose message is one value. */
interface MessageCodec<T, Written = T> extends Codec<T, Written> {
}
/** A pair of codecs: one for method calls and one for their replies. */
interface MethodCodec {
    readonly name: CodecName;
    /** Encodes a method's name and its arguments. */
    readonly call: Codec<MethodCall>;
    /** Encodes a result, an error, or the absence of both. */
    readonly reply: Codec<MethodReply>;
}
/** A call of a method. */
interface MethodCall {
    readonly method: string;
    readonly args: unknown;
}
/** A method's reply: a result, an error, or `none`. A reply of kind `none` has no bytes. */
type MethodReply = MethodSuccess | MethodError | NoReply;
/** A reply with a result. */
interface MethodSuccess {
    readonly kind: "success";
    readonly value: unknown;
}
/** A reply with an error, in the form of Flutter's method codecs. */
interface MethodError {
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
interface NoReply {
    readonly kind: "none";
}
/** Limits on a message. A codec checks them before it allocates. */
interface CodecLimits {
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
/** The error that a codec throws, with the position of the failure. */
interface CodecError extends ClearwayError {
    readonly code: CodecErrorCode;
    /**
     * Offset of the failure, in bytes. When a message is decoded, this is the first byte that cannot be read; spec/wire.md
     * defines that byte for each code. When the standard codec encodes a value, this is the number of bytes written before the
     * failure.
     */
    readonly offset: number;
}
/** Returns whether a thrown value is a {@link CodecError}. */
declare function isCodecError(thrown: unknown): thrown is CodecError;

/**
 * An application's own type on the wire. A value is a type byte of 128 or more, followed by the bytes that `write` writes. Both
 * ends must register the extension. Float64 values in the body are aligned to 8 bytes, like those of the codec itself.
 */
interface Extension<T = unknown> {
    /** The type byte: 128 to 255, unique in one codec. */
    readonly tag: number;
    /** The class whose instances this extension encodes. It does not encode instances of subclasses. */
    readonly type: abstract new (...args: never[]) => T;
    /** Writes the body. Errors that this method throws reach the caller of `encode`. */
    write(value: T, writer: ValueWriter): void;
    /**
     * Reads exactly the bytes that `write` wrote. A `ClearwayError` reaches the caller of `decode`. Any other error becomes the
     * cause of a `malformed` error.
     */
    read(reader: ValueReader): T;
}
/** Writes an extension's body. Do not use it after `write` has returned. */
interface ValueWriter {
    /** Number of bytes of the message so far. */
    readonly offset: number;
    /** Writes one byte. Like the other methods, it throws `invalid-argument` for a value out of range. */
    uint8(value: number): void;
    /** Writes a signed integer in 4 bytes, little-endian. */
    int32(value: number): void;
    /** Writes an unsigned integer in 4 bytes, little-endian. */
    uint32(value: number): void;
    /** Writes a signed integer in 8 bytes, little-endian. */
    int64(value: bigint): void;
    /** Writes padding up to a multiple of 8, then a float64. */
    float64(value: number): void;
    /** Writes a size or a count in 1, 3 or 5 bytes. */
    size(value: number): void;
    /** Copies the bytes, without a size in front. */
    bytes(value: Uint8Array): void;
    /** Writes the text's size in bytes, then the text in UTF-8, without a type byte. */
    text(value: string): void;
    /** Writes zeros until the offset in the message is a multiple of `alignment`. */
    pad(alignment: 1 | 2 | 4 | 8): void;
    /** Writes any value with its type byte. The value is one nesting level deeper than the extension. */
    value(value: unknown): void;
}
/**
 * Reads an extension's body. Do not use it after `read` has returned. Every method throws `truncated` if the message ends too
 * early.
 */
interface ValueReader {
    /** Offset of the next byte in the message. */
    readonly offset: number;
    /** Number of bytes that remain in the message. */
    readonly left: number;
    /** Reads one byte. */
    uint8(): number;
    /** Reads a signed integer of 4 bytes, little-endian. */
    int32(): number;
    /** Reads an unsigned integer of 4 bytes, little-endian. */
    uint32(): number;
    /** Reads a signed integer of 8 bytes, little-endian. */
    int64(): bigint;
    /** Skips padding up to a multiple of 8, then reads a float64. */
    float64(): number;
    /** Reads a size or a count. Does not compare the number with the remaining bytes. */
    size(): number;
    /** Reads `count` bytes. Returns a view if the message is owned, else a copy. */
    bytes(count: number): Uint8Array;
    /** Reads a size in bytes, then a text of that size. Throws `bad-utf8` if the text is not UTF-8. */
    text(): string;
    /** Skips bytes until the offset in the message is a multiple of `alignment`. */
    pad(alignment: 1 | 2 | 4 | 8): void;
    /** Reads any value with its type byte. The value is one nesting level deeper than the extension. */
    value(): unknown;
}
/** Returns its argument, typed for `with({ extensions: [...] })`. */
declare function extension<T>(parts: Extension<T>): Extension;

/** Settings of a JSON codec. */
interface JsonOptions extends Partial<Pick<CodecLimits, "depthMax">> {
}
/** The JSON message codec. */
interface JsonMessageCodec extends MessageCodec<unknown> {
    /** Returns the same codec with other settings. Throws `invalid-argument`. */
    with(options: JsonOptions): JsonMessageCodec;
}
/**
 * Encodes messages as UTF-8 JSON. The message for null has no bytes. Values are encoded like those of `JSON.stringify`: NaN
 * becomes null, and lists of bytes become objects. A key `__proto__` is decoded as an own property.
 */
declare const jsonMessageCodec: JsonMessageCodec;
/** The JSON method codec. */
interface JsonMethodCodec extends MethodCodec {
    /** Returns the same codec with other settings. Throws `invalid-argument`. */
    with(options: JsonOptions): JsonMethodCodec;
}
/**
 * Encodes calls as UTF-8 JSON `{"method": …, "args": …}`, and replies as `[value]` or `[code, message, details]`. An error with
 * a stack trace has the trace as its fourth value.
 */
declare const jsonMethodCodec: JsonMethodCodec;

/** Settings of a standard codec. */
interface StandardOptions extends Partial<CodecLimits> {
    /** The application's own types. The codec also keeps the extensions that it already has. */
    readonly extensions?: readonly Extension[];
    /**
     * Keeps distinctions that decoding otherwise loses. A whole float64 becomes a `float64()` object, and every map becomes a
     * `Map` in the message's order. Encoding the decoded value gives the same bytes, if the message used the shortest forms.
     * Default: false.
     */
    readonly lossless?: boolean;
    /**
     * Whether the message `null` has no bytes, as in Flutter. If false, the codec encodes null as the type byte 0, and refuses
     * empty messages. Set false for transports on which an empty message means something else. The method codec always writes the
     * type byte. Default: true.
     */
    readonly emptyNull?: boolean;
}
/** The standard message codec. */
interface StandardMessageCodec extends MessageCodec<unknown> {
    /** Returns the same codec with other settings. Throws `invalid-argument`. */
    with(options: StandardOptions): StandardMessageCodec;
}
/**
 * Encodes values in the form of Flutter's standard message codec (spec/wire.md). It encodes null, booleans, numbers, `bigint`,
 * text, lists of bytes and numbers, arrays, plain objects, `Map`s and extensions. Whole numbers are encoded as integers (see
 * {@link float64}), and `undefined` as null. Any other value throws `not-encodable`. Apart from these two
 * conversions, the codec never changes a value, and it never omits one.
 */
declare const standardMessageCodec: StandardMessageCodec;
/** The standard method codec. */
interface StandardMethodCodec extends MethodCodec {
    /** Returns the same codec with other settings. Throws `invalid-argument`. */
    with(options: StandardOptions): StandardMethodCodec;
}
/**
 * Encodes calls and replies in the form of Flutter's standard method codec (spec/wire.md). A reply without bytes decodes as `{
 * kind: "none" }`: the method is not implemented, or the channel has no handler.
 */
declare const standardMethodCodec: StandardMethodCodec;

/** A number that the standard codec encodes as float64, even if it is whole. In arithmetic it acts as the number. */
declare class Float64 {
    readonly value: number;
    constructor(value: number);
    /** Returns the number, so that arithmetic works. */
    valueOf(): number;
    /** Returns the number for `JSON.stringify`. */
    toJSON(): number;
}
/**
 * Makes the standard codec encode a number as float64. Without this function, the codec encodes a whole number as an integer.
 * Some receivers distinguish integers from floats. Throws `invalid-argument` unless the value is a number.
 */
declare function float64(value: number): Float64;

/** Encodes text as UTF-8. The empty text and null both have no bytes. A message without bytes decodes as the empty text. */
declare const stringCodec: MessageCodec<string, string | null>;
/**
 * Passes bytes through. `encode` returns its argument without a copy. `decode` does not copy owned bytes, unless they are in
 * shared memory; it copies all other bytes.
 */
declare const binaryCodec: MessageCodec<Uint8Array, Uint8Array | null>;

/** Why memory of a message was copied. */
type ChannelCopyReason = 
/** The bytes were encoded into the message. These are all bytes of a message except its attachments. */
"encoded"
/**
 * Binary memory of less than `attachmentBytesMin` bytes in a value that crossed by structured clone. Its texts, numbers and objects are
 * copied too, and are not counted.
 */
 | "cloned"
/** A large list that was not given away with `move()`. */
 | "not-moved"
/** A large list that is a view of a part of its buffer. */
 | "partial-view"
/** Memory that cannot be transferred, such as WebAssembly memory or Node's buffer pool. */
 | "not-transferable"
/** The transport carries only bytes. */
 | "byte-transport";
/** Bytes that were sent in one direction. */
interface ChannelLedgerSide {
    /** Bytes that changed owner without a copy. */
    movedBytes: number;
    /** Bytes of shared memory that a message refers to. Each reference counts. */
    sharedBytes: number;
    /** Bytes that were copied. `copies` has the same bytes by reason. */
    copiedBytes: number;
    copies: Partial<Record<ChannelCopyReason, {
        count: number;
        bytes: number;
    }>>;
}
/**
 * Bytes of both directions, as this end counts them. This end does not know why the other end copied bytes. For values that arrive by
 * structured clone, `received` has the numbers that the other end counted.
 */
interface ChannelLedger {
    sent: ChannelLedgerSide;
    received: Pick<ChannelLedgerSide, "movedBytes" | "sharedBytes" | "copiedBytes">;
}

/** The wires: `clearway` is Clearway's own, `plain` has the messages of Flutter's platform channels. */
type WireName = "clearway" | "plain";

declare const brand: unique symbol;
/** Optional parts of a {@link RemoteError}. */
interface RemoteErrorParts {
    /** Any value that the standard codec can encode. */
    readonly details?: unknown;
    readonly cause?: unknown;
    readonly channel?: string;
    /** The error's stack at the other end. */
    readonly stack?: string;
    readonly callerStack?: string;
}
/**
 * An error that the other end's handler threw. A handler throws a `RemoteError` to choose the code and the details. For any
 * other error, the code is the error's own `code`, or "error". On Clearway's wire, if the other end exposes errors, `cause` is
 * the error that was thrown there, with class name, stack, properties and causes. The stack of the error continues with the
 * stack of the code that awaits the call.
 */
declare class RemoteError extends Error {
    readonly name = "RemoteError";
    /** The code that the handler chose. It can be any text. */
    readonly code: string;
    readonly details: unknown;
    /** The channel's name. Empty for an error that was created at this end. */
    readonly channel: string;
    constructor(code: string, message: string, parts?: RemoteErrorParts);
    get [brand](): true;
    /** Recognizes the errors of every copy of this class by their brand, like `ClearwayError`. */
    static [Symbol.hasInstance](value: unknown): boolean;
}
/** The end of a call, as a value. */
type Outcome<T> = {
    readonly kind: "result";
    readonly value: T;
}
/** The other end's handler threw. */
 | {
    readonly kind: "remote-error";
    readonly error: RemoteError;
}
/** The call ended without a result and without an error of the handler. */
 | {
    readonly kind: OutcomeKind;
    readonly error: unknown;
};
/** Ends of a call that are neither a result nor the handler's own error. */
type OutcomeKind = "not-implemented" | "no-handler" | "dropped" | "queue-full" | "cancelled" | "deadline" | "timeout" | "closed";
/**
 * Waits for a call and returns its end as a value. Callers need not catch errors and compare codes. Pass the call's signal too:
 * a cancelled call rejects with the signal's reason, and `outcome` recognizes that reason only if it has the signal. Misuse
 * still rejects, such as a value that the codec cannot encode.
 */
declare function outcome<T>(call: Promise<T>, signal?: AbortSignal): Promise<Outcome<T>>;

/**
 * Policy for an event when the queue to the listener is full. With "wait", `send` waits for room. With "fail", `send` rejects.
 * With the other policies, the oldest or the newest event is dropped.
 */
type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";
/** Sends a source's events to one listener. */
interface EventSink<T = unknown> {
    /** The channel's name. */
    readonly channel: string;
    /** Aborts when the listener has cancelled, or the transport has closed. */
    readonly signal: AbortSignal;
    /**
     * Sends an event. Encodes the event at once and moves its large lists.
     *
     * Resolves to true when the event has been sent or waits in the queue. Resolves to false if the event was dropped or the
     * stream is over. If the queue is full, `whenFull` decides: the promise waits for room, the promise rejects with
     * `queue-full`, or an event is dropped. Rejects with the codec's error if the codec cannot encode the event. Rejects with
     * `queue-full` if 1024 calls already wait.
     *
     * A loop that awaits its calls lets the event loop turn after 2 ms, whatever the listener chose for a full queue.
     */
    send(event: T): Promise<boolean>;
    /** Ends the stream after the events sent so far. */
    end(): void;
    /** Ends the stream with an error, after the events sent so far. */
    fail(error: unknown): void;
}

/** Settings of an endpoint. */
interface EndpointOptions {
    /**
     * The wire to use. "clearway" connects two Clearway endpoints. "plain" uses only the messages of Flutter's platform channels.
     * "either" uses "clearway" if the other end's hello lists it, else "plain". Default: "clearway".
     */
    readonly wire?: WireName | "either";
    /**
     * The codec of channels that name none. "clone": values cross by structured clone, which also carries dates, sets, errors and all typed
     * arrays. Both ends must take it, and the transport must be a port; otherwise `connect` rejects with `protocol`. "standard": values
     * cross as bytes of the standard codec. Default: "clone" if the transport is a port without a ring, both ends are parts of one program,
     * and both take it; otherwise "standard".
     */
    readonly codec?: "clone" | "standard";
    /**
     * Whether the ends exchange a hello. Set false for an end that is not Clearway's, and that sends no hello and expects none.
     * False needs `wire: "plain"`. Default: true.
     */
    readonly hello?: boolean;
    /** Maximum time to wait for the other end's hello, in milliseconds. Default: 30,000. Infinity: no limit. */
    readonly helloMs?: number;
    /** Stops waiting for the hello when it aborts. `connect` then rejects with the signal's reason. */
    readonly signal?: AbortSignal;
    /**
     * Maximum number of open calls and of open streams. The limit holds for four numbers separately: calls and streams that this
     * end has open, and calls and streams that this end runs for the other end. Default: 4096. A call from the other end counts
     * until its handler has ended and its answer has been sent, even if the call was cancelled.
     */
    readonly callsMax?: number;
    /**
     * Bytes of answers that may wait for the other end to read. Default: 16 MiB. At this limit, no request of the other end
     * starts. The transport is paused too, unless an answer to a call of this end may still arrive. When half of the bytes have
     * been sent, requests start again and the transport resumes.
     *
     * The same number limits the bytes of pushed events that wait for the other end, in all its streams together. At that limit,
     * every stream counts as full, whatever capacity the other end asked for.
     */
    readonly replyBytesMax?: number;
    /**
     * Maximum time that the other end may stay at `replyBytesMax` without reading, in milliseconds. After this time it is
     * disconnected with `timeout`. Default: 30,000. Infinity: no limit.
     */
    readonly stallMs?: number;
    /**
     * Maximum number of values in one message that arrives. A message with more is refused with `too-large` before its values take
     * memory. All values in lists and maps count, and a map entry counts as two. A typed array counts as one. A value takes up to
     * about 200 bytes of memory, also if it has only 2 bytes in the message. Holds for the standard and the JSON codecs. If a
     * codec's own `itemsMax` is smaller, that limit holds. Default: 1,048,576; 16,777,216 if the other end is a worker, a child
     * process or another part of this process.
     */
    readonly valuesMax?: number;
    /** Maximum length of a channel's name, in bytes. Default: 255. It can be 65,535 at most. */
    readonly nameBytesMax?: number;
    /**
     * Number of messages that are kept for a channel without a handler. A further message drops the oldest one. Default: 16. The
     * other end can change the number for a channel, up to 1024.
     */
    readonly early?: number;
    /** Maximum size of all early messages together, in bytes. Default: 1 MiB. */
    readonly earlyBytesMax?: number;
    /** Time that early messages are kept, in milliseconds. After this time they are answered with `no-handler`. Default: 5,000. */
    readonly earlyMs?: number;
    /** Minimum size of a list of numbers that travels next to its message, as an attachment, in bytes. Default: 16 KiB. */
    readonly attachmentBytesMin?: number;
    /**
     * Whether to throw `would-copy` instead of copying an attachment. A transport of bytes copies every attachment, so it refuses
     * all attachments then. Small lists stay in the message and never throw. Default: false.
     */
    readonly strict?: boolean;
    /**
     * Whether an error reply on the plain wire has the stack of a handler's error as its fourth part. Some ends that are not
     * Clearway's cannot read this part. Default: false.
     */
    readonly stacks?: boolean;
    /**
     * Whether the other end receives errors of handlers and sources in full, with stack, properties and causes. If false, it
     * receives only the code and the message, and the `details` of a {@link RemoteError} that this end created. Default: true for
     * a worker, a child process and another part of this process; false for WebSockets, sockets and other streams.
     */
    readonly exposeErrors?: boolean;
    /**
     * Returns the error to send instead of the error that a handler or a source threw, for example a {@link RemoteError}. It runs
     * before any part of the error is left out. If it throws, the other end receives the code `error` and a message without
     * details.
     */
    readonly redactError?: (error: unknown, channel: string) => unknown;
    /** Called with errors that no caller receives, such as the error of a post's handler. Default: `console.error`. */
    readonly onError?: (error: unknown, channel: string) => void;
}
/** Options of a listener. */
interface ListenOptions {
    /** Ends the stream at both ends when it aborts. Reading rejects with the signal's reason. */
    readonly signal?: AbortSignal | undefined;
    /** Maximum number of events and of bytes that the other end may send ahead of the reader. Default: 16 events and 1 MiB. */
    readonly window?: Partial<Window>;
    /**
     * Number of pushed events that may wait at the other end when the window is used up. Default: the other end's setting, else
     * 16.
     */
    readonly capacity?: number;
    /** Policy of the other end's queue when it is full. Default: the other end's setting, else "wait". */
    readonly whenFull?: WhenFull;
    /** Called with the number of dropped events when the next event, or the end of the stream, is read. */
    readonly onDrop?: (count: number) => void;
}
/** Settings of the queue of pushed events, for listeners that do not set their own. */
interface ServeOptions {
    /** Policy of a full queue. Default: "wait". */
    readonly whenFull?: WhenFull;
    /**
     * Number of events that may wait when the listener's window is used up: 1 to 65,535. Default: 16. Values of an iterable do
     * not wait in this queue.
     */
    readonly capacity?: number;
}
/**
 * Returns options for a reader that wants only the newest event, such as the next frame to draw. If events are pushed faster
 * than they are read, the other end keeps only the newest one. The next value of an iterable is requested only when the reader
 * is ready for it. With a window of 1, one event is in flight or waits at the reader. With a window of 2, the next event is in
 * flight while the reader reads one.
 */
declare function latest(window?: number): ListenOptions;

/** Limits and cancellation of one call. */
interface CallOptions {
    /**
     * When the signal aborts, cancels the call at both ends; on the plain wire, at this end only. The call rejects with the
     * signal's reason.
     */
    readonly signal?: AbortSignal | undefined;
    /**
     * Maximum run time of the handler, in milliseconds. The other end measures it from the start of the handler, and enforces it.
     * On the plain wire, this end measures it from the start of the call.
     */
    readonly timeoutMs?: number | undefined;
    /** Maximum time of the whole call, in milliseconds. This end enforces it, even if the other end does not react. */
    readonly deadlineMs?: number | undefined;
}

/** A handler's second argument. */
interface HandlerContext {
    /** The channel's name. */
    readonly channel: string;
    /** Aborts when the caller has cancelled, the time limit is over, or the transport has closed. Created when first read. */
    readonly signal: AbortSignal;
    /** Time that the caller had left when it sent the call, in milliseconds. Undefined if the call has no deadline. */
    readonly deadlineMs: number | undefined;
}

/**
 * The iterator of an event stream. It reads one event at a time. Leaving a `for await` loop ends the stream at the other end
 * too.
 */
interface EventStream<T> extends AsyncIterableIterator<T, void, void>, AsyncDisposable {
    /** Total number of events that were dropped before the event read last. */
    readonly dropped: number;
    /** Ends the stream at both ends, like `break`. Never rejects. */
    return(): Promise<IteratorResult<T, void>>;
}

/** The result of a source of events: an iterable of events. A source that pushes events through the sink returns nothing. */
type EventSource<T> = AsyncIterable<T> | Iterable<T> | void | Promise<AsyncIterable<T> | Iterable<T> | void>;
/** A channel of events. Either end may listen and serve. */
interface Events {
    readonly name: string;
    /**
     * Listens to the channel. The other end starts a stream with the arguments, and never sends more than the window allows.
     * `break` ends the stream at the other end too. Each `listen` starts a stream of its own, with its own window. On the
     * plain wire, a second one on a channel ends the first stream, which rejects with `cancelled`.
     *
     * Reading rejects with the errors of a method's call. After one rejection, the stream is at its end. Throws
     * `invalid-argument`, and the codec's error for arguments that the codec cannot encode.
     */
    listen<T = unknown>(args?: unknown, options?: ListenOptions): EventStream<T>;
    /**
     * Serves the channel's events. Calls `open` for each listener.
     *
     * The next value of an iterable is requested only when the value can leave at once: the listener has given credit, no event
     * waits, and the transport is not congested. Values of an iterable are therefore never dropped. Events that are pushed
     * through the sink wait in a queue of up to `capacity` events. `whenFull` is the policy of a full queue. The stream ends when
     * the iterable or the async function ends. Events are encoded when they are sent, and their large lists are moved.
     *
     * Throws `invalid-argument` if the channel already has a handler.
     */
    serve<T = unknown, A = unknown>(open: (args: A, sink: EventSink<T>) => EventSource<T>, options?: ServeOptions): Disposable;
}

/** Handles one message and returns the reply. `undefined` becomes an empty reply. */
type MessageHandler<T, Written> = (message: T, context: HandlerContext) => Written | undefined | Promise<Written | undefined>;
/** A channel of whole messages, each with or without a reply. Either end may send and handle. */
interface Messages<T, Written = T> {
    readonly name: string;
    /**
     * Sends a message and waits for the reply. The reply is `undefined` if the handler returned none. Copies the message's lists,
     * or moves them if the message is given with `move()`. Rejects with:
     *
     * - the codec's error, for a message or a reply that the codec refuses;
     * - a {@link RemoteError}, if the handler threw;
     * - a `ClearwayError`: `no-handler`, `dropped`, `queue-full`, `deadline`, `timeout`, `transport-closed` or `too-large`;
     * - the signal's reason, if the signal aborts.
     */
    send(message: Written, options?: CallOptions): Promise<T | undefined>;
    /**
     * Sends a message that has no reply. Settles when the transport has taken the message. A sender that awaits each post
     * therefore sends no faster than the transport carries. Rejects like `send`.
     */
    post(message: Written): Promise<void>;
    /**
     * Handles the other end's messages. Messages that arrived before this handler come first. Encodes the handler's replies and
     * moves their large lists. Disposing the result removes the handler; later messages wait for the next handler. Throws
     * `invalid-argument` if the channel already has a handler.
     */
    handle(handler: MessageHandler<T, Written>): Disposable;
}

/** A method. It takes the call's arguments, and returns its result or throws. */
type MethodHandler = (args: never, context: HandlerContext) => unknown;
/** A function that handles all methods returns this value for a method that it does not have. */
declare const notImplemented: unique symbol;
/** A channel's methods by name, or one function for all of them. */
type MethodHandlers = Readonly<Record<string, MethodHandler>> | ((method: string, args: unknown, context: HandlerContext) => unknown);
/** A channel of methods. Either end may call and handle. */
interface Methods {
    readonly name: string;
    /**
     * Calls a method with one value as its arguments. Copies the lists of the arguments, or moves them if the arguments are given
     * with `move()`. Rejects with the errors of `send` of {@link Messages}, and with `not-implemented`. The error of the other
     * end is a {@link RemoteError}. The type `R` is not checked.
     */
    call<R = unknown>(method: string, args?: unknown, options?: CallOptions): Promise<R>;
    /**
     * Handles the other end's calls. Calls that arrived before this handler come first. Encodes results and moves their large
     * lists. `undefined` becomes null. The caller of a missing method receives `not-implemented`. Throws `invalid-argument` if
     * the channel already has a handler.
     */
    handle(handlers: MethodHandlers): Disposable;
}

/** Counts of an endpoint's open work, and its counters of moved and copied bytes. */
interface EndpointStats {
    readonly wire: WireName;
    readonly codec: "clone" | "standard";
    readonly transport: string;
    /** Calls of this end that wait for their answers. */
    readonly calls: number;
    /** Calls and posts of the other end whose handlers have not ended, or whose answers have not been sent. */
    readonly handling: number;
    /** Bytes of answers and of pushed events that wait for the other end to read. `replyBytesMax` limits each of the two sums. */
    readonly waitingBytes: number;
    /** Streams that this end listens to. */
    readonly listening: number;
    readonly serving: number;
    readonly ledger: ChannelLedger;
}
/** One end of a connection. Both ends have the same functions. A channel has a name, and creating one sends nothing. */
interface Endpoint extends AsyncDisposable {
    /** The wire that both ends agreed on. */
    readonly wire: WireName;
    /** The codec of channels that name none, which both ends agreed on: see the option `codec` of `connect`. */
    readonly codec: "clone" | "standard";
    /** Resolves to the reason when either end has closed the transport. Never rejects. */
    readonly closed: Promise<CloseReason>;
    /** Returns a channel of messages with the codec that both ends agreed on. Throws `invalid-argument` for a name that is too long. */
    messages(name: string): Messages<unknown>;
    /** Returns a channel of messages with another codec. Throws `invalid-argument` for a name that is too long. */
    messages<T, Written = T>(name: string, codec: MessageCodec<T, Written>): Messages<T, Written>;
    /** Returns a channel of methods. Throws `invalid-argument` for a name that is too long. */
    methods(name: string, codec?: MethodCodec): Methods;
    /** Returns a channel of events. Throws `invalid-argument` for a name that is too long. */
    events(name: string, codec?: MethodCodec): Events;
    /** Returns a copy of the counters. */
    stats(): EndpointStats;
    /**
     * Closes the endpoint. Starts no new work, ends the streams that this end serves, and waits for open calls of both ends.
     * After at most `timeoutMs` milliseconds (default: 5,000) it closes the transport. Unfinished work rejects with
     * `transport-closed`. `await using` calls `close` too.
     */
    close(options?: {
        timeoutMs?: number;
    }): Promise<void>;
    /** Closes the transport at once. All open work of both ends fails with `transport-closed`. */
    terminate(reason?: CloseReason): void;
}
/**
 * Connects an endpoint over a transport. Both ends send a hello and agree on the wire. Takes ownership of the transport, and
 * closes it if the connection fails. After `invalid-argument`, the transport stays open and belongs to the caller. Register
 * handlers as soon as the promise settles. Messages that arrive earlier wait, within limits. Rejects with:
 *
 * - `invalid-argument`, for an argument that is not valid;
 * - `protocol`, if the other end's wire, version or frame limit does not fit, or if its first frame is not a hello;
 * - `deadline`, if the other end sends no hello within `helloMs`;
 * - `transport-closed`, if the transport closes before the hello;
 * - the signal's reason, if the signal aborts.
 */
declare function connect(transport: ChannelTransport, options?: EndpointOptions): Promise<Endpoint>;

/** TypeScript types for each type name: `read` is the type that the program receives, `write` the type that it may send. */
interface NamedTypes {
    /** Any value that the codec can encode. */
    any: {
        read: unknown;
        write: unknown;
    };
    /** No value. It is read as `null`. The program may write `null` or `undefined`. */
    null: {
        read: null;
        write: null | undefined;
    };
    bool: {
        read: boolean;
        write: boolean;
    };
    /** A signed whole number of 32 bits. */
    i32: {
        read: number;
        write: number;
    };
    /**
     * A safe integer (more than -2^53 and less than 2^53), as `number`. Languages with 64-bit integers use a signed 64-bit
     * integer.
     */
    int: {
        read: number;
        write: number;
    };
    /** A signed whole number of 64 bits. */
    i64: {
        read: bigint;
        write: bigint | number;
    };
    /**
     * A number. It is encoded as a float even if it is whole, because receivers in other languages distinguish integers from
     * floats.
     */
    f64: {
        read: number;
        write: number;
    };
    text: {
        read: string;
        write: string;
    };
    bytes: {
        read: Uint8Array;
        write: Uint8Array;
    };
    /** A list of numbers, as a typed array. So are the next three types. */
    i32s: {
        read: Int32Array;
        write: Int32Array;
    };
    i64s: {
        read: BigInt64Array;
        write: BigInt64Array;
    };
    f32s: {
        read: Float32Array;
        write: Float32Array;
    };
    f64s: {
        read: Float64Array;
        write: Float64Array;
    };
}
/** The name of a type that needs no parameter. */
type TypeName = keyof NamedTypes;
/**
 * The type of a value, as plain data that can be stored as JSON. It is a name, or an object with one property for a composed
 * type.
 */
type Type = TypeName | {
    readonly list: Type;
}
/** A map from texts to values of one type. */
 | {
    readonly map: Type;
} | {
    readonly struct: StructFields;
} | {
    readonly nullable: Type;
}
/** One of these texts. */
 | {
    readonly oneOf: readonly string[];
}
/** The type with this name in the schema's `types`. */
 | {
    readonly ref: string;
};
/** The fields of a struct, by name. */
type StructFields = {
    readonly [name: string]: Type;
};
/** TypeScript type of a value that the program reads, for the schema type `T`. `Types` are the schema's named types. */
type ReadOf<T, Types = unknown> = T extends TypeName ? NamedTypes[T]["read"] : T extends {
    readonly list: infer Item;
} ? ReadOf<Item, Types>[] : T extends {
    readonly map: infer Value;
} ? {
    readonly [key: string]: ReadOf<Value, Types>;
} : T extends {
    readonly struct: infer Fields;
} ? {
    readonly [Name in keyof Fields]: ReadOf<Fields[Name], Types>;
} : T extends {
    readonly nullable: infer Some;
} ? ReadOf<Some, Types> | null : T extends {
    readonly oneOf: readonly (infer Text)[];
} ? Text : T extends {
    readonly ref: infer Name;
} ? Name extends keyof Types ? ReadOf<Types[Name], Types> : never : never;
/** TypeScript type of a value that the program may write, for the schema type `T`. Nullable fields may be omitted. */
type WriteOf<T, Types = unknown> = T extends TypeName ? NamedTypes[T]["write"] : T extends {
    readonly list: infer Item;
} ? readonly WriteOf<Item, Types>[] : T extends {
    readonly map: infer Value;
} ? {
    readonly [key: string]: WriteOf<Value, Types>;
} : T extends {
    readonly struct: infer Fields;
} ? WriteFields<Fields, Types> : T extends {
    readonly nullable: infer Some;
} ? WriteOf<Some, Types> | null | undefined : T extends {
    readonly oneOf: readonly (infer Text)[];
} ? Text : T extends {
    readonly ref: infer Name;
} ? Name extends keyof Types ? WriteOf<Types[Name], Types> : never : never;
type WriteFields<Fields, Types> = {
    readonly [Name in keyof Fields as undefined extends WriteOf<Fields[Name], Types> ? never : Name]: WriteOf<Fields[Name], Types>;
} & {
    readonly [Name in keyof Fields as undefined extends WriteOf<Fields[Name], Types> ? Name : never]?: WriteOf<Fields[Name], Types>;
};
/**
 * A validated type, for validators and code generators. References to the schema's named types are resolved. `name` is the name
 * of such a type.
 */
type TypeShape = {
    readonly kind: TypeName;
} | {
    readonly kind: "list" | "map" | "nullable";
    readonly of: TypeShape;
} | {
    readonly kind: "struct";
    readonly fields: readonly FieldShape[];
    readonly name?: string;
} | {
    readonly kind: "one-of";
    readonly texts: readonly string[];
    readonly name?: string;
};
/** One field of a struct, read from a schema. */
interface FieldShape {
    readonly name: string;
    readonly type: TypeShape;
}
/** The methods and events of a channel, as plain data without code. The data can be stored as JSON. */
interface SchemaData {
    /** Name of the channel on which the methods are called. */
    readonly channel: string;
    /** Named types. A type with a name can be used in several places, with `{ ref: name }`. */
    readonly types?: {
        readonly [name: string]: Type;
    };
    readonly methods?: {
        readonly [name: string]: MethodData;
    };
    readonly events?: {
        readonly [name: string]: EventData;
    };
}
/** One method of a schema. */
interface MethodData {
    /** Description of the method; generated code contains it. */
    readonly doc?: string;
    /** Type of the method's argument, which is one value, usually a struct. Default: no argument. */
    readonly args?: Type;
    /** Type of the method's result. Default: no result. */
    readonly result?: Type;
}
/** One stream of events of a schema. */
interface EventData {
    /** Description of the event; generated code contains it. */
    readonly doc?: string;
    /** Type of the argument that a listener sends when it starts. Default: no argument. */
    readonly args?: Type;
    /** Type of an event's value. */
    readonly value: Type;
    /** Name of the event's own channel. Default: the schema's channel, a slash and the event's name. */
    readonly channel?: string;
}
/** A validated method. */
interface MethodShape {
    readonly name: string;
    readonly doc: string;
    readonly args: TypeShape;
    readonly result: TypeShape;
}
/** A validated event. */
interface EventShape {
    readonly name: string;
    readonly doc: string;
    readonly channel: string;
    readonly args: TypeShape;
    readonly value: TypeShape;
}
/** A validated schema, with its parts in the order of declaration. */
interface SchemaShape {
    readonly channel: string;
    /** The schema's named types. References in them are resolved. */
    readonly types: readonly {
        readonly name: string;
        readonly type: TypeShape;
    }[];
    readonly methods: readonly MethodShape[];
    readonly events: readonly EventShape[];
}
/**
 * Reads a schema from data of unknown origin, such as a JSON file. Throws `invalid-argument` with the path of the invalid part.
 */
declare function readSchema(value: unknown): SchemaShape;

type Part<S, Name extends string> = S extends {
    readonly [Key in Name]: infer Value;
} ? Value : unknown;
type Types<S> = Part<S, "types">;
type MethodNames<S> = keyof Part<S, "methods">;
type EventNames<S> = keyof Part<S, "events">;
type Method<S, Name> = Name extends MethodNames<S> ? Part<S, "methods">[Name] : never;
type Event<S, Name> = Name extends EventNames<S> ? Part<S, "events">[Name] : never;
/** The type that a part of a declaration has. A missing part has the type null. */
type In<Declared, Name extends string> = Declared extends {
    readonly [Key in Name]: infer Value;
} ? Value : "null";
type Read<S, Declared, Name extends string> = ReadOf<In<Declared, Name>, Types<S>>;
type Write<S, Declared, Name extends string> = WriteOf<In<Declared, Name>, Types<S>>;
type Movable<T> = T | Moved<T>;
/** The type of a value that the program gives. If the value can be null, the program may omit it. */
type Given<T> = undefined extends T ? Movable<T> | undefined : Movable<T>;
type Returned<T> = undefined extends T ? Given<T> | void : Given<T>;
type Function<Args, Options, Result> = undefined extends Args ? (args?: Args, options?: Options) => Result : (args: Args, options?: Options) => Result;
/** Functions that call a schema's methods, by name. */
type Callers<S> = {
    readonly [Name in MethodNames<S>]: Function<Given<Write<S, Method<S, Name>, "args">>, CallOptions, Promise<Read<S, Method<S, Name>, "result">>>;
};
/** Functions that listen to a schema's events, by name. */
type Listeners<S> = {
    readonly [Name in EventNames<S>]: Function<Given<Write<S, Event<S, Name>, "args">>, ListenOptions, EventStream<Read<S, Event<S, Name>, "value">>>;
};
/** A handler for each of a schema's methods. */
type MethodsOf<S> = {
    readonly [Name in MethodNames<S>]: (args: Read<S, Method<S, Name>, "args">, context: HandlerContext) => Returned<Write<S, Method<S, Name>, "result">> | Promise<Returned<Write<S, Method<S, Name>, "result">>>;
};
/** A source for each of a schema's events. */
type SourcesOf<S> = {
    readonly [Name in EventNames<S>]: (args: Read<S, Event<S, Name>, "args">, sink: EventSink<Movable<Write<S, Event<S, Name>, "value">>>) => EventSource<Movable<Write<S, Event<S, Name>, "value">>>;
};
/** A schema's handlers: `methods` if the schema has methods, and `events` if it has events. */
type HandlersOf<S> = (S extends {
    readonly methods: object;
} ? {
    readonly methods: MethodsOf<S>;
} : {
    readonly methods?: Record<string, never>;
}) & (S extends {
    readonly events: object;
} ? {
    readonly events: SourcesOf<S>;
} : {
    readonly events?: Record<string, never>;
});
/** Calls the other end's methods and listens to its events, by name and with types. */
interface Caller<S> {
    /**
     * Calls a method: `caller.call.name(args, options)`. Rejects like the endpoint's `call`, and for values that do not match the
     * schema (see {@link ChannelSchema}).
     */
    readonly call: Callers<S>;
    /** Listens to events: `caller.listen.name(args, options)`. Returns an async iterable. */
    readonly listen: Listeners<S>;
}
/**
 * A schema that both ends have. It types callers and handlers, and validates every value in both directions.
 *
 * If a value of the program does not match, the schema throws `invalid-argument`. If a value of the other end does not match,
 * it throws `protocol`. The error's message names the value's path and the expected type; the properties `path` and `expected`
 * hold them. A handler does not receive arguments that do not match: the caller receives a remote error with the code
 * `invalid-argument`. Validation creates new lists, maps and structs. It does not copy lists of numbers.
 */
declare class ChannelSchema<const S> {
    #private;
    /** The validated schema, for code generators. */
    readonly shape: SchemaShape;
    /** Use {@link schema} instead. */
    constructor(data: S);
    /** Returns functions for the other end's methods and events. Creates one closure for each of them and sends nothing. */
    caller(endpoint: Endpoint): Caller<S>;
    /**
     * Handles the schema's methods and events for the other end. Disposing the result removes the handlers. Throws
     * `invalid-argument` if a channel already has a handler, or if a handler is missing.
     */
    handle(endpoint: Endpoint, handlers: HandlersOf<S>, options?: ServeOptions): Disposable;
}
/**
 * Declares the methods and events of a channel, as plain data that can be stored as JSON. `clearway-native gen` generates a C
 * header and a Rust trait from the same data. The compiler infers the types of callers and handlers from the data. Throws
 * `invalid-argument` with the path of the invalid part.
 */
declare function schema<const S extends SchemaData>(data: S): ChannelSchema<S>;

/** Properties of the error for a value that does not match its schema. */
interface ValidationIssueParts {
    /** The value's path, such as `args.places[3].city`. */
    readonly path: string;
    /** The type that the schema expects at this path. */
    readonly expected: string;
}

/**
 * Returns two connected transports in one thread, for tests and for parts of an app that may be separated later. Copies
 * nothing. It passes frames as they are. It moves attachments: the sender loses access to them, as with other transports.
 * Delivers in microtasks. Throws `invalid-argument`.
 */
declare function memoryPair(limits?: TransportLimits): [ChannelTransport, ChannelTransport];

/**
 * Returns a transport over a worker's port. Small frames of one tick are sent as one message. Two ends that both take values exchange
 * them by structured clone, unless there is a ring (see `codec` of `connect`). Attachments are moved, and shared memory is shared.
 * `close` closes a `MessagePort`, but leaves a worker running. An open transport keeps a Node process alive, like any port with
 * listeners. Throws `invalid-argument`.
 */
declare function portTransport(port: PortLike, options?: PortOptions): ChannelTransport;

export { ChannelSchema, ChannelTransport, ClearwayError, CloseReason, CodecErrorCode, Float64, Moved, PortLike, PortOptions, RemoteError, TransportLimits, binaryCodec, connect, extension, float64, isCodecError, jsonMessageCodec, jsonMethodCodec, latest, memoryPair, notImplemented, outcome, portTransport, readSchema, schema, standardMessageCodec, standardMethodCodec, stringCodec };
export type { CallOptions, Caller, Callers, ChannelCopyReason, ChannelLedger, ChannelLedgerSide, Codec, CodecError, CodecLimits, CodecName, DecodeOptions, Endpoint, EndpointOptions, EndpointStats, EventData, EventShape, EventSink, EventSource, EventStream, Events, Extension, FieldShape, HandlerContext, HandlersOf, JsonMessageCodec, JsonMethodCodec, JsonOptions, ListenOptions, Listeners, MessageCodec, MessageHandler, Messages, MethodCall, MethodCodec, MethodData, MethodError, MethodHandler, MethodHandlers, MethodReply, MethodShape, MethodSuccess, Methods, MethodsOf, NamedTypes, NoReply, Outcome, OutcomeKind, ReadOf, RemoteErrorParts, SchemaData, SchemaShape, ServeOptions, SourcesOf, StandardMessageCodec, StandardMethodCodec, StandardOptions, StructFields, Type, TypeName, TypeShape, ValidationIssueParts, ValueReader, ValueWriter, WhenFull, WireName, WriteOf };
