/// <reference lib="esnext.disposable" />
import { Extension } from 'clearway/channel';
import { C as ConnectOptions, D as DurableCallerOptions } from './types-connect.js';
export { a as DurableOptions } from './types-connect.js';
import { Callers, Window } from 'clearway';
import '@nats-io/transport-node';

/** The outcome of a submitted call, as it comes to a callback subject. */
type CallbackOutcome = {
    readonly id: string;
    readonly ok: true;
    readonly value: unknown;
} | {
    readonly id: string;
    readonly ok: false;
    readonly error: unknown;
}
/** The result is too large for a message. Read it with `result(id)` of a pool. */
 | {
    readonly id: string;
    readonly ok: undefined;
};
/**
 * Reads a message that a worker process has published to the callback subject of a call. Throws a `ClearwayError` with the code of a codec, or
 * `protocol`, for bytes that are none. Pass the same extensions as to the pool.
 */
declare function readCallback(data: Uint8Array, extensions?: readonly Extension[]): CallbackOutcome;

/** Counters of a pool of durable calls. */
interface DurablePoolStats {
    /** Number of calls that wait for an outcome. */
    open: number;
    /** Number of messages that the servers have not confirmed. */
    unconfirmed: number;
    calls: number;
    submitted: number;
    ok: number;
    failed: number;
    cancelled: number;
    /** Number of outcomes for calls that do not wait: cancelled ones, or second outcomes of the same call. */
    unexpected: number;
    /** Number of messages of which a part was no outcome. */
    malformed: number;
    /** Number of messages that were sent again because no confirmation came. */
    resent: number;
    /** Bytes of calls and outcomes, without objects. */
    bytes: {
        sent: number;
        received: number;
    };
    /** Bytes of objects for large values. */
    objects: {
        storedBytes: number;
        readBytes: number;
    };
}

/** The tasks of a module that durable mode can call: plain functions. Streams have no place to wait. */
type DurableCallers<Module> = {
    readonly [Name in keyof Callers<Module> & string as Callers<Module>[Name] extends (...args: never[]) => Promise<unknown> ? Name : never]: Callers<Module>[Name];
};
type TaskName<Module> = keyof DurableCallers<Module> & string;
/** The arguments of a task that can be called durably. */
type DurableArguments<Module, Name extends keyof DurableCallers<Module>> = DurableCallers<Module>[Name] extends (...args: infer Args) => unknown ? Args : never;
/** Options of durable calls. */
interface DurableCallOptions {
    /** Cancels the call. It is removed from the queue, or its task's signal aborts. The promise rejects with the signal's reason at once. */
    signal?: AbortSignal;
    /** Maximum time for the task, in milliseconds from its start in the worker. */
    timeoutMs?: number;
    /**
     * Maximum time for the whole call, in milliseconds. The caller counts it from the call. A worker counts it from the time at which it
     * receives the call, because the clocks of two machines differ.
     */
    deadlineMs?: number;
    /** Calls with the same key run one after the other, wherever they run. */
    key?: string | number;
    /** Above 0: before the calls of other callers. Below 0: after them. Has no effect on calls with a key. Default 0. */
    priority?: number;
}
/** Options of {@link DurablePool.submit}. */
interface SubmitOptions extends Omit<DurableCallOptions, "signal"> {
    /**
     * The call's id: 1 to 128 letters, digits, hyphens and underscores. A second call with the same id within `dedupMs` is not another call.
     * Default: a random one.
     */
    id?: string;
    /**
     * A subject to which the outcome is also published. {@link readCallback} reads it. The worker processes must allow it (option `callbacks`);
     * subjects that begin with `clearway.callback.` are allowed. To store the outcomes, give a stream that subject.
     */
    callback?: string;
}
/** Options of {@link DurablePool.result}. */
interface ResultOptions {
    signal?: AbortSignal;
    /** Maximum time to wait, in milliseconds. Then the promise rejects with `deadline`, and the call goes on. */
    deadlineMs?: number;
}
/** The tasks of a module, as methods of `call`. */
interface DurableCallable<Module> {
    readonly call: DurableCallers<Module>;
}
/**
 * A pool whose calls are stored by the servers until a worker process has run them. A call waits for a worker, and survives the end of any
 * worker, of the servers, and of the caller.
 */
