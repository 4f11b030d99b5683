/// <reference lib="esnext.disposable" />
/**
 * The kind of view that JavaScript gets of native memory. `shared` is a SharedArrayBuffer, which other threads may have too. `detachable`
 * is an ArrayBuffer that becomes empty after its release. `copied` is an independent ArrayBuffer.
 */
type ViewKind = "shared" | "detachable" | "copied";
/** The features of the runtime for memory that JavaScript and native code pass to each other. */
interface NativeFeatures {
    /** The way in which native memory becomes a SharedArrayBuffer. It is Node-API, V8's own functions, or none. */
    mapping: "node-api" | "v8" | "none";
    /** Whether native code may use JavaScript's memory after a call has returned. */
    keeps: boolean;
}

/** The reason why bytes were copied between JavaScript and native code. */
type NativeCopyReason = 
/** The plugin sent bytes that are not in a memory that Clearway manages. Clearway's native library copied them into its queue. */
"no-memory"
/** The message has fewer than 4096 bytes. Copying them costs less than lending them. */
 | "small"
/**
 * The addon cannot keep an ArrayBuffer's memory for native code. It was not tested with this version of Node, or it was built without a
 * C++ compiler.
 */
 | "not-kept"
/**
 * Native code may use the bytes for longer than their owner waits: the message of a call with a signal, or the arguments of a stream. To
 * avoid the copy, lend the bytes with the plugin's `lend`.
 */
 | "may-outlive"
/** The ArrayBuffer is resizable, so JavaScript could shrink it while native code uses it. */
 | "resizable"
/** JavaScript cannot view native memory: the runtime does not allow it (Electron), or the option is `views: "copied"`. */
 | "not-viewed";
/** The numbers of bytes that were sent in one direction. */
interface NativeLedgerSide {
    /** The number of bytes that both sides could see at the same time, because their memory was shared or lent. */
    sharedBytes: number;
    /** The number of bytes that changed their owner without a copy: native memory that JavaScript sees as a detachable `ArrayBuffer`. */
    movedBytes: number;
    /** The number of bytes that were copied. */
    copiedBytes: number;
    /** The number of copies and their bytes, by reason. */
    copies: Partial<Record<NativeCopyReason, {
        count: number;
        bytes: number;
    }>>;
}
/** The ledgers of both directions. A ledger in a plugin's `stats()` is a copy, which does not change afterwards. */
interface NativeLedger {
    toNative: NativeLedgerSide;
    fromNative: NativeLedgerSide;
}

/**
 * Native memory that JavaScript can view, without a copy if the runtime supports that. End its use with `using` or `release()`. A
 * `detachable` view is then empty, and the native memory can be reused at once. If its owner does not release the memory, the garbage
 * collector releases it later. The plugin's `stats().leaked` counts such memories.
 *
 * A `shared` view cannot be detached, because another thread may be reading it. After the release, `bytes` throws, but views that were
 * read before stay valid. The memory is reused only after every thread has dropped its views.
 */
declare class NativeMemory implements Disposable {
    #private;
    /** The size in bytes. */
    readonly size: number;
    /** The kind of the view. Reading `kind` or `bytes` for the first time creates the view. Throws `released` after the release. */
    get kind(): ViewKind;
    /**
     * A view of the whole memory. It is the same object each time. Do not write to the view of [sealed]{@link sealed} memory. Throws `released`
     * after the release.
     */
    get bytes(): Uint8Array;
    /**
     * Whether a holder has sealed the memory. No holder may write to sealed memory, because the others may use its bytes without a copy.
     * JavaScript has no read-only views, so nothing stops a write: it changes bytes that native code relies on, and ends the process if the
     * plugin's memory is read-only. Write to a copy instead, for example to `bytes.slice()`. Throws `released` after the release.
     */
    get sealed(): boolean;
    /** Whether `release()` was called. */
    get released(): boolean;
    /** Releases JavaScript's reference at once, without waiting for a garbage collection. Calling it again does nothing. */
    release(): void;
    /** Releases the memory at the end of a `using` block. */
    [Symbol.dispose](): void;
}

/**
 * JavaScript's memory that is lent to native code without a copy. Native code may use it after a call has returned. A loan ends in two
 * steps. First, JavaScript calls `release()`; it can then no longer send the memory. Second, native code releases its last reference, and
 * `returned` settles. Until then, native code may write to the memory. `await using` does the first step and waits for the second.
 */
