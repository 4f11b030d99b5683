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
interface MethodSuccess {
    readonly kind: "success";
    readonly value: unknown;
}
interface MethodError {
    readonly kind: "error";
    readonly code: string;
    readonly message: string | null;
    readonly details: unknown;
    /** The stack trace at the other end: the fourth value of the reply. `undefined` leaves it out of the message. */
    readonly stack?: string | null;
}
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
    uint8(value: number): void;
    int32(value: number): void;
    uint32(value: number): void;
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
    uint8(): number;
    int32(): number;
    uint32(): number;
    int64(): bigint;
    /** Skips the padding to 8 and reads a float64. */
    float64(): number;
    /** Reads a size or a count. Does not compare it with the remaining bytes. */
    size(): number;
    /** Reads `count` bytes: a view when the message is owned, else a copy. */
    bytes(count: number): Uint8Array;
    text(): string;
    pad(alignment: 1 | 2 | 4 | 8): void;
    value(): unknown;
}
/** Types an extension for `with({ extensions: [...] })`; returns its argument. */
declare function extension<T>(parts: Extension<T>): Extension;

/** A number that is encoded as float64 even when it is whole. Arithmetic treats it as the number. */
declare class Float64 {
    readonly value: number;
    constructor(value: number);
    valueOf(): number;
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
/** It stands in the message: all of a message's bytes but for its attachments. */
"encoded"
/** A large list that was not given away with `move()`. */
 | "not-moved"
/** A large list that shows a part of its buffer. */
 | "partial-view"
/** Memory that its owner does not let go: WebAssembly's, Node's buffer pool. */
 | "not-transferable"
/** The transport carries bytes only. */
 | "byte-transport";
/** Bytes that crossed one way. */
interface ChannelLedgerSide {
    /** Bytes that changed owner without a copy. */
    movedBytes: number;
    /** Bytes of shared memory that were named in a message (counted each time). */
    sharedBytes: number;
    /** Bytes that were copied; `copies` says why. */
    copiedBytes: number;
    copies: Partial<Record<ChannelCopyReason, {
        count: number;
        bytes: number;
    }>>;
}
/** Both ways, as this end knows them: why the other end copied, only that end knows. */
interface ChannelLedger {
    sent: ChannelLedgerSide;
    received: Pick<ChannelLedgerSide, "movedBytes" | "sharedBytes" | "copiedBytes">;
}

declare const brand: unique symbol;
/** What may stand beside an error's code and message. */
interface RemoteErrorParts {
    /** Any value of the standard codec. */
    readonly details?: unknown;
    readonly cause?: unknown;
    readonly channel?: string;
    /** The stack at the other end, and that of the call. */
    readonly stack?: string;
    readonly callerStack?: string;
}
/**
 * What the other end's handler threw. A handler throws one itself to choose code and details; of any other error it throws,
 * the code is its `code`, or "error". Between two ends of Clearway's wire `cause` is what was thrown there, with its class
 * name, stack, properties and causes, and the stack goes on with that of the call.
 */
declare class RemoteError extends Error {
    readonly name = "RemoteError";
    /** The handler's own; any text. */
    readonly code: string;
    readonly details: unknown;
    /** The channel's name; empty where it has not crossed. */
    readonly channel: string;
    constructor(code: string, message: string, parts?: RemoteErrorParts);
    get [brand](): true;
    static [Symbol.hasInstance](value: unknown): boolean;
}

/** What an end speaks: Clearway's own wire, or the plain one of platform channels. */
type WireName = "clearway" | "plain";

/** How an endpoint is set up. */
interface EndpointOptions {
    /**
     * What to speak. "clearway" (the default) is for another end of Clearway's; "plain" is Flutter's platform messages and
     * nothing else; "either" takes the first of both that the other end's hello names too.
     */
    readonly wire?: WireName | "either";
    /** False for a foreign end that sends no hello and expects none; only with `wire: "plain"`. Default true. */
    readonly hello?: boolean;
    /** How long to wait for the other end's hello; default 30 s. Infinity waits for ever. */
    readonly helloMs?: number;
    /** Gives up waiting for the hello, with the signal's reason. */
    readonly signal?: AbortSignal;
    /**
     * Calls and streams that this end may have under way, and that it runs for the other, each; default 4096. A call of the other
     * end's takes its place until its handler has ended and its answer has left, also when it was cancelled.
     */
    readonly callsMax?: number;
    /**
     * Bytes of answers that may wait for the other end to read; default 16 MiB. From there on none of its requests begins and, where
     * this end waits for no answer itself, nothing of it is read, until half of them have left. As many bytes of pushed events may wait for
     * it in all of its streams, whatever capacity it asks for: then a stream is full.
     */
    readonly replyBytesMax?: number;
    /** How long an end with so many may read none before it is disconnected (`timeout`), in ms; default 30 s. Infinity: for ever. */
    readonly stallMs?: number;
    /** Bytes of a channel's name; default 255, at most 65,535. */
    readonly nameBytesMax?: number;
    /**
     * Messages kept of each channel that has no handler yet; the oldest is dropped for the next. Default 16. The other end can
     * change it, channel by channel, up to 1024.
     */
    readonly early?: number;
    /** All early messages together, in bytes; default 1 MiB. */
    readonly earlyBytesMax?: number;
    /** How long they are kept; then they are answered with `no-handler`. Default 5 s. */
    readonly earlyMs?: number;
    /** From how many bytes on a list of numbers travels beside its message and not in it; default 16 KiB. */
    readonly attachmentBytesMin?: number;
    /** Throw `would-copy` where an attachment would be copied. What is small, or a transport of bytes alone carries, too. */
    readonly strict?: boolean;
    /** Write the stack of a handler's error as the fourth part of a plain envelope, which not every end reads. Default false. */
    readonly stacks?: boolean;
    /**
     * Whether what a handler or a source throws crosses whole, with stack, properties and causes. Default: to a worker, a child process
     * and a part of this one; over WebSockets, sockets and other streams its code and message cross, and the `details` of a
     * {@link RemoteError} that this end made.
     */
    readonly exposeErrors?: boolean;
    /**
     * Chooses what crosses in place of what a handler or a source threw, before anything else is left out of it: an error, such as
     * a {@link RemoteError}. Where it throws itself, the code `error` crosses and a message that says no more.
     */
    readonly redactError?: (error: unknown, channel: string) => unknown;
    /** Told of what a handler threw where nobody waits for an answer. Default: `console.error`. */
    readonly onError?: (error: unknown, channel: string) => void;
}

/** What happens to an event when the queue to the listener is full. */
type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";

/** How a call may end before its answer. */
interface CallOptions {
    /** Cancels the call, there too; it rejects with the signal's reason. */
    readonly signal?: AbortSignal | undefined;
    /** How long the handler may take from its start, in ms: the other end ends it. On the plain wire, from the sending on. */
    readonly timeoutMs?: number | undefined;
    /** How long the call may take in all, in ms: this end ends it, whatever the other does. */
    readonly deadlineMs?: number | undefined;
}

/** Values of a stream of events, each when it is asked for. Ending the loop ends the stream at the other end. */
interface EventStream<T> extends AsyncIterableIterator<T, void, void>, AsyncDisposable {
    /** How many events were dropped so far, before the one that was read last. */
    readonly dropped: number;
    /** Ends it, there too: what `break` does. Never rejects. */
    return(): Promise<IteratorResult<T, void>>;
}

/** How events are read. */
interface ListenOptions {
    /** Ends the stream, there too; reading rejects with the signal's reason. */
    readonly signal?: AbortSignal | undefined;
    /** How far the other end may run ahead of the reader; default 16 events and 1 MiB. */
    readonly window?: Partial<Window>;
    /** How many pushed events wait at the other end when the window is used up; default what that end says, else 16. */
    readonly capacity?: number;
    /** What happens there when as many wait; default what the other end says, else "wait". */
    readonly whenFull?: WhenFull;
    /** Told how many events were dropped, when the one behind them is read. */
    readonly onDrop?: (count: number) => void;
}
/** How pushed events are queued for a listener that does not say how itself. */
interface ServeOptions {
    /** What happens when as many wait; default "wait". */
    readonly whenFull?: WhenFull;
    /** How many wait when the listener's window is used up: 1 to 65,535, default 16. What an iterable gives is not drawn before. */
    readonly capacity?: number;
}
/**
 * Options for a reader that wants what is newest, such as frames to be drawn: of events that are pushed faster than they are read
 * all but the last are dropped; an iterable is asked for the next one only then. One is under way or waits here; with a window
 * of 2 the next one is under way while one is read.
 */
declare function latest(window?: number): ListenOptions;

/** What a handler is given beside the message. */
interface HandlerContext {
    /** The channel's name. */
    readonly channel: string;
    /** Aborts when the caller has cancelled, its time is over, or the transport is closed. Made when it is first read. */
    readonly signal: AbortSignal;
    /** How many milliseconds the caller had left when it sent the call; undefined without a deadline. */
    readonly deadlineMs: number | undefined;
}

/** What the one who serves events is given beside the listener's arguments. */
interface EventSink<T = unknown> {
    /** The channel's name. */
    readonly channel: string;
    /** Aborts when the listener has cancelled, or the transport is closed. */
    readonly signal: AbortSignal;
    /**
     * Sends an event: encodes it at once and moves its large lists. Settles true when it is on its way or waits for credit, false
     * when it was dropped or nobody listens any more. When the queue is full, it waits for room, or rejects with `queue-full`, as
     * `whenFull` says. Throws what the codec throws.
     */
    send(event: T): Promise<boolean>;
    /** Ends the stream behind what was sent. */
    end(): void;
    /** Ends the stream with an error, behind what was sent. */
    fail(error: unknown): void;
}

/** What a source of events gives back: the events; or nothing, and then it sends through the sink until it ends that. */
type EventSource<T> = AsyncIterable<T> | Iterable<T> | void | Promise<AsyncIterable<T> | Iterable<T> | void>;
/** A channel of events. Either end may listen and serve. */
interface Events {
    readonly name: string;
    /**
     * Listens: the other end begins a stream for the arguments. Nothing is sent beyond the window; `break` ends it at the other
     * end. A second `listen` of the same channel ends the first, which rejects with `cancelled`. Reading rejects as a method's call
     * does, once; then the stream is at its end. Throws what the codec throws for the arguments, and `invalid-argument`.
     */
    listen<T = unknown>(args?: unknown, options?: ListenOptions): EventStream<T>;
    /**
     * Serves the channel's events: `open` is called for each listener. An iterable is drawn on only when its next value may leave
     * at once: the listener has given credit, nothing waits before it, and the transport does not hold back; so nothing of it is
     * dropped. What is pushed through the sink is queued, up to `capacity`; a full queue does what `whenFull` says. An iterable
     * that ends, and an async function that does, end the stream. Events are encoded when they are sent, and their large lists moved.
     * Throws `invalid-argument` for a second one.
     */
    serve<T = unknown, A = unknown>(open: (args: A, sink: EventSink<T>) => EventSource<T>, options?: ServeOptions): Disposable;
}

/** What a handler of messages gives back: the reply, or nothing, which is an empty reply. */
type MessageHandler<T, Written> = (message: T, context: HandlerContext) => Written | undefined | Promise<Written | undefined>;
/** A channel of whole messages, each with a reply if one is wanted. Either end may send and handle. */
interface Messages<T, Written = T> {
    readonly name: string;
    /**
     * Sends a message and waits for the reply; `undefined` where the handler gave none. Copies what the message holds, or moves its
     * large lists under `move()`. Rejects with what the codec throws, a {@link RemoteError}, or a ClearwayError: `no-handler`,
     * `dropped`, `queue-full`, `deadline`, `timeout`, `transport-closed`, `too-large`; with the signal's reason when that aborts.
     */
    send(message: Written, options?: CallOptions): Promise<T | undefined>;
    /**
     * Sends a message that wants no reply. Settles when it has left for the transport: whoever awaits that never runs ahead of
     * it. Rejects as `send` does.
     */
    post(message: Written): Promise<void>;
    /**
     * Handles the other end's messages, those that came early first. What the handler gives is encoded and its large lists moved.
     * Disposing ends it; later messages wait for the next handler. Throws `invalid-argument` for a second one.
     */
    handle(handler: MessageHandler<T, Written>): Disposable;
}

/** A method: takes the call's arguments, gives its result, or throws. */
type MethodHandler = (args: never, context: HandlerContext) => unknown;
/** What a handler of all methods gives back for one that it does not have. */
declare const notImplemented: unique symbol;
/** The methods of a channel by name, or one function for all of them. */
type MethodHandlers = Readonly<Record<string, MethodHandler>> | ((method: string, args: unknown, context: HandlerContext) => unknown);
/** A channel of methods. Either end may call and handle. */
interface Methods {
    readonly name: string;
    /**
     * Calls a method with one value as its arguments. Copies what they hold, or moves their large lists under `move()`. Rejects as
     * `send` of {@link Messages} does, and with `not-implemented`; the other end's error is a {@link RemoteError}. What `R` says
     * is not checked.
     */
    call<R = unknown>(method: string, args?: unknown, options?: CallOptions): Promise<R>;
    /**
     * Handles the other end's calls, those that came early first. Results are encoded and their large lists moved; `undefined` is
     * null. A method that is not there is answered with `not-implemented`. Throws `invalid-argument` for a second handler.
     */
    handle(handlers: MethodHandlers): Disposable;
}

/** What an endpoint does just now, and has moved and copied so far. */
interface EndpointStats {
    readonly wire: WireName;
    readonly transport: string;
    /** Calls of this end that wait for their answers. */
    readonly calls: number;
    /** Calls of the other end that take a place: their handlers have not ended, or their answers have not left. */
    readonly handling: number;
    /** Bytes of answers and of pushed events that wait for the other end to read (`replyBytesMax`, each). */
    readonly waitingBytes: number;
    /** Streams that this end listens to, and that it serves. */
    readonly listening: number;
    readonly serving: number;
    readonly ledger: ChannelLedger;
}
/** One end of a way between two; the other is the same. Channels are named, and cost nothing to make. */
interface Endpoint extends AsyncDisposable {
    /** The wire that both ends agreed on. */
    readonly wire: WireName;
    /** Settles with the reason when the transport is closed, whoever closed it. Never rejects. */
    readonly closed: Promise<CloseReason>;
    /** A channel of messages, with the standard codec unless given another. Throws `invalid-argument` for a name too long. */
    messages(name: string): Messages<unknown>;
    messages<T, Written = T>(name: string, codec: MessageCodec<T, Written>): Messages<T, Written>;
    /** A channel of methods. */
    methods(name: string, codec?: MethodCodec): Methods;
    /** A channel of events. */
    events(name: string, codec?: MethodCodec): Events;
    /** Sets how many early messages of a channel the other end keeps until that has a handler. Rejects as a method's call does. */
    resize(channel: string, count: number): Promise<void>;
    /** A copy of the counters; made when asked for. */
    stats(): EndpointStats;
    /**
     * Closes: begins nothing new, ends the streams that it serves, waits until calls both ways are answered, `timeoutMs` (5 s) at
     * most, then closes the transport. What is left rejects with `transport-closed`. `await using` does the same.
     */
    close(options?: {
        timeoutMs?: number;
    }): Promise<void>;
    /** Closes at once. Everything under way, both ways, ends with `transport-closed`. */
    terminate(reason?: CloseReason): void;
}

/**
 * Makes an endpoint of a transport: both ends say hello and agree on the wire. Takes ownership of the transport, and closes it
 * also when this fails. Register handlers as soon as it has settled: what comes before them waits, within bounds.
 *
 * Rejects with `invalid-argument`; `protocol` when the other end speaks another wire or version, or does not say hello;
 * `deadline` when it says nothing within `helloMs`; `transport-closed`; and the signal's reason.
 */
declare function connect(transport: ChannelTransport, options?: EndpointOptions): Promise<Endpoint>;

/** What may become of a call, as a value. */
type Outcome<T> = {
    readonly kind: "result";
    readonly value: T;
}
/** The other end's handler threw. */
 | {
    readonly kind: "remote-error";
    readonly error: RemoteError;
}
/** Nobody ran it, or it was not waited for. */
 | {
    readonly kind: OutcomeKind;
    readonly error: unknown;
};
/** The ends of a call that are neither a result nor the handler's own error. */
type OutcomeKind = "not-implemented" | "no-handler" | "dropped" | "queue-full" | "cancelled" | "deadline" | "timeout" | "closed";
/**
 * Waits for a call and gives what became of it as a value, for whoever would otherwise catch and look at codes. Give the call's
 * signal, too: a call rejects with that signal's own reason. What is misuse, such as a value that the codec has no form for,
 * still rejects.
 */
declare function outcome<T>(call: Promise<T>, signal?: AbortSignal): Promise<Outcome<T>>;

/** What each name of a type stands for, as it is read and as it may be written. */
interface NamedTypes {
    /** Whatever the codec carries. */
    any: {
        read: unknown;
        write: unknown;
    };
    /** Nothing: `null` is read; `null` and `undefined` are written. */
    null: {
        read: null;
        write: null | undefined;
    };
    bool: {
        read: boolean;
        write: boolean;
    };
    /** A whole number of 32 bits, signed. */
    i32: {
        read: number;
        write: number;
    };
    /** A whole number up to 2^53, as `number`; 64 bits, signed, in languages that have them. */
    int: {
        read: number;
        write: number;
    };
    /** A whole number of 64 bits, signed. */
    i64: {
        read: bigint;
        write: bigint | number;
    };
    /** A number. It crosses as a float even where it is whole, because receivers in other languages keep the two apart. */
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
type TypeName = keyof NamedTypes;
/**
 * The type of a value, as plain data: a name, or an object with one property that says what is made of others. JSON can
 * hold it.
 */
type Type = TypeName | {
    readonly list: Type;
}
/** Texts to values of one type. */
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
type StructFields = {
    readonly [name: string]: Type;
};
/** What a value of the type `T` reads as, where `Types` are the schema's own. */
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
/** What may be written where the type `T` stands: nullable fields may be left out. */
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
/** A part that is left out is of type null. */
type In<Declared, Name extends string> = Declared extends {
    readonly [Key in Name]: infer Value;
} ? Value : "null";
type Read<S, Declared, Name extends string> = ReadOf<In<Declared, Name>, Types<S>>;
type Write<S, Declared, Name extends string> = WriteOf<In<Declared, Name>, Types<S>>;
type Movable<T> = T | Moved<T>;
/** What may be nothing may be left out; a function that gives nothing has no return. */
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
/** What handles a schema: its methods, if it has some, and its events. */
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
 * A type that has been checked: what validators and generators of other languages read. Names of the schema's own types are
 * resolved; `name` keeps what such a type was called.
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
interface FieldShape {
    readonly name: string;
    readonly type: TypeShape;
}

/** The methods and events of a channel, as plain data: JSON can hold it, and nothing in it is run. */
interface SchemaData {
    /** The name of the channel on which the methods are called. */
    readonly channel: string;
    /** Types with names, for use at several places by `{ ref: name }`. */
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
interface MethodData {
    /** What it is for; generated code carries it. */
    readonly doc?: string;
    /** What the method takes: one value, usually a struct. Left out: nothing. */
    readonly args?: Type;
    /** What it gives. Left out: nothing. */
    readonly result?: Type;
}
interface EventData {
    /** What it is for; generated code carries it. */
    readonly doc?: string;
    /** What a listener says when it begins to listen. Left out: nothing. */
    readonly args?: Type;
    /** What an event holds. */
    readonly value: Type;
    /** The name of the event's own channel. Left out: the schema's channel, a slash, the event's name. */
    readonly channel?: string;
}
/** A method, checked. */
interface MethodShape {
    readonly name: string;
    readonly doc: string;
    readonly args: TypeShape;
    readonly result: TypeShape;
}
/** An event, checked. */
interface EventShape {
    readonly name: string;
    readonly doc: string;
    readonly channel: string;
    readonly args: TypeShape;
    readonly value: TypeShape;
}
/** A schema that has been checked: its parts in the order in which they were declared. */
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
/** Reads a schema from data of unknown origin, such as a JSON file. Throws `invalid-argument` with the path to what is wrong. */
declare function readSchema(value: unknown): SchemaShape;

/** One end's way to the other's methods and events, by name and with types. */
interface Caller<S> {
    /** `caller.call.name(args, options)`; rejects as `call` of the endpoint's methods does, and as {@link ChannelSchema} says. */
    readonly call: Callers<S>;
    /** `caller.listen.name(args, options)`, which is an async iterable. */
    readonly listen: Listeners<S>;
}
/**
 * A schema that both ends have: gives callers and handlers their types, and checks every value at the border, both ways.
 * What one's own program gives and does not fit throws `invalid-argument`, what comes from the other end `protocol`; the error
 * names the path and what must stand there, and has them as `path` and `expected`. Arguments that do not fit reach the caller
 * as a remote error with the code `invalid-argument`, and no handler. The checks make lists, maps and structs anew; the lists
 * of numbers in them are not copied.
 */
declare class ChannelSchema<const S> {
    #private;
    /** The schema as it was checked, for whoever makes something else of it. */
    readonly shape: SchemaShape;
    /** Made by {@link schema}. */
    constructor(data: S);
    /** Ways to the other end's methods and events. Costs a closure for each; sends nothing. */
    caller(endpoint: Endpoint): Caller<S>;
    /**
     * Handles the schema's methods and events for the other end. Disposing ends it. Throws `invalid-argument` where a channel has
     * a handler already, or a handler is missing.
     */
    handle(endpoint: Endpoint, handlers: HandlersOf<S>, options?: ServeOptions): Disposable;
}
/**
 * Declares the methods and events of a channel, as plain data that JSON can hold: `clearway gen` makes a C header and a Rust
 * trait of the same. The compiler infers the types of callers and handlers from it. Throws `invalid-argument` with the path to
 * what is wrong.
 */
declare function schema<const S extends SchemaData>(data: S): ChannelSchema<S>;

/** What is told of a value that does not fit its schema; the error has these as properties too. */
interface ValidationIssueParts {
    /** Where, such as `args.places[3].city`. */
    readonly path: string;
    /** What must stand there. */
    readonly expected: string;
}

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

/** How a port carries channels. */
interface PortOptions extends TransportLimits {
    /**
     * A ring of shared memory beside the port, for frames of half a KiB and less: they cross without a message while both ends are
     * awake. One end offers it and the other accepts; where there is no shared memory, or an end says nothing, the port carries
     * all. An end that was just busy goes on looking for 200 us, between its own turns.
     */
    readonly ring?: "offer" | "accept";
}
/**
 * Channels over a worker's wire. Frames of one tick travel as one message; attachments are moved, shared memory is shared.
 * Does not own a worker: `close` leaves it running. It closes a `MessagePort`. Keeps a Node process alive for as long as it is
 * open, as any port does that is listened to. Throws `invalid-argument`.
 */
declare function portTransport(port: PortLike, options?: PortOptions): ChannelTransport;

export { ChannelSchema, ChannelTransport, ClearwayError, CloseReason, CodecErrorCode, Float64, Moved, RemoteError, TransportLimits, binaryCodec, connect, extension, float64, isCodecError, jsonMessageCodec, jsonMethodCodec, latest, memoryPair, notImplemented, outcome, portTransport, readSchema, schema, standardMessageCodec, standardMethodCodec, stringCodec };
export type { CallOptions, Caller, Callers, ChannelCopyReason, ChannelLedger, ChannelLedgerSide, Codec, CodecError, CodecLimits, CodecName, DecodeOptions, Endpoint, EndpointOptions, EndpointStats, EventData, EventShape, EventSink, EventSource, EventStream, Events, Extension, FieldShape, HandlerContext, HandlersOf, JsonMessageCodec, JsonMethodCodec, JsonOptions, ListenOptions, Listeners, MessageCodec, MessageHandler, Messages, MethodCall, MethodCodec, MethodData, MethodError, MethodHandler, MethodHandlers, MethodReply, MethodShape, MethodSuccess, Methods, MethodsOf, ValidationIssueParts as MisfitParts, NamedTypes, NoReply, Outcome, OutcomeKind, PortLike, PortOptions, ReadOf, RemoteErrorParts, SchemaData, SchemaShape, ServeOptions, SourcesOf, StandardMessageCodec, StandardMethodCodec, StandardOptions, StructFields, Type, TypeName, TypeShape, ValueReader, ValueWriter, WhenFull, WireName, WriteOf };
