/**
 * How JavaScript sees native memory. `shared`: a SharedArrayBuffer, which other threads may have too. `detachable`: an ArrayBuffer, empty
 * after its release. `copied`: an independent ArrayBuffer.
 */
type ViewKind = "shared" | "detachable" | "copied";
/** What this runtime can do with memory that crosses. */
interface NativeFeatures {
    /** How native memory becomes a SharedArrayBuffer: with Node-API, with V8's own functions, or not at all. */
    mapping: "node-api" | "v8" | "none";
    /** Whether native code may keep JavaScript's memory beyond a call. */
    keeps: boolean;
}

/** Why memory was copied at the boundary. */
type NativeCopyReason = 
/** The other side gave bytes that are in no memory of their own. They are copied into the queue. */
"no-memory"
/** Fewer than 4096 bytes, so that copying them costs less than lending them. */
 | "small"
/** This Node cannot keep an ArrayBuffer's memory while native code has it (an untested version). */
 | "not-kept"
/** The ArrayBuffer is resizable: JavaScript could shrink it while native code has it. */
 | "resizable"
/** This runtime allows no views of native memory (Electron, or `views: "copied"`). */
 | "not-viewed";
/** Bytes that crossed in one direction. */
interface NativeLedgerSide {
    /** Bytes that both sides saw at the same time: shared, or lent for the duration of a call. */
    sharedBytes: number;
    /** Bytes that changed owner without a copy: native memory viewed by an ArrayBuffer. */
    movedBytes: number;
    /** Bytes that were copied; `copies` has the reasons. */
    copiedBytes: number;
    copies: Partial<Record<NativeCopyReason, {
        count: number;
        bytes: number;
    }>>;
}
/** Both directions. A snapshot: it does not change afterwards. */
interface NativeLedger {
    toNative: NativeLedgerSide;
    fromNative: NativeLedgerSide;
}

/**
 * Native memory, seen from JavaScript without a copy if the runtime can do that. Give it back with `using` or `release()`. A `detachable`
 * view is then empty, and a native slab is free for its next use. If the owner forgets it, the garbage collector does it later, and the
 * plugin's `stats().leaked` counts it.
 *
 * A `shared` view cannot be taken away, because another thread may be reading it. After the release `bytes` throws, but views taken
 * earlier stay readable. The memory is not used again until no thread has it.
 */
declare class NativeMemory implements Disposable {
    #private;
    /** Size in bytes. */
    readonly size: number;
    /** The kind of view. The first use of `bytes` or `kind` creates the view. */
    get kind(): ViewKind;
    /** A view of all the memory; the same object each time. Throws `released` after the release. */
    get bytes(): Uint8Array;
    get released(): boolean;
    /** Releases this side's reference at once, without waiting for a garbage collection. Calling it again does nothing. */
    release(): void;
    /** Releases the memory at the end of a `using` block. */
    [Symbol.dispose](): void;
}

/**
 * A plugin's message: bytes or null, and attached memories. `using` or `release()` gives its native memory back at once; without native
 * memory they do nothing.
 */
interface NativeMessage extends Disposable {
    /**
     * The message's bytes; null for a null message. JavaScript's own bytes if `memory` is undefined, else a view of it. Throws `released`
     * after the release, and when the bytes are in lent memory whose buffer JavaScript has moved away.
     */
    readonly bytes: Uint8Array | null;
    /** The native memory that holds the bytes; undefined if they are JavaScript's own. */
    readonly memory: NativeMemory | undefined;
    /** Attached memories, none of them copied. */
    readonly attachments: readonly NativeMessage[];
    /** Gives the message's native memory back. Further calls do nothing. */
    release(): void;
}

/**
 * JavaScript's memory that native code may use beyond one call, without a copy. A loan ends in two steps. `release()` at once forbids
 * JavaScript's calls to use it; `returned` settles when native code has given back its last reference. `await using` waits for both.
 * Until then, native code may still write to the memory.
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
    /** Forbids calls to use the memory: they throw `released`. Calling it again does nothing. */
    release(): void;
    /** Ends the loan, and waits until native code has given the memory back. */
    [Symbol.asyncDispose](): Promise<void>;
}

/** A message to a plugin: bytes of JavaScript's, native memory, lent memory, or null. */
type Payload = Uint8Array | NativeMemory | LentMemory | null;
/** Memories attached to a message, none of them copied; at most 32. */
type Attachments = readonly (NativeMemory | LentMemory)[];

/** What a full queue does: the source waits, the stream fails, or the oldest or newest event is dropped. */
type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";
/** Options of a channel's `listen`. */
interface ListenOptions {
    /** Arguments for the source. Default: null. */
    arguments?: Payload;
    /**
     * Events that may wait on the native side, and as many again on JavaScript's. Default: 64. For a firehose of small events use 1024:
     * more events then share the cost of a batch.
     */
    items?: number;
    /** Bytes that may wait on the native side. A single larger event may too. Default: 64 MiB, which is eight frames of 1080p. */
    bytes?: number;
    /** What a full queue does. Default: `wait`. */
    whenFull?: WhenFull;
    /** Ends the stream. The iterator throws the signal's reason, or what the signal threw. */
    signal?: AbortSignal;
}
/** Options for only the newest event: a new event replaces the one that waits. For frames and sensors. */
declare const latest: () => {
    items: number;
    whenFull: WhenFull;
};
/**
 * Events of a plugin, in order. The reader owns each message: release those with native memory, or declare them with `using`. Leaving the
 * loop cancels the source.
 */
