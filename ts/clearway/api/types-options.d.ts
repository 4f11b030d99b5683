import { C as ClearwayError } from './types-clearway-error.js';
import { W as Window } from './types-credit.js';
import { P as Placement } from './types-task.js';

/** Limits on the memory of a worker in Node, in MiB. `worker_threads` takes them in this form. */
interface ResourceLimits {
    maxOldGenerationSizeMb?: number;
    maxYoungGenerationSizeMb?: number;
    codeRangeSizeMb?: number;
    stackSizeMb?: number;
}
/** Receives what a worker prints. Every writable stream of Node is one. */
interface TextSink {
    /** Receives the bytes that the worker has printed. The library does not wait for a slow sink. */
    write(bytes: Uint8Array): unknown;
}
/**
 * Options of a worker's thread in Node, as `worker_threads` takes them. A worker inherits from the thread that starts it what is not set
 * here. A pool ignores these options if its source is a factory, because the factory sets them. In browsers, `resourceLimits` has no effect,
 * and the other options are refused with `invalid-argument`.
 */
interface ThreadOptions {
    /**
     * Limits of a worker's memory. The pool replaces a worker that reaches a limit. The worker's calls fail with `out-of-memory`.
     */
    resourceLimits?: ResourceLimits | undefined;
    /**
     * Node's command line options for the worker, such as `["--import", "./register.mjs"]`. They replace the inherited ones; to add to those,
     * pass `[...process.execArgv, more]`. Calls fail with `worker-start-failed` if Node does not know an option, or does not allow it in
     * workers.
     */
    execArgv?: readonly string[] | undefined;
    /** Environment variables of the worker. By default a copy of this thread's. `SHARE_ENV` of `worker_threads` shares them. */
    env?: {
        readonly [name: string]: string | undefined;
    } | symbol | undefined;
    /** Arguments that are added to the worker's `process.argv`. */
    argv?: readonly string[] | undefined;
    /** `workerData` of `worker_threads` in the worker. Copied at each start of a worker. The option `setup` does the same in every host. */
    workerData?: unknown;
    /**
     * If true, each worker is a child process, and not a thread. A crash of native code then ends that process only. Everything that crosses
     * is copied, also under `move()`, and nothing can be shared. In browsers, refused with `invalid-argument`. Default false.
     *
     * {@link ThreadOptions.resourceLimits} has only the limits of the heap's generations, and `env` cannot be `SHARE_ENV`.
     */
    processes?: boolean | undefined;
    /** Receives what a worker writes to its stdout, instead of this thread's stdout. */
    stdout?: TextSink | undefined;
    /** Receives what a worker writes to its stderr, instead of this thread's stderr. */
    stderr?: TextSink | undefined;
}
/**
 * A worker that a factory returned. The type has only the methods that the `Worker` of Node and that of browsers share, so it accepts both.
 */
interface WorkerLike {
    /** Posts a message and moves the memory in `transfer`. */
    postMessage(message: unknown, transfer: never[]): void;
    /** Ends the worker's thread. */
    terminate(): unknown;
}

/** Summary of a histogram. All fields except `count` are in microseconds. */
interface Summary {
    count: number;
    min: number;
    mean: number;
    p50: number;
    p90: number;
    p99: number;
    max: number;
    /** Number of samples of less than 16, 64, 256 ... 2^24 us (16.8 s): the buckets of a histogram for metrics, in this order. */
    buckets: number[];
}
/** How long each phase of a task's calls took, in microseconds. */
interface TaskTimings {
    /** Time from the call until the pool sent it to a worker. */
    queueUs?: Summary;
    /** Time from sending until the task started. */
    transitUs?: Summary;
    /** Run time of the task. */
    runUs?: Summary;
    /** Time from the end of the task until its answer reached the caller's thread. */
    returnUs?: Summary;
}
/** How long the phases of one call took, in microseconds. See `stats()`. */
interface CallTiming {
    readonly task: string;
    readonly queueUs: number;
    readonly transitUs: number;
    readonly runUs: number;
    readonly returnUs: number;
}