interface DurablePool<Module> extends DurableCallable<Module>, AsyncDisposable {
    /** Returns the same tasks. Calls through the result use these options. Throws `invalid-argument`. */
    with(options: DurableCallOptions): DurableCallable<Module>;
    /**
     * Stores a call whose outcome anyone can read later, by its id. Resolves with the id when the call is stored: from then on it runs, also if
     * this process ends.
     */
    submit<Name extends TaskName<Module>>(task: Name, args: DurableArguments<Module, Name>, options?: SubmitOptions): Promise<string>;
    /**
     * Waits for the outcome of a submitted call, in any process. Resolves with the result, and rejects with the task's error. Outcomes are kept
     * for `resultAgeMs`. Without `deadlineMs`, it waits for a call that was never submitted until the pool closes.
     */
    result<Result = unknown>(id: string, options?: ResultOptions): Promise<Result>;
    /** Returns a copy of the counters. */
    stats(): DurablePoolStats;
    /**
     * Takes no more calls and waits until the open ones have an outcome, at most `timeoutMs` (default 30,000). Then they reject with
     * `pool-closed`. They stay in the queue and run, but their outcome is lost: use `submit()` for calls that must outlive this process.
     */
    close(options?: {
        timeoutMs?: number;
    }): Promise<void>;
    /** Rejects every open call with `pool-terminated`, and closes the pool. The calls stay in the queue. */
    terminate(): Promise<void>;
}

/** Limits of a remote pool. Workers are peers like any other: what they send is charged before it is kept. */
interface RemotePoolLimits {
    /** Maximum number of open calls. A call above it fails with `queue-full`. Default 65,536. */
    callsMax?: number;
    /** Maximum size of a message from a worker, in bytes: a result, or values of a stream. Larger ones fail their call. Default 64 MiB. */
    messageBytesMax?: number;
    /** Maximum bytes of all incomplete messages from workers. Default 512 MiB. */
    bytesMax?: number;
}
/** The options that remote pools of both modes have. */
interface CommonPoolOptions extends ConnectOptions {
    /** Name of the task module, as its workers have it. */
    module: string;
    /** Version of the module. Only workers of this version receive the calls. Default `"0"`. */
    version?: string;
    /** The app's own types on the wire. The workers need the same ones. */
    extensions?: readonly Extension[];
    /**
     * Receives errors that belong to no call, such as a lost connection. Default: `process.emitWarning`. An error that it throws is an
     * uncaught error of the app, as with `pool()`.
     */
    onError?(error: unknown): void;
}
/** Options of a remote pool in `request` mode. */
interface RemotePoolOptions extends CommonPoolOptions {
    /**
     * How calls reach the workers. With `"request"`, a call runs at most once, with the lowest latency, and fails if no worker is there. With
     * `"durable"`, a call is stored until a worker has run it, and survives the caller and any worker. Default `"request"`.
     */
    mode?: "request";
    /**
     * Time without a sign of life of a call after which it fails with `worker-lost`, in milliseconds. Workers give one every second for each
     * call that runs. Default 5,000.
     */
    silenceMs?: number;
    /** The window of streams: how far a task may run ahead of its reader. Default 256 values and 1 MiB. */
    window?: Partial<Window>;
    limits?: RemotePoolLimits;
}
/** Options of a remote pool in `durable` mode. */
interface DurableRemotePoolOptions extends CommonPoolOptions {
    mode: "durable";
    durable?: DurableCallerOptions;
}
/** Options of calls: `pool.with(options).call.name()`. The options apply to one call or to many. */
interface RemoteCallOptions {
    /** Cancels the call. The call then rejects with the signal's reason at once, and the task's own signal aborts. */
    signal?: AbortSignal;
    /** Maximum time for the task, in milliseconds from its start in the worker. */
    timeoutMs?: number;
    /** Maximum time for the whole call, in milliseconds from the call. For a stream, the time counts from its first `next()`. */
    deadlineMs?: number;
    /**
     * Calls with the same key run in the same worker, one after the other, as long as no worker process starts or ends. The first call with a
     * key may wait a quarter of a second, until the pool knows its workers.
     */
    key?: string | number;
    /** Priority in the queue of the worker process. Calls of higher priority run first. Default 0. */
    priority?: number;
    /** The same as {@link RemotePoolOptions.window}, for this call. */
    window?: Partial<Window>;
    /**
     * Receives the values that the task passes to `progress()`, in order and never after the result. If it throws, the call fails with that
     * error.
     */
    onProgress?(value: unknown): void;
}