interface NativeEvents extends AsyncIterableIterator<NativeMessage, undefined, void>, AsyncDisposable {
    /** Number of events dropped so far under the chosen policy. */
    readonly dropped: number;
    /** Cancels the source and releases waiting events. */
    return(): Promise<IteratorResult<NativeMessage, undefined>>;
    /** Returns the stream itself: it can be iterated once. */
    [Symbol.asyncIterator](): NativeEvents;
}

/** Options of `loadPlugin`. */
interface PluginOptions {
    /**
     * How JavaScript sees native memory: the first kind, from this one on in the order `shared`, `detachable`, `copied`, that the runtime
     * supports. Default: `detachable`, whose views end with their release. Use `shared` for memory that goes on to worker threads.
     */
    views?: ViewKind;
    /** Receives the plugin's log: `level` 0 to 3, from debug to error. Default: warnings and errors go to stderr. */
    onLog?(level: number, text: string): void;
}
/** Counters of a plugin's opening. A snapshot. */
interface PluginStats {
    /** Bytes that crossed, and how. */
    ledger: NativeLedger;
    /** Native memories that the garbage collector released. Above 0, a `using` or `release()` is missing somewhere. */
    leaked: number;
    /** Counters of the native side. */
    native: Record<string, number>;
}
/** Options of a call to a plugin. */
interface SendOptions {
    /** Memories attached to the message. */
    attachments?: Attachments;
    /** Rejects the call with the signal's reason, and tells the plugin that the caller no longer waits. */
    signal?: AbortSignal;
}
/** One of a plugin's channels. Cheap; keep it for calls that share it. */
interface NativeChannel {
    readonly name: string;
    /**
     * Calls the handler at once on this thread, for handlers that run directly. Copies nothing to native code, and allocates nothing if the
     * answer is null. The handler may write to the message's bytes. Throws the handler's error, `no-handler`, and `not-direct` for a
     * handler that runs elsewhere or answers later.
     */
    call(message?: Payload, attachments?: Attachments): NativeMessage;
    /**
     * Sends to the handler where it runs: on the plugin's pool, on its serial queue, or on this thread. Messages of 4096 bytes or more are
     * lent, not copied: do not use them until the promise settles. Never blocks.
     */
    send(message?: Payload, options?: SendOptions): Promise<NativeMessage>;
    /** Listens to the channel's events, with credit. */
    listen(options?: ListenOptions): NativeEvents;
}
/** A native plugin, opened for this thread. Each thread opens it for itself; several may be open at once. */
interface Plugin extends AsyncDisposable, Disposable {
    readonly path: string;
    /** Returns the plugin's channel of that name. Does not check that the plugin serves it: a call does. */
    channel(name: string): NativeChannel;
    /** Allocates native memory, which JavaScript fills and passes on without a copy. It is pooled and not cleared: it holds old contents. */
    allocate(size: number): NativeMemory;
    /** Lends JavaScript's memory to native code beyond one call. Throws `would-copy` if this Node cannot keep the memory. */
    lend(bytes: Uint8Array): LentMemory;
    /** Handles the plugin's own messages. Each message is released when the handler's promise settles. */
    handle(channel: string, handler: (message: NativeMessage) => Payload | Promise<Payload>): Disposable;
    /** Returns a copy of the counters. */
    stats(): PluginStats;
    /**
     * Closes the plugin for this thread. Open calls fail with `closed`, and streams end with it. When this settles, none of the plugin's
     * code runs for this opening any more. Memory that is still in use stays until its release. Waits for running handlers, without
     * blocking the thread. An opening that is not closed stays, with about a megabyte, until its thread ends, because its sources and
     * handlers may be in use.
     */
    close(): Promise<void>;
}
/**
 * Loads a plugin, a shared library that exports `clearway_plugin_init` (native/include/clearway.h). Its code runs with all rights of the
 * process. Throws `addon-missing`, `load-failed`, `not-a-plugin`, `wrong-version`, `init-failed`.
 */
declare function loadPlugin(path: string | URL, options?: PluginOptions): Promise<Plugin>;
/** Returns what this Node can do with native memory. Loads the addon; throws `addon-missing`. */
declare function nativeFeatures(): NativeFeatures;

export { LentMemory as L, NativeMemory as g, latest as l, loadPlugin as m, nativeFeatures as n };
export type { Attachments as A, NativeChannel as N, Plugin as P, SendOptions as S, ViewKind as V, WhenFull as W, ListenOptions as a, NativeCopyReason as b, NativeEvents as c, NativeFeatures as d, NativeLedger as e, NativeLedgerSide as f, NativeMessage as h, Payload as i, PluginOptions as j, PluginStats as k };
