/**
 * How JavaScript sees native memory. `shared`: a SharedArrayBuffer, which other threads may have too. `detachable`: an
 * ArrayBuffer, empty after its release. `copied`: an ArrayBuffer of its own.
 */
type ViewKind = "shared" | "detachable" | "copied";
/** What this runtime can do with memory that crosses. */
interface NativeFeatures {
    /** How native memory becomes a SharedArrayBuffer: by Node-API, by V8's own functions, or not at all. */
    mapping: "node-api" | "v8" | "none";
    /** Whether native code may keep JavaScript's memory beyond a call. */
    keeps: boolean;
}

/** Why memory was copied at the boundary. */
type NativeCopyReason = 
/** The other side gave bytes that stand in no memory of their own: they are copied into the queue. */
"no-memory"
/** So few bytes (under 4096) that copying them costs less than lending them. */
 | "small"
/** This Node cannot keep an ArrayBuffer's memory while native code has it (a version that was not tried). */
 | "not-kept"
/** The ArrayBuffer is resizable: JavaScript could take its memory away while native code has it. */
 | "resizable"
/** This runtime allows no views of native memory (Electron, or `views: "copied"`). */
 | "not-viewed";
/** Bytes that crossed one way. */
interface NativeLedgerSide {
    /** Bytes that both sides saw at the same time: shared, or lent for the time of a call. */
    sharedBytes: number;
    /** Bytes that changed owner without a copy: native memory viewed by an ArrayBuffer. */
    movedBytes: number;
    /** Bytes that were copied; `copies` says why. */
    copiedBytes: number;
    copies: Partial<Record<NativeCopyReason, {
        count: number;
        bytes: number;
    }>>;
}
/** Both ways. A snapshot: it does not change afterwards. */
interface NativeLedger {
    toNative: NativeLedgerSide;
    fromNative: NativeLedgerSide;
}

/**
 * Native memory, seen from JavaScript without a copy where the runtime can. Give it back with `using` or `release()`: then
 * a view of kind `detachable` is empty, and a native slab is free for its next use. Where that is forgotten, the garbage
 * collector does it some time, and the plugin's `stats().leaked` counts it.
 *
 * A `shared` view cannot be taken away, because another thread may be reading it: after the release, `bytes` throws, and
 * what was taken from it before stays readable; its memory is not used anew until no thread has it any more.
 */
declare class NativeMemory implements Disposable {
    #private;
    /** Bytes. */
    readonly size: number;
    /** How JavaScript sees it; made with the first look at `bytes`. */
    get kind(): ViewKind;
    /** All of it. The same object each time. Throws `released` after the release. */
    get bytes(): Uint8Array;
    get released(): boolean;
    /** Gives this side's reference up. At once, without waiting for a collection. Again does nothing. */
    release(): void;
    [Symbol.dispose](): void;
}

/**
 * What a plugin said: bytes, or null, and memories that came along. With `using`, or `release()`, its native memory is given
 * back at once; where it has none, that does nothing.
 */
interface NativeMessage extends Disposable {
    /**
     * Null where the message is null. Yours while `memory` is undefined, else a view of it. Throws `released` after the release, and
     * where the bytes stand in memory that was lent and whose buffer JavaScript has moved away since.
     */
    readonly bytes: Uint8Array | null;
    /** The native memory in which the bytes stand; undefined where they are JavaScript's own. */
    readonly memory: NativeMemory | undefined;
    /** Further memories, none of them copied. */
    readonly attachments: readonly NativeMessage[];
    release(): void;
}

/**
 * Memory of JavaScript's that native code may use beyond one call, and which it sees without a copy. It ends in two steps:
 * `release()` takes it out of the hands of JavaScript's calls at once, and `returned` settles when native code has given
 * its last reference back. `await using` waits for both. Until then, native code may still write to it.
 */
declare class LentMemory implements AsyncDisposable {
    #private;
    /** What was lent: the very view, readable all the time. */
    readonly bytes: Uint8Array;
    /** Settles when native code has it no more. */
    readonly returned: Promise<void>;
    /** Bytes. */
    get size(): number;
    get released(): boolean;
    /** No call may use it any more: that throws `released`. Again does nothing. */
    release(): void;
    [Symbol.asyncDispose](): Promise<void>;
}

/** What a plugin is given: bytes of JavaScript's, native memory, memory that was lent, or null. */
type Payload = Uint8Array | NativeMemory | LentMemory | null;
/** Memories that go along with a message, none of them copied; 32 at most. */
type Attachments = readonly (NativeMemory | LentMemory)[];