declare class LentMemory implements AsyncDisposable {
    #private;
    /** The lent view itself. JavaScript can read it at any time. */
    readonly bytes: Uint8Array;
    /** Settles when the loan has ended: after `release()`, native code has released its last reference. */
    readonly returned: Promise<void>;
    /** The size in bytes. It is 0 if JavaScript has transferred the view's buffer. */
    get size(): number;
    /** Whether JavaScript has called `release()`. */
    get released(): boolean;
    /** Ends JavaScript's part of the loan. Calls with this memory then throw `released`. Calling this method again does nothing. */
    release(): void;
    /** Ends the loan at the end of an `await using` block. Waits until native code has released the memory. */
    [Symbol.asyncDispose](): Promise<void>;
}
/** The content of a message to a plugin: JavaScript's own bytes, native memory, lent memory, or null. */
type Payload = Uint8Array | NativeMemory | LentMemory | null;
/** The memories attached to a message, at most 32. They are not copied. */
type Attachments = readonly (NativeMemory | LentMemory)[];

/**
 * A message, an answer or an event of a plugin: bytes or null, and attached memories. `using` or `release()` releases its native memory at
 * once. If the message has no native memory, they do nothing.
 */
interface NativeMessage extends Disposable {
    /**
     * The message's bytes, or null for a null message. The bytes are a view of `memory`, or JavaScript's own if `memory` is undefined. Throws
     * `released` after native memory was released. Throws `released` also if the bytes are in lent memory whose buffer was transferred.
     */
    readonly bytes: Uint8Array | null;
    /** The native memory that contains the bytes. Undefined if the bytes are JavaScript's own. */
    readonly memory: NativeMemory | undefined;
    /** The attached memories. They are not copied. */
    readonly attachments: readonly NativeMessage[];
    /** Releases the native memory of the message and of its attachments. Calling it again does nothing. */
    release(): void;
}

/**
 * The policy when a stream's queue is full. With `wait`, the source waits. With `fail`, the stream ends with the error `overflow`. With
 * `dropOldest` or `dropNewest`, the oldest or the newest event is dropped.
 */
type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";
/** Options of a channel's `listen`. */
interface ListenOptions {
    /** The arguments for the source. Default: null. */
    arguments?: Payload;
    /**
     * The maximum number of events that wait on the native side. The same number of events may wait on JavaScript's side. Default: 64. For
     * very frequent small events, use 1024. More events then share the cost of one batch.
     */
    items?: number;
    /**
     * The maximum number of bytes that wait on the native side. A single event may be larger. Default: 64 MiB, which has room for eight
     * frames of 1080p.
     */
    bytes?: number;
    /** The policy when the queue is full. Default: `wait`. */
    whenFull?: WhenFull;
    /**
     * Ends the stream when the signal aborts. The iterator then throws the signal's reason. If reading the signal throws, the iterator throws
     * that value.
     */
    signal?: AbortSignal;
}
/** Returns options for a queue of one event. A new event replaces the event that waits. Use these options for frames and sensors. */
declare const latest: () => {
    items: number;
    whenFull: WhenFull;
};
/**
 * The events of one stream, in order. The reader owns each message. The reader must release messages that have native memory, or declare
 * them with `using`. Leaving a `for await` loop cancels the stream.
 */
interface NativeEvents extends AsyncIterableIterator<NativeMessage, undefined, void>, AsyncDisposable {
    /** The number of events that the policy has dropped so far. */
    readonly dropped: number;
    /** Cancels the stream and releases its waiting events. */
    return(): Promise<IteratorResult<NativeMessage, undefined>>;
    /** Returns this object. It can be iterated once. */
    [Symbol.asyncIterator](): NativeEvents;
}

