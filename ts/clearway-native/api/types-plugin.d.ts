/**
 * The kind of view that JavaScript gets of native memory. `shared` is a SharedArrayBuffer, which other threads may have too. `detachable`
 * is an ArrayBuffer that becomes empty after its release. `copied` is an independent ArrayBuffer.
 */
type ViewKind = "shared" | "detachable" | "copied";
/** The runtime's features for memory that crosses between JavaScript and native code. */
interface NativeFeatures {
    /** How native memory becomes a SharedArrayBuffer: with Node-API, with V8's own functions, or not at all. */
    mapping: "node-api" | "v8" | "none";
    /** Whether native code may keep JavaScript's memory beyond a call. */
    keeps: boolean;
}

/** The reason for a copy of memory at the boundary. */
type NativeCopyReason = 
/** The other side gave bytes outside of a native memory. They are copied into the queue. */
"no-memory"
/** The message has fewer than 4096 bytes. Copying them costs less than lending them. */
 | "small"
/** This version of Node cannot keep an ArrayBuffer's memory for native code, because the version is untested. */
 | "not-kept"
/** The ArrayBuffer is resizable, so JavaScript could shrink it while native code uses it. */
 | "resizable"
/** This runtime allows no views of native memory (Electron, or `views: "copied"`). */
 | "not-viewed";
/** The bytes that crossed in one direction. */
interface NativeLedgerSide {
    /** Bytes that both sides saw at the same time: shared, or lent during a call. */
    sharedBytes: number;
    /** Bytes that changed owner without a copy: an ArrayBuffer over native memory. */
    movedBytes: number;
    /** Bytes that were copied; `copies` has the reasons. */
    copiedBytes: number;
    copies: Partial<Record<NativeCopyReason, {
        count: number;
        bytes: number;
    }>>;
}
/** The ledgers of both directions. A snapshot, which does not change afterwards. */
interface NativeLedger {
    toNative: NativeLedgerSide;
    fromNative: NativeLedgerSide;
}

/**
 * Native memory, viewed from JavaScript without a copy if the runtime supports that. End its use with `using` or `release()`. A
 * `detachable` view is then empty, and a native slab is free for its next use. If the owner forgets the release, the garbage collector
 * does it later, and the plugin's `stats().leaked` counts it.
 *
 * A `shared` view cannot be detached, because another thread may be reading it. After the release `bytes` throws, but earlier views stay
 * readable. The memory is reused only after every thread has dropped its views.
 */
declare class NativeMemory implements Disposable {
    #private;
    /** Size in bytes. */
    readonly size: number;
    /** The kind of view. The first use of `bytes` or `kind` creates the view. */
    get kind(): ViewKind;
    /** A view of all the memory: the same object each time. Throws `released` after the release. */
    get bytes(): Uint8Array;
    get released(): boolean;
    /** Releases this side's reference at once, without waiting for a garbage collection. Calling it again does nothing. */
    release(): void;
    /** Releases the memory at the end of a `using` block. */
    [Symbol.dispose](): void;
}

/**
 * A plugin's message: bytes or null, and attached memories. `using` or `release()` returns its native memory at once. Without native
 * memory, they do nothing.
 */
interface NativeMessage extends Disposable {
    /**
     * The message's bytes, or null for a null message. If `memory` is undefined, the bytes are JavaScript's own; otherwise they view the
     * memory. Throws `released` after the release, or if JavaScript has transferred the buffer of the lent memory.
     */
    readonly bytes: Uint8Array | null;
    /** The native memory of the bytes. Undefined if the bytes are JavaScript's own. */
    readonly memory: NativeMemory | undefined;
    /** The attached memories. None of them is copied. */
    readonly attachments: readonly NativeMessage[];
    /** Releases the message's native memory. Further calls do nothing. */
    release(): void;
}

/**
 * JavaScript's memory that native code may use beyond one call, without a copy. A loan ends in two steps. After `release()`, JavaScript's
 * calls can no longer use the memory. `returned` settles after native code has released its last reference. `await using` waits for both
 * steps. Until then, native code may still write to the memory.
 */
declare class LentMemory implements AsyncDisposable {
    #private;
    /** The lent view itself, readable at any time. */
    readonly bytes: Uint8Array;
    /** Settles when native code no longer has the memory. */
    readonly returned: Promise<void>;
    /** Size in bytes. */
    get size(): number;
    get released(): boolean;
    /** Ends the loan for JavaScript: calls with this memory then throw `released`. Further calls of this method do nothing. */
    release(): void;
    /** Ends the loan, and waits until native code has released the memory. */
    [Symbol.asyncDispose](): Promise<void>;
}

/** A message to a plugin: JavaScript's own bytes, native memory, lent memory, or null. */
type Payload = Uint8Array | NativeMemory | LentMemory | null;
/** The memories attached to a message: at most 32. None of them is copied. */
type Attachments = readonly (NativeMemory | LentMemory)[];