/** The advice for one task of a remote pool, as plain data. All times are in microseconds. */
interface RemoteTaskAdvice {
    readonly task: string;
    /** Number of calls at the workers that answered, from all callers. */
    readonly calls: number;
    /** Number of measured runs. */
    readonly samples: number;
    /** Mean time of a run. Undefined without a measurement. */
    readonly runUs: number | undefined;
    /** Time that the way to a worker process and back takes. Undefined without a measurement. */
    readonly networkUs: number | undefined;
    /** Where a single call would be over sooner: in the caller's own process, or in a worker process elsewhere. Undefined without measurements. */
    readonly better: "local" | "remote" | undefined;
    /** The advice as a sentence. */
    readonly advice: string;
}
/** The advice for all tasks of a remote pool, as plain data. */
interface RemoteAdvice {
    readonly tasks: RemoteTaskAdvice[];
    /** Notes about the whole pool. */
    readonly notes: string[];
    readonly text: string;
}

/** The tasks of a remote pool's module, as methods of `call`. */
interface RemoteCallable<Module> {
    /** The module's tasks, by name. A plain task returns a promise. A generator task returns a stream. */
    readonly call: Callers<Module>;
}
/** Counts of a task's calls by outcome. */
interface RemoteTaskStats {
    readonly calls: number;
    readonly ok: number;
    readonly failed: number;
    readonly cancelled: number;
}
/** A snapshot of a remote pool's counters. The counters start at the creation of the pool. */
interface RemotePoolStats {
    /** Number of worker processes that the pool knows. */
    readonly workers: number;
    /** Number of calls without an outcome. */
    readonly open: number;
    readonly tasks: Record<string, RemoteTaskStats>;
    /** Bytes of all messages to the workers and from them. All of them are copied. */
    readonly ledger: {
        readonly sentBytes: number;
        readonly receivedBytes: number;
    };
    /** Messages that were dropped. */
    readonly dropped: {
        /** Messages for a call that is not open: answers that came too late, and stray ones. */
        readonly forNobody: number;
        /** Messages that break the protocol and belong to no call. */
        readonly malformed: number;
        /** Messages that were not sent, because too many waited for an interrupted connection. */
        readonly unsent: number;
    };
}
/** A pool whose workers are other processes, reached over NATS in `request` mode: a call runs at most once. */
interface RemotePool<Module> extends RemoteCallable<Module>, AsyncDisposable {
    /** Returns the same tasks. Calls through the result use these options. Keep the result for calls that share the options. */
    with(options: RemoteCallOptions): RemoteCallable<Module>;
    /** Returns counters. */
    stats(): RemotePoolStats;
    /**
     * Returns advice: which tasks are worth the way to another process, judged by the runs at the workers and by a few round trips. Changes
     * nothing.
     */
    advise(): Promise<RemoteAdvice>;
    /**
     * Closes the pool: accepts no new calls, waits for the open ones, and closes the connection. Calls that take longer than `timeoutMs`
     * (default 30,000) fail with `pool-closed`. The workers go on. `await using` calls `close()`.
     */
    close(options?: {
        timeoutMs?: number;
    }): Promise<void>;
    /** Fails every call with `pool-terminated`, cancels them at their workers, and closes the connection. */
    terminate(): Promise<void>;
}

/**
 * Makes a pool whose workers are other processes: `await remotePool<typeof import("./images.tasks.js")>({ servers, module: "images" })`.
 *
 * Resolves when the connection to NATS is made. Does not wait for workers. In `request` mode, a call fails with `no-worker` if there is none;
 * in `durable` mode, it waits for one. The connection keeps the process alive until `close()`.
 *
 * Rejects with `invalid-argument` for an unknown or invalid option, and with `connect-failed` if NATS cannot be reached, or has no JetStream
 * for `durable` mode. The pool's `with()` throws `invalid-argument`, too.
 */
declare function remotePool<Module>(options: RemotePoolOptions): Promise<RemotePool<Module>>;
declare function remotePool<Module>(options: DurableRemotePoolOptions): Promise<DurablePool<Module>>;

export { ConnectOptions, DurableCallerOptions, readCallback, remotePool };
export type { CallbackOutcome, CommonPoolOptions, DurableArguments, DurableCallOptions, DurableCallable, DurableCallers, DurablePool, DurablePoolStats, DurableRemotePoolOptions, RemoteAdvice, RemoteCallOptions, RemoteCallable, RemotePool, RemotePoolLimits, RemotePoolOptions, RemotePoolStats, RemoteTaskAdvice, RemoteTaskStats, ResultOptions, SubmitOptions };