/** What is lost when events come faster than they are read: nothing (the source waits), the stream, the oldest, the newest. */
type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";
interface ListenOptions {
    /** What the source is told. Default null. */
    arguments?: Payload;
    /**
     * How many events may wait on the native side, and as many again on JavaScript's. Default 64. For a firehose of small
     * events 1024: what a batch costs is shared by more of them.
     */
    items?: number;
    /** How many bytes may wait on the native side. One event that is larger may. Default 64 MiB: eight frames of 1080p. */
    bytes?: number;
    /** Default `wait`. */
    whenFull?: WhenFull;
    /** Ends the stream; the iterator throws the signal's reason. */
    signal?: AbortSignal;
}
/** Only the newest event: what waits is dropped for what comes. For frames and sensors. */
declare const latest: () => {
    items: number;
    whenFull: WhenFull;
};
/**
 * Events of a plugin, in order. Whoever reads owns what comes: release each message that has native memory, or have it done
 * by `using`. Leaving the loop cancels the source.
 */
interface NativeEvents extends AsyncIterableIterator<NativeMessage, undefined, void>, AsyncDisposable {
    /** How many events were dropped so far, by the policy that was asked for. */
    readonly dropped: number;
    /** Cancels the source; what waits is released. */
    return(): Promise<IteratorResult<NativeMessage, undefined>>;
    [Symbol.asyncIterator](): NativeEvents;
}

interface PluginOptions {
    /**
     * How JavaScript sees native memory: the first of `shared`, `detachable`, `copied`, from this one on, that the runtime
     * can. Default `detachable`: its views end with their release. `shared` is for memory that goes on to worker threads.
     */
    views?: ViewKind;
    /** Told what the plugin logs: `level` 0 to 3, from debug to error. Default: warnings and errors to stderr. */
    onLog?(level: number, text: string): void;
}
/** What a plugin's opening has done so far. A snapshot. */
interface PluginStats {
    /** Bytes that crossed, and how. */
    ledger: NativeLedger;
    /** Native memories that nobody released, and the garbage collector did. Above 0, a `using` is missing somewhere. */
    leaked: number;
    /** Counters of the native side. */
    native: Record<string, number>;
}
interface SendOptions {
    /** Memories that go along with the message. */
    attachments?: Attachments;
    /** Rejects the call with its reason, and tells the plugin that nobody waits any more. */
    signal?: AbortSignal;
}
/** One of a plugin's channels. Cheap; keep it for calls that share it. */
interface NativeChannel {
    readonly name: string;
    /**
     * Calls the handler on this thread, now: for handlers that run direct. Copies nothing to native code; allocates nothing
     * where the answer is null. `bytes` may be written to by the handler. Throws what the handler answers with, `no-handler`,
     * and `not-direct` for a handler that runs elsewhere or answers later.
     */
    call(message?: Payload, attachments?: Attachments): NativeMessage;
    /**
     * Sends to the handler where it runs: on the plugin's pool, on its serial queue, or here. Bytes of 4096 or more are lent,
     * not copied: leave them alone until the promise settles. Never blocks.
     */
    send(message?: Payload, options?: SendOptions): Promise<NativeMessage>;
    /** The channel's events, with credit. */
    listen(options?: ListenOptions): NativeEvents;
}
/** A native plugin, opened for this thread. Another thread opens it for itself; both may be open at once. */
interface Plugin extends AsyncDisposable, Disposable {
    readonly path: string;
    channel(name: string): NativeChannel;
    /** Native memory that JavaScript fills and hands over without a copy. Holds what it held before: it is pooled. */
    allocate(size: number): NativeMemory;
    /** Lets native code use memory of JavaScript's beyond one call. Throws `would-copy` where this Node cannot keep it. */
    lend(bytes: Uint8Array): LentMemory;
    /** Handles the plugin's own messages. What the message holds is released when the handler's promise settles. */
    handle(channel: string, handler: (message: NativeMessage) => Payload | Promise<Payload>): Disposable;
    stats(): PluginStats;
    /**
     * Ends it: calls under way fail with `closed`, streams end with it, and when this settles none of its code runs for this
     * opening any more. Memory that is out stays until it is released. Waits for handlers that run, and holds nobody up. An opening
     * that is not closed stays, with about a megabyte, until its thread ends: its sources and handlers may be in use.
     */
    close(): Promise<void>;
}
/**
 * Loads a plugin, a shared library that exports `clearway_plugin_init` (native/include/clearway.h). Code in it runs with all
 * the rights of the process. Throws `addon-missing`, `load-failed`, `not-a-plugin`, `wrong-version`, `init-failed`.
 */
declare function loadPlugin(path: string | URL, options?: PluginOptions): Promise<Plugin>;
/** What this Node can do with native memory. Loads the addon; throws `addon-missing`. */
declare function nativeFeatures(): NativeFeatures;

export { LentMemory as L, NativeMemory as g, latest as l, loadPlugin as m, nativeFeatures as n };
export type { Attachments as A, NativeChannel as N, Plugin as P, SendOptions as S, ViewKind as V, WhenFull as W, ListenOptions as a, NativeCopyReason as b, NativeEvents as c, NativeFeatures as d, NativeLedger as e, NativeLedgerSide as f, NativeMessage as h, Payload as i, PluginOptions as j, PluginStats as k };