/** Options of `loadPlugin`. */
interface PluginOptions {
    /**
     * The preferred kind of view of native memory. If the runtime does not support this kind, the plugin uses the next kind in the order
     * `shared`, `detachable`, `copied`. Default: `detachable`, whose views are empty after their release. Use `shared` for memory that goes
     * to worker threads.
     */
    views?: ViewKind;
    /**
     * Receives the plugin's log lines. `level` is 0 for debug, 1 for info, 2 for warning, 3 for error. Default: prints 2 and 3 to stderr. If
     * it throws or rejects, the error is printed with `console.error`, and has no other effect.
     */
    onLog?(level: number, text: string): void;
}
/** The counters of one plugin instance, at one point in time. */
interface PluginStats {
    /** The numbers of bytes that were shared, moved and copied between JavaScript and native code. */
    ledger: NativeLedger;
    /** The number of native memories that the garbage collector released. If it is above 0, a `using` or `release()` is missing. */
    leaked: number;
    /** The number of loans that native code has not returned: messages without a copy, and memory from `lend`. */
    lent: number;
    /** The counters of the native side, by name. */
    native: Record<string, number>;
}
/** Options of a call to a plugin. */
interface SendOptions {
    /** The memories attached to the message. */
    attachments?: Attachments;
    /**
     * When the signal aborts, the call rejects at once with the signal's reason, and the plugin can find out that the caller no longer waits.
     * A call with a signal copies the message's bytes, because the handler may still use them after the abort.
     */
    signal?: AbortSignal;
}
/** A channel of a plugin. Creating one is cheap. Reuse it for further calls, because its first `call` prepares the following ones. */
interface NativeChannel {
    readonly name: string;
    /**
     * Calls the handler at once, on this thread. Use it only for direct handlers, which the plugin registers to run on the calling thread.
     * Does not copy the message. Allocates nothing if the call has no attachments and the answer is null. The handler may write to the
     * message's bytes. Throws the handler's error. Throws `no-handler` if the channel has no handler, and `not-direct` if the handler runs on
     * another thread or answers later.
     */
    call(message?: Payload, attachments?: Attachments): NativeMessage;
    /**
     * Sends a message and resolves with the handler's answer. The handler runs on the plugin's pool or on its serial queue; a direct handler
     * runs on this thread before `send` returns. `send` does not block while a handler runs on another thread.
     *
     * Lends a message of 4096 bytes or more instead of copying it, if there is no `signal` and this Node can keep its memory. Do not use a
     * lent message's bytes until the promise settles. The promise settles when the handler has answered; if the plugin closes before, it
     * settles when the handler has returned. A message that is in `NativeMemory` or `LentMemory` is never copied.
     */
    send(message?: Payload, options?: SendOptions): Promise<NativeMessage>;
    /** Listens to the channel's events, with back-pressure. Throws `invalid-argument` for wrong options. */
    listen(options?: ListenOptions): NativeEvents;
}
/**
 * An instance of a native plugin. It belongs to the thread that has loaded it. Several instances of a plugin may be open at once, in one
 * thread or in several threads.
 */
interface Plugin extends AsyncDisposable, Disposable {
    /** The path of the plugin's library. */
    readonly path: string;
    /** Returns the channel with that name. Does not check that the plugin serves the channel. A call on the channel checks it. */
    channel(name: string): NativeChannel;
    /**
     * Allocates native memory of `size` bytes. JavaScript can fill it and send it without a copy. The memory comes from a pool and is not
     * cleared, so it may contain old bytes.
     */
    allocate(size: number): NativeMemory;
    /**
     * Lends JavaScript's memory to native code, which may use it after a call has returned. Throws `would-copy` if this Node cannot keep the
     * memory, and `invalid-argument` for a resizable ArrayBuffer.
     */
    lend(bytes: Uint8Array): LentMemory;
    /**
     * Sets the handler of the messages that the plugin sends on a channel. The handler's result is the answer. The answer's bytes belong to
     * the plugin, so do not change them afterwards. Each message is released when the handler's promise settles. To remove the handler,
     * dispose the object that `handle` returns. Throws `invalid-argument` if the channel has a handler.
     */
    handle(channel: string, handler: (message: NativeMessage) => Payload | Promise<Payload>): Disposable;
    /** Returns the current counters. */
    stats(): PluginStats;
    /**
     * Closes this instance of the plugin. Streams that are open fail with `closed`. Queued messages are still handled for one second; this
     * time is fixed. Messages that are still queued then, and calls that still wait for an answer, fail with `closed`. The promise settles
     * after all running handlers have returned, however long that takes; the thread is not blocked meanwhile. After that, none of the
     * plugin's code runs for this instance. Memory in use stays valid until its release. An instance that is not closed keeps about one
     * megabyte until its thread ends, because its sources and handlers may be in use.
     */
    close(): Promise<void>;
}
/**
 * Loads a plugin and opens an instance of it for this thread. A plugin is a shared library that exports `clearway_plugin_init`
 * (native/include/clearway.h). The plugin's code runs with all rights of the process. Rejects with `invalid-argument`, `addon-missing`,
 * `load-failed`, `not-a-plugin`, `wrong-version` or `init-failed`.
 */
declare function loadPlugin(path: string | URL, options?: PluginOptions): Promise<Plugin>;
/** Returns the features of this Node for native memory. Loads the addon. Throws `addon-missing`. */
declare function nativeFeatures(): NativeFeatures;

export { LentMemory as L, NativeMemory as g, latest as l, loadPlugin as m, nativeFeatures as n };
export type { Attachments as A, NativeChannel as N, Plugin as P, SendOptions as S, ViewKind as V, WhenFull as W, ListenOptions as a, NativeCopyReason as b, NativeEvents as c, NativeFeatures as d, NativeLedger as e, NativeLedgerSide as f, NativeMessage as h, Payload as i, PluginOptions as j, PluginStats as k };