/** The policy of a full queue: the source waits, the stream fails, or the oldest or newest event is dropped. */
type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";
/** Options of a channel's `listen`. */
interface ListenOptions {
    /** Arguments for the source. Default: null. */
    arguments?: Payload;
    /**
     * The maximum number of events that wait on the native side. As many again may wait on JavaScript's side. Default: 64. Use 1024 for
     * very frequent small events, because more events then share the cost of a batch.
     */
    items?: number;
    /**
     * The maximum number of bytes that wait on the native side. A single event may be larger. Default: 64 MiB, which is eight frames of
     * 1080p.
     */
    bytes?: number;
    /** The policy of a full queue. Default: `wait`. */
    whenFull?: WhenFull;
    /** Ends the stream. The iterator throws the signal's reason, or what the signal threw. */
    signal?: AbortSignal;
}
/** Returns options that keep only the newest event: a new event replaces the waiting one. Use them for frames and sensors. */
declare const latest: () => {
    items: number;
    whenFull: WhenFull;
};
/**
 * Events of a plugin, in order. The reader owns each message. It must release messages with native memory, or declare them with `using`.
 * Leaving the loop cancels the source.
 */
interface NativeEvents extends AsyncIterableIterator<NativeMessage, undefined, void>, AsyncDisposable {
    /** The number of events dropped so far by the chosen policy. */
    readonly dropped: number;
    /** Cancels the source and releases waiting events. */
    return(): Promise<IteratorResult<NativeMessage, undefined>>;
    /** Returns the stream itself, which can be iterated once. */
    [Symbol.asyncIterator](): NativeEvents;
}

/** Options of `loadPlugin`. */
interface PluginOptions {
    /**
     * The preferred kind of view of native memory. If the runtime does not support it, the next kind in the order `shared`, `detachable`,
     * `copied` is used. Default: `detachable`, whose views end with their release. Use `shared` for memory that goes to worker threads.
     */
    views?: ViewKind;
    /** Receives the plugin's log: `level` 0 to 3, from debug to error. Default: warnings and errors go to stderr. */
    onLog?(level: number, text: string): void;
}
/** Counters of one plugin instance. A snapshot. */
interface PluginStats {
    /** The bytes that crossed, by the way in which they crossed. */
    ledger: NativeLedger;
    /** The number of native memories that the garbage collector released. If it is above 0, a `using` or `release()` is missing. */
    leaked: number;
    /** Counters of the native side. */
    native: Record<string, number>;
}
/** Options of a call to a plugin. */
interface SendOptions {
    /** Memories attached to the message. */
    attachments?: Attachments;
    /** Rejects the call with the signal's reason. The plugin can check that the caller no longer waits. */
    signal?: AbortSignal;
}
/** One of a plugin's channels. It is cheap. Reuse it for further calls. */
interface NativeChannel {
    readonly name: string;
    /**
     * Calls the handler at once on this thread. Use it for direct handlers only. Copies nothing to native code, and allocates nothing if
     * the answer is null. The handler may write to the message's bytes. Throws the handler's error, `no-handler`, and `not-direct` for a
     * handler that runs on another thread or answers later.
     */
    call(message?: Payload, attachments?: Attachments): NativeMessage;
    /**
     * Sends to the handler on its own thread: on the plugin's pool, on its serial queue, or on this thread for a direct handler. Messages
     * of 4096 bytes or more are lent, not copied. Do not use their bytes until the promise settles. Does not wait for handlers on other
     * threads.
     */
    send(message?: Payload, options?: SendOptions): Promise<NativeMessage>;
    /** Listens to the channel's events, with back-pressure. */
    listen(options?: ListenOptions): NativeEvents;
}
/** A native plugin, opened for this thread. Each thread opens its own instance. Several instances may be open at once. */
interface Plugin extends AsyncDisposable, Disposable {
    readonly path: string;
    /** Returns the plugin's channel with that name. Does not check that the plugin serves the channel; a call does. */
    channel(name: string): NativeChannel;
    /**
     * Allocates native memory. JavaScript can fill it and pass it on without a copy. The memory is pooled and not cleared: it may hold old
     * contents.
     */
    allocate(size: number): NativeMemory;
    /** Lends JavaScript's memory to native code beyond one call. Throws `would-copy` if the memory cannot be kept. */
    lend(bytes: Uint8Array): LentMemory;
    /** Handles the plugin's own messages on a channel. Each message is released when the handler's promise settles. */
    handle(channel: string, handler: (message: NativeMessage) => Payload | Promise<Payload>): Disposable;
    /** Returns a copy of the counters. */
    stats(): PluginStats;
    /**
     * Closes the plugin for this thread. Open calls and streams fail with `closed`. After this settles, none of the plugin's code runs for
     * this instance. Memory in use stays valid until its release. Waits for running handlers, without blocking the thread. An instance that
     * is not closed keeps about a megabyte until its thread ends, because its sources and handlers may be in use.
     */
    close(): Promise<void>;
}
/**
 * Loads a plugin, a shared library that exports `clearway_plugin_init` (native/include/clearway.h). Its code runs with all rights of the
 * process. Throws `addon-missing`, `load-failed`, `not-a-plugin`, `wrong-version`, `init-failed`.
 */
declare function loadPlugin(path: string | URL, options?: PluginOptions): Promise<Plugin>;
/** Returns this Node's features for native memory. Loads the addon. Throws `addon-missing`. */
declare function nativeFeatures(): NativeFeatures;

export { LentMemory as L, NativeMemory as g, latest as l, loadPlugin as m, nativeFeatures as n };
export type { Attachments as A, NativeChannel as N, Plugin as P, SendOptions as S, ViewKind as V, WhenFull as W, ListenOptions as a, NativeCopyReason as b, NativeEvents as c, NativeFeatures as d, NativeLedger as e, NativeLedgerSide as f, NativeMessage as h, Payload as i, PluginOptions as j, PluginStats as k };
