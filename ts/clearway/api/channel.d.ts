import { C as ClearwayError, a as CodecErrorCode, M as Moved } from './types-move.js';
export { b as ChannelErrorCode, E as ErrorCode, c as channelErrorCodes, d as codecErrorCodes, m as move } from './types-move.js';
import { C as CloseReason, a as ChannelTransport, T as TransportLimits } from './types-limits.js';
export { b as ChannelSink, c as CloseCode } from './types-limits.js';
import { Window } from './index.js';

/** Encodes and decodes the values of a channel. A codec has no state, so any number of channels can share it. */
interface Codec<T, Written = T> {
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
type CodecName = "standard" | "standard-method" | "json" | "json-method" | "string" | "binary";
/** Options of a codec's `decode`. */
interface DecodeOptions {
    /**
     * The caller gives the bytes to the value: lists of numbers become views of them where their alignment allows, instead of copies.
     * Writing to one view, or transferring its memory, then affects the other parts of the value.
     */
    readonly owned?: boolean;
}
/** A codec whose message is one value. */
interface MessageCodec<T, Written = T> extends Codec<T, Written> {
}
/** A pair of codecs: for the calls of methods and for their replies. */
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
/** A decoded reply: the method's result, its error, or `none` (the reply has no bytes: not implemented, or no handler). */
type MethodReply = MethodSuccess | MethodError | NoReply;
/** A reply with a result. */
interface MethodSuccess {
    readonly kind: "success";
    readonly value: unknown;
}
/** A reply with an error, as Flutter's method codecs have it. */
interface MethodError {
    readonly kind: "error";
    readonly code: string;
    readonly message: string | null;
    readonly details: unknown;
    /** The stack trace at the other end: the fourth value of the reply. `undefined` leaves it out of the message. */
    readonly stack?: string | null;
}
/** A reply without bytes: the method is not implemented, or the channel has no handler. */
interface NoReply {
    readonly kind: "none";
}
/** Limits on a message. A codec checks them before it allocates. */
interface CodecLimits {
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

/** The error that a codec throws, with the position of the failure. */
interface CodecError extends ClearwayError {
    readonly code: CodecErrorCode;
    /** In bytes. Decoding: the first byte that cannot be read (spec/wire.md defines it for each code). Encoding: bytes written so far. */
    readonly offset: number;
}
/** Whether a thrown value is a {@link CodecError}. */
declare function isCodecError(thrown: unknown): thrown is CodecError;

/**
 * An application's own type on the wire: a type byte from 128 on, followed by the bytes that `write` writes. Both ends must
 * register it. Float64 values in the body are aligned to 8 bytes, as the codec's own are.
 */
interface Extension<T = unknown> {
    /** The type byte: 128 to 255, unique in one codec. */
    readonly tag: number;
    /** The class whose instances use this extension. Subclasses do not. */
    readonly type: abstract new (...args: never[]) => T;
    /** Writes the body. Errors that it throws reach the caller of `encode`. */
    write(value: T, writer: ValueWriter): void;
    /** Reads exactly the bytes that `write` wrote. An error other than a {@link CodecError} becomes the cause of a `malformed` error. */
    read(reader: ValueReader): T;
}
/** Writes an extension's body. Do not use it after `write` returned. */
interface ValueWriter {
    /** Bytes of the message so far. */
    readonly offset: number;
    /** Writes one byte. Throws `invalid-argument` for a value out of range, as the other methods do. */
    uint8(value: number): void;
    /** Writes a signed integer in 4 bytes, little-endian. */
    int32(value: number): void;
    /** Writes an unsigned integer in 4 bytes, little-endian. */
    uint32(value: number): void;
    /** Writes a signed integer in 8 bytes, little-endian. */
    int64(value: bigint): void;
    /** Pads to a multiple of 8 and writes a float64. */
    float64(value: number): void;
    /** Writes a size or a count in 1, 3 or 5 bytes. */
    size(value: number): void;
    /** Copies the bytes, without a size in front. */
    bytes(value: Uint8Array): void;
    /** Writes the text's size and its UTF-8, without a type byte. */
    text(value: string): void;
    /** Writes zeros up to a multiple of `alignment`, counted from the message's first byte. */
    pad(alignment: 1 | 2 | 4 | 8): void;
    /** Writes any value with its type byte, one nesting level deeper. */
    value(value: unknown): void;
}
/** Reads an extension's body. Do not use it after `read` returned. Every method throws `truncated` when the message ends too early. */
interface ValueReader {
    /** The position of the next byte. */
    readonly offset: number;
    /** Bytes that remain. */
    readonly left: number;
    /** Reads one byte. */
    uint8(): number;
    /** Reads a signed integer of 4 bytes, little-endian. */
    int32(): number;
    /** Reads an unsigned integer of 4 bytes, little-endian. */
    uint32(): number;
    /** Reads a signed integer of 8 bytes, little-endian. */
    int64(): bigint;
    /** Skips the padding to 8 and reads a float64. */
    float64(): number;
    /** Reads a size or a count. Does not compare it with the remaining bytes. */
    size(): number;
    /** Reads `count` bytes: a view when the message is owned, else a copy. */
    bytes(count: number): Uint8Array;
    /** Reads a size and that many bytes of UTF-8. Throws `bad-utf8` for other bytes. */
    text(): string;
    /** Skips to a multiple of `alignment`, counted from the message's first byte. */
    pad(alignment: 1 | 2 | 4 | 8): void;
    /** Reads any value with its type byte, one nesting level deeper. */
    value(): unknown;
}
/** Types an extension for `with({ extensions: [...] })`; returns its argument. */
declare function extension<T>(parts: Extension<T>): Extension;

/** A number that is encoded as float64 even when it is whole. Arithmetic treats it as the number. */
declare class Float64 {
    readonly value: number;
    constructor(value: number);
    /** Returns the number, so that arithmetic works. */
    valueOf(): number;
    /** Returns the number for `JSON.stringify`. */
    toJSON(): number;
}
/**
 * Forces float64 on the wire. The standard codec encodes a whole `number` as an integer, and some receivers distinguish
 * integers from floats. Throws `invalid-argument` unless the value is a number.
 */
declare function float64(value: number): Float64;

/** Settings of a JSON codec. */
interface JsonOptions extends Partial<Pick<CodecLimits, "depthMax">> {
}
/** The JSON message codec. */
interface JsonMessageCodec extends MessageCodec<unknown> {
    /** The same codec with other settings. Throws `invalid-argument`. */
    with(options: JsonOptions): JsonMessageCodec;
}
/**
 * Encodes messages as UTF-8 JSON; the message for null has no bytes. Values follow `JSON.stringify`: NaN becomes null, lists
 * of bytes become objects. A key `__proto__` is decoded as an own property.
 */
declare const jsonMessageCodec: JsonMessageCodec;
/** The JSON method codec. */
interface JsonMethodCodec extends MethodCodec {
    /** The same codec with other settings. Throws `invalid-argument`. */
    with(options: JsonOptions): JsonMethodCodec;
}
/** Encodes calls as UTF-8 JSON `{"method": …, "args": …}` and replies as `[value]` or `[code, message, details]`. */
declare const jsonMethodCodec: JsonMethodCodec;

/** Settings of a standard codec. */
interface StandardOptions extends Partial<CodecLimits> {
    /** The application's own types, added to those that the codec already has. */
    readonly extensions?: readonly Extension[];
    /**
     * Keeps distinctions that decoding normally loses: a whole float64 becomes a `float64()` object, every map a `Map` in the
     * message's order. Encoding the value again then gives the same bytes, if they were in the shortest form. Default false.
     */
    readonly lossless?: boolean;
    /**
     * Encodes the message `null` as no bytes, as Flutter does (default true). False encodes it as the type byte 0 and refuses empty
     * messages, for transports on which an empty message means something else. Inside methods it is always the type byte.
     */
    readonly emptyNull?: boolean;
}
/** The standard message codec. */
interface StandardMessageCodec extends MessageCodec<unknown> {
    /** The same codec with other settings. Throws `invalid-argument`. */
    with(options: StandardOptions): StandardMessageCodec;
}
/**
 * Flutter's standard message codec (spec/wire.md): null, booleans, numbers, `bigint`, text, lists of bytes and numbers,
 * arrays, plain objects and `Map`s, and extensions. Whole numbers are encoded as integers (see {@link float64}), `undefined`
 * as null. Any other value throws `not-encodable`; the codec never omits or changes one.
 */
declare const standardMessageCodec: StandardMessageCodec;
/** The standard method codec. */
interface StandardMethodCodec extends MethodCodec {
    /** The same codec with other settings. Throws `invalid-argument`. */
    with(options: StandardOptions): StandardMethodCodec;
}
/**
 * Flutter's standard method codec (spec/wire.md). A reply without bytes reads as `{ kind: "none" }`; the caller of a method
 * takes it for "not implemented, or no handler".
 */
declare const standardMethodCodec: StandardMethodCodec;

/** Encodes text as UTF-8. Both the empty text and null have no bytes; no bytes decode as the empty text. */
declare const stringCodec: MessageCodec<string, string | null>;
/**
 * Passes bytes through. `encode` returns its argument without a copy. `decode` does so when the bytes are owned, else it copies.
 */
declare const binaryCodec: MessageCodec<Uint8Array, Uint8Array | null>;

/** Why memory of a message was copied. */
type ChannelCopyReason = 
/** It was encoded into the message: all bytes of a message except its attachments. */
"encoded"
/** A large list that was not given away with `move()`. */
 | "not-moved"
/** A large list that is a view of a part of its buffer. */
 | "partial-view"
/** Memory that cannot be transferred: WebAssembly's, Node's buffer pool. */
 | "not-transferable"
/** The transport carries only bytes. */
 | "byte-transport";
/** Bytes that crossed in one direction. */
interface ChannelLedgerSide {
    /** Bytes that changed owner without a copy. */
    movedBytes: number;
    /** Bytes of shared memory that a message refers to. Each reference counts. */
    sharedBytes: number;
    /** Bytes that were copied; `copies` has the reasons. */
    copiedBytes: number;
    copies: Partial<Record<ChannelCopyReason, {
        count: number;
        bytes: number;
    }>>;
}
/** Both directions, as this end knows them. Why the other end copied, only that end knows. */
interface ChannelLedger {
    sent: ChannelLedgerSide;
    received: Pick<ChannelLedgerSide, "movedBytes" | "sharedBytes" | "copiedBytes">;
}

declare const brand: unique symbol;
/** Optional parts of an error. */
interface RemoteErrorParts {
    /** Any value that the standard codec can encode. */
    readonly details?: unknown;
    readonly cause?: unknown;
    readonly channel?: string;
    /** The stack at the other end. */
    readonly stack?: string;
    readonly callerStack?: string;
}
/**
 * An error that the other end's handler threw. A handler throws one to choose code and details; for every other error the code is the
 * error's own `code`, or "error". Between two ends of Clearway's wire, `cause` is the error thrown there, with class name, stack,
 * properties and causes, if the other end exposes errors. Then the stack continues with the call's.
 */
declare class RemoteError extends Error {
    readonly name = "RemoteError";
    /** The handler's own code; any text. */
    readonly code: string;
    readonly details: unknown;
    /** The channel's name; empty for an error that has not crossed. */
    readonly channel: string;
    constructor(code: string, message: string, parts?: RemoteErrorParts);
    get [brand](): true;
    /** Recognizes the errors of every copy of this class by their brand, as `ClearwayError` does. */
    static [Symbol.hasInstance](value: unknown): boolean;
}

/** The wires: Clearway's own, and the plain one of platform channels. */
type WireName = "clearway" | "plain";

/** Settings of an endpoint. */
interface EndpointOptions {
    /**
     * The wire to use. "clearway" (the default) connects two ends of Clearway's; "plain" is Flutter's platform messages and nothing else;
     * "either" chooses the first of these two that the other end's hello also lists.
     */
    readonly wire?: WireName | "either";
    /** False for a foreign end that sends no hello and expects none; only with `wire: "plain"`. Default: true. */
    readonly hello?: boolean;
    /** Time limit of the other end's hello, in ms. Default: 30 s. Infinity: no limit. */
    readonly helloMs?: number;
    /** Stops waiting for the hello; `connect` rejects with the signal's reason. */
    readonly signal?: AbortSignal;
    /**
     * Limit of the calls and of the streams that this end has open, and of those that it runs for the other end; each of the four
     * separately. Default: 4096. A call from the other end occupies its place until its handler has ended and its answer has left, even if
     * it was cancelled.
     */
    readonly callsMax?: number;
    /**
     * Bytes of answers that may wait for the other end to read. Default: 16 MiB. At this limit none of its requests starts and, unless this
     * end itself waits for an answer, the transport is paused, until half of the bytes have left. The same number limits the bytes of
     * pushed events that wait for it in all its streams together, whatever capacity it asks for: at that limit every stream is full.
     */
    readonly replyBytesMax?: number;
    /** Time in ms after which an end at that limit that reads nothing is disconnected (`timeout`). Default: 30 s. Infinity: never. */
    readonly stallMs?: number;
    /** Longest name of a channel, in bytes. Default: 255, at most 65,535. */
    readonly nameBytesMax?: number;
    /**
     * Messages kept per channel without a handler; a further message drops the oldest one. Default: 16. The other end can change the number
     * of a channel, up to 1024.
     */
    readonly early?: number;
    /** Limit of all early messages together, in bytes. Default: 1 MiB. */
    readonly earlyBytesMax?: number;
    /** How long early messages are kept, in ms, before they are answered with `no-handler`. Default: 5 s. */
    readonly earlyMs?: number;
    /** Smallest size in bytes at which a list of numbers travels next to its message, as an attachment. Default: 16 KiB. */
    readonly attachmentBytesMin?: number;
    /**
     * Throw `would-copy` instead of copying an attachment; a transport of bytes copies every attachment. Small lists stay in the message
     * and never throw.
     */
    readonly strict?: boolean;
    /** Write a handler error's stack as the fourth part of a plain envelope. Not every foreign end can read it. Default: false. */
    readonly stacks?: boolean;
    /**
     * Whether errors of handlers and sources cross in full, with stack, properties and causes. Default: true for a worker, a child process
     * and another part of this process. Over WebSockets, sockets and other streams, only the code and the message cross, and the `details`
     * of a {@link RemoteError} that this end created.
     */
    readonly exposeErrors?: boolean;
    /**
     * Returns the error that crosses instead of the one that a handler or a source threw, for example a {@link RemoteError}. Runs before
     * anything else is left out. If it throws, the code `error` crosses with a message without details.
     */
    readonly redactError?: (error: unknown, channel: string) => unknown;
    /** Called with handler errors that no caller waits for. Default: `console.error`. */
    readonly onError?: (error: unknown, channel: string) => void;
}

/** What happens to an event when the queue to the listener is full. */
type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";

/** Limits and cancellation of one call. */
interface CallOptions {
    /** Cancels the call at both ends. The call rejects with the signal's reason. */
    readonly signal?: AbortSignal | undefined;
    /** Limit of the handler's run from its start, in ms. The other end enforces it. On the plain wire this end does, from the call on. */
    readonly timeoutMs?: number | undefined;
    /** Limit of the whole call, in ms. This end enforces it, whatever the other end does. */
    readonly deadlineMs?: number | undefined;
}

/** An event stream's iterator. It reads one event at a time; leaving the loop ends the stream at the other end. */
interface EventStream<T> extends AsyncIterableIterator<T, void, void>, AsyncDisposable {
    /** Number of events dropped before the event that was read last. */
    readonly dropped: number;
    /** Ends the stream at both ends, as `break` does. Never rejects. */
    return(): Promise<IteratorResult<T, void>>;
}

/** How a listener reads events. */
interface ListenOptions {
    /** Ends the stream at both ends. Reading rejects with the signal's reason. */
    readonly signal?: AbortSignal | undefined;
    /** How far the other end may be ahead of the reader. Default: 16 events and 1 MiB. */
    readonly window?: Partial<Window>;
    /** How many pushed events wait at the other end once the window is used up. Default: the other end's setting, else 16. */
    readonly capacity?: number;
    /** What the other end does when its queue is full. Default: the other end's setting, else "wait". */
    readonly whenFull?: WhenFull;
    /** Called with the number of dropped events when the event behind them is read. */
    readonly onDrop?: (count: number) => void;
}
/** Queue of pushed events for listeners that do not set their own. */
interface ServeOptions {
    /** What a full queue does. Default: "wait". */
    readonly whenFull?: WhenFull;
    /** Events that wait once the listener's window is used up: 1 to 65,535, default 16. Iterables are not read ahead into this queue. */
    readonly capacity?: number;
}
/**
 * Returns options for a reader that wants only the newest event, such as frames to draw. Of events that are pushed faster than they are
 * read, all but the last are dropped. An iterable's next value is requested only when the reader is ready for it. With a window of 1, one
 * event is in flight or waits here; with a window of 2, the next one is in flight while one is read.
 */
declare function latest(window?: number): ListenOptions;

/** A handler's second argument. */
interface HandlerContext {
    /** The channel's name. */
    readonly channel: string;
    /** Aborts when the caller has cancelled, the time limit is over, or the transport has closed. Created when first read. */
    readonly signal: AbortSignal;
    /** Milliseconds that the caller had left when it sent the call; undefined without a deadline. */
    readonly deadlineMs: number | undefined;
}

/** A source's way to send events to one listener. */
interface EventSink<T = unknown> {
    /** The channel's name. */
    readonly channel: string;
    /** Aborts when the listener has cancelled, or the transport has closed. */
    readonly signal: AbortSignal;
    /**
     * Sends an event: encodes it at once and moves its large lists. Settles with true when the event has left or waits for credit, with
     * false when it was dropped or the stream is over. When the queue is full, it waits for room or rejects with `queue-full`, as
     * `whenFull` says. Rejects with what the codec throws.
     */
    send(event: T): Promise<boolean>;
    /** Ends the stream after the events sent so far. */
    end(): void;
    /** Ends the stream with an error, after the events sent so far. */
    fail(error: unknown): void;
}

/** What a source of events returns: the events, or nothing if it pushes them through the sink until it ends the sink. */
type EventSource<T> = AsyncIterable<T> | Iterable<T> | void | Promise<AsyncIterable<T> | Iterable<T> | void>;
/** A channel of events. Either end may listen and serve. */
interface Events {
    readonly name: string;
    /**
     * Listens: the other end starts a stream with the arguments. The other end never sends more than the window; `break` ends the stream
     * there. A second `listen` on a channel ends the first one, which rejects with `cancelled`. Reading rejects as a method's call does,
     * once; then the stream is at its end. Throws `invalid-argument`, and what the codec throws for the arguments.
     */
    listen<T = unknown>(args?: unknown, options?: ListenOptions): EventStream<T>;
    /**
     * Serves the channel's events: calls `open` for each listener.
     *
     * An iterable's next value is requested only when that value can leave at once: the listener has given credit, no event waits before
     * it, and the transport is not congested. Its values are therefore never dropped. Events pushed through the sink are queued, up to
     * `capacity`; `whenFull` says what a full queue does. The stream ends when the iterable or the async function ends. Events are encoded
     * when they are sent, and their large lists are moved.
     *
     * Throws `invalid-argument` for a second handler of the channel.
     */
    serve<T = unknown, A = unknown>(open: (args: A, sink: EventSink<T>) => EventSource<T>, options?: ServeOptions): Disposable;
}

/** Handles one message. Returns the reply; undefined is an empty reply. */
type MessageHandler<T, Written> = (message: T, context: HandlerContext) => Written | undefined | Promise<Written | undefined>;
/** A channel of whole messages, each with or without a reply. Either end may send and handle. */
interface Messages<T, Written = T> {
    readonly name: string;
    /**
     * Sends a message and waits for the reply, which is `undefined` when the handler returned none. Copies the message's lists, or moves
     * the large ones with `move()`.
     *
     * Rejects with what the codec throws; with a {@link RemoteError}; with a ClearwayError: `no-handler`, `dropped`, `queue-full`,
     * `deadline`, `timeout`, `transport-closed`, `too-large`; and with the signal's reason when the signal aborts.
     */
    send(message: Written, options?: CallOptions): Promise<T | undefined>;
    /**
     * Sends a message that has no reply. Settles when the transport has the message, so awaiting each post keeps a sender in step with the
     * transport. Rejects as `send` does.
     */
    post(message: Written): Promise<void>;
    /**
     * Handles the other end's messages, early ones first. Encodes the handler's replies and moves their large lists. Disposing removes the
     * handler; later messages wait for the next one. Throws `invalid-argument` for a second handler.
     */
    handle(handler: MessageHandler<T, Written>): Disposable;
}

/** A method. Takes the call's arguments; returns its result or throws. */
type MethodHandler = (args: never, context: HandlerContext) => unknown;
/** A handler of all methods returns this for a method it does not have. */
declare const notImplemented: unique symbol;
/** A channel's methods by name, or one function for all of them. */
type MethodHandlers = Readonly<Record<string, MethodHandler>> | ((method: string, args: unknown, context: HandlerContext) => unknown);
/** A channel of methods. Either end may call and handle. */
interface Methods {
    readonly name: string;
    /**
     * Calls a method with one value as its arguments. Copies the arguments' lists, or moves the large ones with `move()`. Rejects as `send`
     * of {@link Messages} does, and with `not-implemented`; the other end's error is a {@link RemoteError}. The type `R` is not checked.
     */
    call<R = unknown>(method: string, args?: unknown, options?: CallOptions): Promise<R>;
    /**
     * Handles the other end's calls, early ones first. Encodes results and moves their large lists; `undefined` becomes null. A missing
     * method is answered with `not-implemented`. Throws `invalid-argument` for a second handler.
     */
    handle(handlers: MethodHandlers): Disposable;
}

/** Open work of an endpoint, and its counters of moved and copied bytes. */
interface EndpointStats {
    readonly wire: WireName;
    readonly transport: string;
    /** Calls of this end that wait for their answers. */
    readonly calls: number;
    /** Calls and posts of the other end whose handlers have not ended, or whose answers have not left. */
    readonly handling: number;
    /** Bytes of answers and pushed events that wait for the other end to read. `replyBytesMax` limits each of the two. */
    readonly waitingBytes: number;
    /** Streams that this end listens to. */
    readonly listening: number;
    readonly serving: number;
    readonly ledger: ChannelLedger;
}
/** One end of a connection; both ends are equal. Channels have names and cost nothing to create. */
interface Endpoint extends AsyncDisposable {
    /** The wire that both ends agreed on. */
    readonly wire: WireName;
    /** Settles with the reason when either end has closed the transport. Never rejects. */
    readonly closed: Promise<CloseReason>;
    /** Returns a channel of messages with the standard codec. Throws `invalid-argument` for a name that is too long. */
    messages(name: string): Messages<unknown>;
    /** Returns a channel of messages with another codec. Throws `invalid-argument` for a name that is too long. */
    messages<T, Written = T>(name: string, codec: MessageCodec<T, Written>): Messages<T, Written>;
    /** Returns a channel of methods. */
    methods(name: string, codec?: MethodCodec): Methods;
    /** Returns a channel of events. */
    events(name: string, codec?: MethodCodec): Events;
    /** Sets how many messages of a channel the other end keeps until the channel has a handler. Rejects as a method's call does. */
    resize(channel: string, count: number): Promise<void>;
    /** Returns a copy of the counters. */
    stats(): EndpointStats;
    /**
     * Closes the endpoint: starts nothing new, ends the streams it serves, waits at most `timeoutMs` (5 s) for open calls of both ends,
     * then closes the transport. Unfinished work rejects with `transport-closed`. `await using` does the same.
     */
    close(options?: {
        timeoutMs?: number;
    }): Promise<void>;
    /** Closes at once. All open work of both ends fails with `transport-closed`. */
    terminate(reason?: CloseReason): void;
}

/**
 * Connects an endpoint over a transport: both ends send a hello and agree on the wire. Takes ownership of the transport and closes it on
 * failure. Register handlers as soon as the promise settles: messages that arrive earlier wait, within limits.
 *
 * Rejects with `invalid-argument`; with `protocol` when the other end has another wire or version, or sends no hello; with `deadline`
 * when the other end sends nothing within `helloMs`; with `transport-closed`; and with the signal's reason.
 */
declare function connect(transport: ChannelTransport, options?: EndpointOptions): Promise<Endpoint>;

/** How a call ended, as a value. */
type Outcome<T> = {
    readonly kind: "result";
    readonly value: T;
}
/** The other end's handler threw. */
 | {
    readonly kind: "remote-error";
    readonly error: RemoteError;
}
/** The call did not run, or the caller stopped waiting for it. */
 | {
    readonly kind: OutcomeKind;
    readonly error: unknown;
};
/** Ends of a call that are neither a result nor the handler's own error. */
type OutcomeKind = "not-implemented" | "no-handler" | "dropped" | "queue-full" | "cancelled" | "deadline" | "timeout" | "closed";
/**
 * Waits for a call and returns how it ended, as a value. Saves callers from catching errors and comparing codes. Pass the call's signal
 * too, because a cancelled call rejects with that signal's own reason. Misuse, such as a value that the codec cannot encode, still
 * rejects.
 */
declare function outcome<T>(call: Promise<T>, signal?: AbortSignal): Promise<Outcome<T>>;

/** Each type name's TypeScript types: as read, and as may be written. */
interface NamedTypes {
    /** Any value that the codec can encode. */
    any: {
        read: unknown;
        write: unknown;
    };
    /** No value: reads as `null`; `null` and `undefined` may be written. */
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
    /** A whole number up to 2^53, as `number`; a signed 64-bit integer in languages that have one. */
    int: {
        read: number;
        write: number;
    };
    /** A signed whole number of 64 bits. */
    i64: {
        read: bigint;
        write: bigint | number;
    };
    /** A number. It crosses as a float even if it is whole, because receivers in other languages keep the two apart. */
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
    /** Lists of numbers of one width, as typed arrays. */
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
/** The type of a value, as plain data: a name, or an object with one property for a composed type. JSON can hold it. */
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
/** The type of that name in the schema's `types`. */
 | {
    readonly ref: string;
};
/** The fields of a struct, by name. */
type StructFields = {
    readonly [name: string]: Type;
};
/** Type of a value of schema type `T` as read. `Types` are the schema's own. */
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
/** Type of a value of schema type `T` as may be written. Nullable fields may be omitted. */
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

type Part<S, Name extends string> = S extends {
    readonly [Key in Name]: infer Value;
} ? Value : unknown;
type Types<S> = Part<S, "types">;
type MethodNames<S> = keyof Part<S, "methods">;
type EventNames<S> = keyof Part<S, "events">;
type Method<S, Name> = Name extends MethodNames<S> ? Part<S, "methods">[Name] : never;
type Event<S, Name> = Name extends EventNames<S> ? Part<S, "events">[Name] : never;
/** A missing part has the type null. */
type In<Declared, Name extends string> = Declared extends {
    readonly [Key in Name]: infer Value;
} ? Value : "null";
type Read<S, Declared, Name extends string> = ReadOf<In<Declared, Name>, Types<S>>;
type Write<S, Declared, Name extends string> = WriteOf<In<Declared, Name>, Types<S>>;
type Movable<T> = T | Moved<T>;
/** A value that may be null may be omitted, and its function needs no return. */
type Given<T> = undefined extends T ? Movable<T> | undefined : Movable<T>;
type Returned<T> = undefined extends T ? Given<T> | void : Given<T>;
type Function<Args, Options, Result> = undefined extends Args ? (args?: Args, options?: Options) => Result : (args: Args, options?: Options) => Result;
/** Calls a schema's methods by their names. */
type Callers<S> = {
    readonly [Name in MethodNames<S>]: Function<Given<Write<S, Method<S, Name>, "args">>, CallOptions, Promise<Read<S, Method<S, Name>, "result">>>;
};
/** Listens to a schema's events by their names. */
type Listeners<S> = {
    readonly [Name in EventNames<S>]: Function<Given<Write<S, Event<S, Name>, "args">>, ListenOptions, EventStream<Read<S, Event<S, Name>, "value">>>;
};
/** A function for each of a schema's methods. */
type MethodsOf<S> = {
    readonly [Name in MethodNames<S>]: (args: Read<S, Method<S, Name>, "args">, context: HandlerContext) => Returned<Write<S, Method<S, Name>, "result">> | Promise<Returned<Write<S, Method<S, Name>, "result">>>;
};
/** A source for each of a schema's events. */
type SourcesOf<S> = {
    readonly [Name in EventNames<S>]: (args: Read<S, Event<S, Name>, "args">, sink: EventSink<Movable<Write<S, Event<S, Name>, "value">>>) => EventSource<Movable<Write<S, Event<S, Name>, "value">>>;
};
/** Handlers of a schema: its methods, if it has any, and its events. */
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

/**
 * A validated type, which validators and code generators read. References to the schema's own types are resolved; `name` keeps the name
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

/** The methods and events of a channel, as plain data. JSON can hold it, and it contains no code. */
interface SchemaData {
    /** Name of the channel on which the methods are called. */
    readonly channel: string;
    /** Named types, for use in several places with `{ ref: name }`. */
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
    /** The method's argument: one value, usually a struct. Default: none. */
    readonly args?: Type;
    /** The method's result. Default: none. */
    readonly result?: Type;
}
/** One stream of events of a schema. */
interface EventData {
    /** Description of the event; generated code contains it. */
    readonly doc?: string;
    /** The argument of a listener when it starts. Default: none. */
    readonly args?: Type;
    /** The value of an event. */
    readonly value: Type;
    /** Name of the event's own channel. Default: the schema's channel, a slash, the event's name. */
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
    /** The schema's own types, resolved. */
    readonly types: readonly {
        readonly name: string;
        readonly type: TypeShape;
    }[];
    readonly methods: readonly MethodShape[];
    readonly events: readonly EventShape[];
}
/** Reads a schema from data of unknown origin, such as a JSON file. Throws `invalid-argument` with the path to the error. */
declare function readSchema(value: unknown): SchemaShape;

/** Calls the other end's methods and listens to its events, by name and with types. */
interface Caller<S> {
    /** `caller.call.name(args, options)`. Rejects as `call` of the endpoint's methods does, and as {@link ChannelSchema} says. */
    readonly call: Callers<S>;
    /** `caller.listen.name(args, options)`. Returns an async iterable. */
    readonly listen: Listeners<S>;
}
/**
 * A schema that both ends have. It types callers and handlers, and validates every value in both directions.
 *
 * The program's own value throws `invalid-argument` if it does not match; the other end's throws `protocol`. The error names the
 * path and the expected type, and has them as `path` and `expected`. Arguments that do not match reach no handler: the caller receives a
 * remote error with the code `invalid-argument`. Validation creates new lists, maps and structs; it does not copy the lists of numbers in
 * them.
 */
declare class ChannelSchema<const S> {
    #private;
    /** The validated schema, for code generators. */
    readonly shape: SchemaShape;
    /** Use {@link schema} instead. */
    constructor(data: S);
    /** Returns functions for the other end's methods and events. Creates one closure each and sends nothing. */
    caller(endpoint: Endpoint): Caller<S>;
    /**
     * Handles the schema's methods and events for the other end. Disposing removes the handlers. Throws `invalid-argument` when a channel
     * already has a handler, or a handler is missing.
     */
    handle(endpoint: Endpoint, handlers: HandlersOf<S>, options?: ServeOptions): Disposable;
}
/**
 * Declares the methods and events of a channel, as plain data that JSON can hold. `clearway-native gen` generates a C header and a Rust
 * trait from the same data. The compiler infers the types of callers and handlers from it. Throws `invalid-argument` with the path to
 * the error.
 */
declare function schema<const S extends SchemaData>(data: S): ChannelSchema<S>;

/** Describes a value that does not match its schema. The error has these as properties too. */
interface ValidationIssueParts {
    /** The value's path, such as `args.places[3].city`. */
    readonly path: string;
    /** The type that the schema expects there. */
    readonly expected: string;
}

/**
 * Returns two connected transports in one thread, for tests and for parts of an app that may be separated later. Copies nothing: frames
 * are passed as they are, attachments are moved, so a sender loses them as it does elsewhere. Delivers in microtasks. Throws
 * `invalid-argument`.
 */
declare function memoryPair(limits?: TransportLimits): [ChannelTransport, ChannelTransport];

/**
 * One side of a worker's port, with the parts that Node and browsers share: a `MessagePort`, a `Worker` in its owner's thread, or a
 * worker's `self` or `parentPort`.
 */
interface PortLike {
    /** Posts a message and moves the memory in `transfer`. */
    postMessage(message: unknown, transfer: never[]): void;
}

/** Settings of a port that carries channels. */
interface PortOptions extends TransportLimits {
    /**
     * Adds a ring of shared memory to the port, for frames of at most half a KiB. They cross without a message while both ends are awake.
     * One end offers the ring and the other accepts it. Without shared memory, or when an end does not set this, the port carries every
     * frame. An end that was just busy polls the ring for 200 us, between its own turns.
     */
    readonly ring?: "offer" | "accept";
}
/**
 * Returns a transport over a worker's port. Frames of one tick cross as one message; attachments are moved, shared memory is shared.
 * `close` closes a `MessagePort`, and leaves a worker running. An open transport keeps a Node process alive, as any port with listeners
 * does. Throws `invalid-argument`.
 */
declare function portTransport(port: PortLike, options?: PortOptions): ChannelTransport;

export { ChannelSchema, ChannelTransport, ClearwayError, CloseReason, CodecErrorCode, Float64, Moved, RemoteError, TransportLimits, binaryCodec, connect, extension, float64, isCodecError, jsonMessageCodec, jsonMethodCodec, latest, memoryPair, notImplemented, outcome, portTransport, readSchema, schema, standardMessageCodec, standardMethodCodec, stringCodec };
export type { CallOptions, Caller, Callers, ChannelCopyReason, ChannelLedger, ChannelLedgerSide, Codec, CodecError, CodecLimits, CodecName, DecodeOptions, Endpoint, EndpointOptions, EndpointStats, EventData, EventShape, EventSink, EventSource, EventStream, Events, Extension, FieldShape, HandlerContext, HandlersOf, JsonMessageCodec, JsonMethodCodec, JsonOptions, ListenOptions, Listeners, MessageCodec, MessageHandler, Messages, MethodCall, MethodCodec, MethodData, MethodError, MethodHandler, MethodHandlers, MethodReply, MethodShape, MethodSuccess, Methods, MethodsOf, ValidationIssueParts as MisfitParts, NamedTypes, NoReply, Outcome, OutcomeKind, PortLike, PortOptions, ReadOf, RemoteErrorParts, SchemaData, SchemaShape, ServeOptions, SourcesOf, StandardMessageCodec, StandardMethodCodec, StandardOptions, StructFields, Type, TypeName, TypeShape, ValueReader, ValueWriter, WhenFull, WireName, WriteOf };