/**
 * What the pool does with a new call when the queue is full.
 *
 * - `wait`: the call waits above the limits. No call is lost.
 * - `fail`: the call fails with `queue-full`.
 * - `dropOldest`: the oldest waiting call of the lowest priority fails with `dropped`.
 * - `dropNewest`: the new call fails with `dropped`.
 */
type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";
/** Number of workers: fixed, one per core, or between two bounds. See {@link PoolOptions.size}. */
type PoolSize = number | "cpu" | {
    min?: number;
    max?: number | "cpu";
    idleMs?: number;
};
/** Options of a pool. Each has a default. `Setup` is the parameter of the module's `setup`. */
interface PoolOptions<Setup = undefined> extends ThreadOptions {
    /**
     * The number of workers: a fixed number, `"cpu"` for one per core, or bounds. Between the bounds, the pool starts workers under load and
     * ends a worker after `idleMs` milliseconds (default 30,000) without work. Default `{ min: 1, max: "cpu" }`. If `max` is `"cpu"`, a `min`
     * above the number of cores also raises `max`. At most 1,024.
     */
    size?: PoolSize;
    /** Number of tasks that one worker runs at once. Default 1. Use a larger number for tasks that mostly wait. */
    concurrency?: number;
    /**
     * Limits of the queue: the number of waiting calls, and the bytes of binary memory in their arguments. Default 16,384 calls and 256 MiB,
     * with `wait`. Infinity is allowed.
     *
     * With 0 `items`, no call waits for another one: a call without a free worker fails with `queue-full`, or with `dropped` if `whenFull` says
     * so. A call may then still wait for a worker that starts. `wait` is refused.
     *
     * With `wait`, calls above the limits wait too. A producer can await `room()` before its next call. A call that alone exceeds `bytes` is
     * accepted if no other call waits.
     *
     * Before the first worker is ready, every call waits, except one call that each starting worker receives early. Calls that were sent to a
     * worker count neither for the limits nor in `stats().queue`.
     */
    queue?: {
        items?: number;
        bytes?: number;
        whenFull?: WhenFull;
    };
    /**
     * The window of streams: how far a task may run ahead of its reader. Default 1 MiB, and 16 values at first: without `items`, the window
     * grows up to 1,024 values while the reader reads half of it in less than a millisecond.
     */
    window?: Partial<Window>;
    /** If true, the pool throws `would-copy` instead of copying binary memory, in arguments and results. Default false. */
    strict?: boolean;
    /** Maximum time for a cancelled task to stop, in milliseconds. After that, the pool replaces the worker. Default 1,000. */
    graceMs?: number;
    /**
     * Data for the `setup` that the module passes to `expose()`. Copied when the pool is made. Each worker's `setup` receives a copy, before
     * the worker's first call. Throws `not-cloneable` if it cannot be copied.
     */
    setup?: Setup;
    /** Maximum time for a worker to start, in milliseconds, including the module's `setup`. Default 30,000. */
    startTimeoutMs?: number;
    /**
     * If true, the pool measures the wait in the queue, the transit, the run and the return of every call. A function also receives these times,
     * after each call; `onError` receives what it throws. Default false. The pool always counts calls.
     */
    metrics?: boolean | ((call: CallTiming) => void);
    /**
     * The pool replaces a worker, between calls, after this number of tasks, at this age, or at this heap size. The heap size has an effect
     * in Node and Chromium only.
     */
    recycle?: {
        tasks?: number;
        ageMs?: number;
        heapMb?: number;
    };
    /**
     * How calls and results reach the other thread. With `"auto"`, small ones are sent through shared memory if the host has it (Node,
     * cross-origin isolated pages), and all others through a port. With `"port"`, all are sent through a port. Default `"auto"`.
     */
    carrier?: "auto" | "port";
    /**
     * How long the copy of one result, or of one value of a stream, may hold this thread, in milliseconds. A larger value crosses in pieces of
     * about 2 ms, with turns of the event loop between them, and arrives as the same plain objects. False turns this off. Default 4. Has no
     * effect with `processes: true`.
     */
    slices?: number | false;
    /**
     * Loads the task module for inline runs if `source` is a factory: `() => import("./images.tasks.js")`. The pool calls it once, when
     * needed.
     */
    module?(): Promise<unknown>;
    /**
     * Whether the pool warns of slow use, once for each kind: a copy that takes over 50 ms, a queue that only grows, calls that wait for callbacks
     * of their own pool, and a large argument that is copied although it could be moved. Default: in development, where `process.env.NODE_ENV` is not `"production"`. Node prints a warning
     * with `process.emitWarning` and a code, browsers with `console.warn`.
     */
    warnings?: boolean;
    /** Name for warnings, and for the workers in debuggers: `NAME-0`. Default `"pool"`. */
    name?: string;
    /**
     * Receives errors that belong to no call, such as an uncaught error in an idle worker. Without this listener, the pool prints an uncaught
     * error with `console.error`.
     */
    onError?(error: unknown): void;
    /**
     * Called when a worker is ready for calls, and when one has ended. Like `onError` and `onDrain`, it is called in a microtask. If it throws,
     * the error is an uncaught error of the app and does not affect the pool.
     */
    onWorker?(event: WorkerEvent): void;
    /**
     * Called when calls have waited in the queue and none waits any more, because workers took them, or because they were cancelled or
     * dropped. A call that is sent in the tick in which it is made has not waited.
     */
    onDrain?(): void;
}
/** The start or the end of a worker. See {@link PoolOptions.onWorker}. */
type WorkerEvent = {
    /** The worker is ready for calls: its module is loaded, and its `setup` has ended. */
    readonly type: "started";
    /** Index of the worker. Its name in debuggers ends with this number. A worker that replaces another one may have its index. */
    readonly worker: number;
} | {
    /** The worker's thread has ended. A worker that never became ready has this event only. */
    readonly type: "exited";
    readonly worker: number;
    /** The error with which the worker's calls fail. Undefined if the pool retired, recycled, closed or terminated the worker. */
    readonly error: ClearwayError | undefined;
};
/** Options of calls: `pool.with(options).call.name()`. The options apply to one call or to many. */
interface CallOptions<Progress = unknown> {
    /** Cancels the call. The call then rejects with the signal's reason at once, and the task's own signal aborts. */
    signal?: AbortSignal;
    /** Maximum time for the task, in milliseconds from its start in the worker. */
    timeoutMs?: number;
    /** Maximum time for the whole call, in milliseconds from the call. For a stream, the time counts from its first `next()`. */
    deadlineMs?: number;
    /** Calls with the same key run in the same worker, one after the other. */
    key?: string | number;
    /** Priority in the queue. Calls of higher priority run first. Calls of equal priority keep their order. Default 0. */
    priority?: number;
    /** The same as {@link PoolOptions.strict}, for this call. */
    strict?: boolean;
    /**
     * Where the call runs. Default: the placement of the task, otherwise `"worker"`. A task whose own placement is `"worker"` always runs there,
     * and so does every call that only a worker can serve (see {@link Placement}).
     */
    placement?: Placement;
    /** The same as {@link PoolOptions.slices}, for this call. */
    slices?: number | false;
    /** The same as {@link PoolOptions.window}, for this call. */
    window?: Partial<Window>;
    /**
     * Receives the values that the task passes to `progress()`, in order and never after the result. In Node, it runs in the
     * `AsyncLocalStorage` context of the call.
     *
     * While more than 8,192 values or 4 MiB wait for this thread, the worker keeps only the newest value. The last value always arrives. If
     * `onProgress` throws, the call fails with that error.
     */
    onProgress?(value: Progress): void;
    /**
     * How many times the pool runs the call again when its worker dies. Only for tasks that may run twice. The pool never repeats streams or
     * calls with moved arguments, because their arguments are gone. Default 0.
     */
    retries?: number;
}

export type { CallOptions as C, PoolOptions as P, ResourceLimits as R, Summary as S, TaskTimings as T, WorkerLike as W, ThreadOptions as a, CallTiming as b, PoolSize as c, TextSink as d, WhenFull as e, WorkerEvent as f };
