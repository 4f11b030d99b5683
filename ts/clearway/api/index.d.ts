import { M as Moved } from './types-move.js';
export { C as ClearwayError, E as ErrorCode, m as move } from './types-move.js';
import { W as Window } from './types-credit.js';
import { C as CrossesAs } from './types-crossing.js';
import { Task } from './worker.js';

/** Limits on the memory of a worker in Node, in MiB. `worker_threads` takes them in this form. */
interface ResourceLimits {
    maxOldGenerationSizeMb?: number;
    maxYoungGenerationSizeMb?: number;
    codeRangeSizeMb?: number;
    stackSizeMb?: number;
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

/** The reason why memory was copied instead of moved. */
type CopyReason = 
/** The memory is in an argument without `move()`. */
"argument-not-moved"
/** The memory is a view of a part of a larger buffer. Moving the buffer would also take memory outside of the view. */
 | "partial-view"
/** The owner keeps the memory: WebAssembly memory, or Node's buffer pool. */
 | "not-transferable"
/** A result has at most 512 bytes of memory. Copying them with other frames costs less than a message that moves the memory. */
 | "small"
/** The value has more nodes than the search visits. The size of the memory beyond the limit is not known, so the bytes count as 0. */
 | "search-limit";

/** Bytes of binary memory that were sent in one direction. Strings, numbers and plain objects are always copied and never counted. */
interface LedgerSide {
    /** Bytes that changed owner without a copy. */
    movedBytes: number;
    /** Bytes of shared memory in messages. The same memory counts once per message. */
    sharedBytes: number;
    /** Bytes that were copied; `copies` gives the reasons. */
    copiedBytes: number;
    copies: Partial<Record<CopyReason, {
        count: number;
        bytes: number;
    }>>;
}
/** The memory that was sent in both directions: from the caller's thread to the workers, and back. */
interface Ledger {
    toWorkers: LedgerSide;
    fromWorkers: LedgerSide;
}

/**
 * Where calls run.
 *
 * - `auto`: on the caller's thread if measurements show that this is cheaper than the hop to a worker and well within `inlineBudgetMs`.
 *   Otherwise in a worker.
 * - `worker`: always in a worker.
 * - `inline`: on the caller's thread once the task module is loaded there, however long a call takes. Meant for comparisons.
 *
 * Some calls always run in a worker: streams, calls that can be cancelled, calls with a key or a progress listener, and tasks that are
 * declared `worker`.
 */
type Placement = "auto" | "worker" | "inline";

/** The advice for one task, as plain data. All times are in microseconds. */
interface TaskAdvice {
    task: string;
    /** Where the task's calls run now. With `auto`, placement decides for each call. */
    placement: "auto" | "worker" | "inline";
    calls: number;
    /** Share of the calls that ran on the caller's thread, from 0 to 1. */
    inlineShare: number;
    /** Number of measured runs in workers. */
    samples: number;
    /** Mean time of a run in a worker. Undefined without a measurement. */
    runUs: number | undefined;
    /** Upper bound for the time of a run. Undefined without a measurement. */
    upperUs: number | undefined;
    /** Time that the hop to a worker and back adds to a single call. Undefined without a measurement. */
    hopUs: number | undefined;
    /** Mean time of a run on the caller's thread, including the time to copy arguments and results. Undefined without a measurement. */
    inlineUs: number | undefined;
    /** The better place for the task's calls. Undefined without enough measurements. */
    better: "inline" | "worker" | undefined;
    /**
     * How many times faster a single call is in the better place than in the other one. If both are about equally fast, the worker is the
     * better place, because it keeps the caller's thread free; the factor is then between 0.83 and 1.2.
     */
    factor: number | undefined;
    /** The advice as a sentence. */
    advice: string;
}
/** The advice for all tasks of a pool, as plain data for `JSON.stringify`. */
interface Advice {
    tasks: TaskAdvice[];
    /** Notes about the whole pool, such as the reason why nothing can run inline. */
    notes: string[];
    text: string;
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
/** Options of a pool. Each has a default. */
interface PoolOptions {
    /**
     * The number of workers: a fixed number, `"cpu"` for one per core, or bounds. Between the bounds, the pool starts workers under load and
     * ends a worker after `idleMs` milliseconds (default 30,000) without work. Default `{ min: 1, max: "cpu" }`. If `max` is `"cpu"`, a `min`
     * above the number of cores also raises `max`.
     */
    size?: PoolSize;
    /** Number of tasks that one worker runs at once. Default 1. Use a larger number for tasks that mostly wait. */
    concurrency?: number;
    /**
     * Limits of the queue: the number of waiting calls, and the bytes of binary memory in their arguments. Default 16,384 calls and 256 MiB,
     * with `wait`. Infinity is allowed.
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
    /** The window of streams: how far a task may run ahead of its reader. Default 16 values and 1 MiB. */
    window?: Partial<Window>;
    /** If true, the pool throws `would-copy` instead of copying binary memory, in arguments and results. Default false. */
    strict?: boolean;
    /** Maximum time for a cancelled task to stop, in milliseconds. After that, the pool replaces the worker. Default 1,000. */
    graceMs?: number;
    /** Maximum time for a worker to start, in milliseconds. Default 30,000. */
    startTimeoutMs?: number;
    /**
     * If true, the pool measures the wait in the queue, the transit, the run and the return of every call. Default false. The pool always
     * counts calls.
     */
    metrics?: boolean;
    /**
     * Limits of a worker's memory (Node only). The pool replaces a worker that reaches a limit. The worker's calls fail with `out-of-memory`.
     */
    resourceLimits?: ResourceLimits;
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
     * Experimental. Where calls of plain functions run, unless a call has its own `placement`. Streams, tasks that hold resources and calls
     * that can be cancelled always run in workers. Default: the placement that each task declares, otherwise `worker`.
     */
    placement?: Placement;
    /**
     * Maximum time of inline runs on the caller's thread in one turn of the event loop, in milliseconds. On a page, the limit also applies to
     * each frame. Default 1.
     */
    inlineBudgetMs?: number;
    /**
     * Loads the task module for inline runs if `source` is a factory: `() => import("./images.tasks.js")`. The pool calls it once, when
     * needed.
     */
    module?(): Promise<unknown>;
    /** Name for debuggers and error messages. Default `"pool"`. */
    name?: string;
    /**
     * Receives errors that belong to no call, such as an uncaught error in an idle worker. Without this listener, the pool prints an uncaught
     * error with `console.error`.
     */
    onError?(error: unknown): void;
}
/** Options of calls: `pool.with(options).call.name()`. The options apply to one call or to many. */
interface CallOptions {
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
    /** The same as {@link PoolOptions.placement}, for this call. */
    placement?: Placement;
    /** The same as {@link PoolOptions.window}, for this call. */
    window?: Partial<Window>;
    /**
     * Receives the values that the task passes to `progress()`, in order and never after the result. In Node, it runs in the
     * `AsyncLocalStorage` context of the call.
     *
     * While more than 8,192 values or 4 MiB wait for this thread, the worker keeps only the newest value. The last value always arrives. If
     * `onProgress` throws, the call fails with that error.
     */
    onProgress?(value: unknown): void;
    /**
     * How many times the pool runs the call again when its worker dies. Only for tasks that may run twice. The pool never repeats streams or
     * calls with moved arguments, because their arguments are gone. Default 0.
     */
    retries?: number;
}

/** A stream of values from a task. Credit limits the task: it is never ahead of its reader by more than the window. */
interface Stream<T, Return = unknown> extends AsyncIterableIterator<T, Return, void>, AsyncDisposable {
    /** Ends the task early. Settles after the task's `finally` has run. A `break` in a `for await` loop calls it. */
    return(value?: unknown): Promise<IteratorResult<T, Return>>;
    /** Returns the stream itself. A stream can be iterated once. */
    [Symbol.asyncIterator](): Stream<T, Return>;
}
/** The type that the caller of a task receives: a stream for a generator, otherwise a promise. */
type Answer<Result> = [Result] extends [never] ? Promise<never> : [Result] extends [AsyncGenerator<infer T, infer Return> | Generator<infer T, infer Return>] ? Stream<Unmoved<T>, Return> : Promise<Unmoved<Awaited<Result>>>;
/**
 * The type of a value as the other side receives it. A value under `move()` arrives as the value itself, and a table's writer arrives as a
 * table.
 */
type Unmoved<T> = T extends Moved<infer Inner> ? Unmoved<Inner> : T extends CrossesAs<infer Other> ? Other : T;
/** An argument of a task: the value itself, the value under `move()`, or a stream whose values may be under `move()`. */
type Argument<T> = T | Moved<T> | (T extends AsyncIterable<infer Each> ? AsyncIterable<Each | Moved<Each>> : never);
type Arguments<Args extends unknown[]> = {
    [At in keyof Args]: Argument<Args[At]>;
};
/** The type of a task as the caller calls it, without the context parameter. */
type Callable$1<Fn> = Fn extends Task<infer _Context, infer Args, infer Result> ? (...args: Arguments<Args>) => Answer<Result> : Fn extends (...args: infer Args) => infer Result ? (...args: Arguments<Args>) => Answer<Result> : never;
/** The tasks that a module exposes as its default export. */
type TasksOf<Module> = Module extends {
    readonly default: infer Tasks;
} ? Tasks : Module;
/** The type of all tasks of a module, as the caller calls them. */
type Callers<Module> = {
    readonly [Name in keyof TasksOf<Module> & string]: Callable$1<TasksOf<Module>[Name]>;
};

/** Summary of a histogram. All fields except `count` are in microseconds. */
interface Summary {
    count: number;
    min: number;
    mean: number;
    p50: number;
    p90: number;
    p99: number;
    max: number;
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

/** Counts of a task's calls by outcome. With `metrics: true`, also the times of the phases of the calls. */
interface TaskStats extends TaskTimings {
    calls: number;
    ok: number;
    failed: number;
    cancelled: number;
    /** Number of calls that ran on the caller's thread. */
    inline: number;
}
/** A snapshot of a pool's counters. The counters start at the creation of the pool. */
interface PoolStats {
    workers: {
        /** Number of threads, in any state. */
        size: number;
        ready: number;
        /** Number of workers that have a call to answer. */
        busy: number;
        /** Number of workers that died or that the pool killed. Workers that the pool recycled or no longer needed do not count. */
        restarts: number;
        /**
         * Set while workers exit one after another before they begin a call. Undefined otherwise. A call that is answered resets it to
         * undefined.
         */
        pause: RestartPause | undefined;
        /** For each living worker, the share of its lifetime that it spent in tasks. A share is above 1 if tasks overlap. */
        utilisation: number[];
    };
    queue: {
        items: number;
        bytes: number;
    };
    /** Number of calls without an answer, including those that wait. */
    open: number;
    tasks: Record<string, TaskStats>;
    ledger: Ledger;
}
/** The state of a pool whose workers exit one after another before they begin a call. */
interface RestartPause {
    /** Number of exits in a row. The waiting calls fail at the ninth exit, unless another worker is ready or starting. */
    exits: number;
    /** Time until the pool starts the next worker, in milliseconds: 0 (it does not wait) to 2,000. */
    nextStartInMs: number;
}

/** Where a pool's workers come from: the URL of a module, or a factory in a form that bundlers understand. */
type WorkerSource = URL | string | (() => WorkerLike);

/** The tasks of a module, as methods of `call`. */
interface Callable<Module> {
    /** The module's tasks, by name. A plain task returns a promise. A generator task returns a stream. */
    readonly call: Callers<Module>;
}
/** A pool of warm workers that run the tasks of one module. */
interface Pool<Module> extends Callable<Module>, AsyncDisposable {
    /**
     * Returns the same tasks. Calls through the result use these options. The method is cheap, but keep the result for calls that share the
     * options.
     */
    with(options: CallOptions): Callable<Module>;
    /**
     * Settles when a worker is ready. Starts a worker if there is none. Rejects with `worker-start-failed`, and with `pool-closed` or
     * `pool-terminated` once the pool has ended.
     */
    ready(): Promise<void>;
    /** Settles when the queue is below its limits. A producer of calls can wait for it. */
    room(): Promise<void>;
    /**
     * Makes one round trip to a worker, past the queue. Returns the worker's clock in milliseconds since the epoch. The meter's `ping()` uses
     * it.
     */
    ping(): Promise<{
        remoteTimeMs: number;
    }>;
    /** Returns counters and the ledger. With `metrics`, also returns histograms. */
    stats(): PoolStats;
    /**
     * Experimental. Returns advice: which tasks would be faster on another thread, judged by the cost of their calls so far. Changes nothing.
     * Loads the advisor. Pings a worker several times if the cost of a hop is not known.
     */
    advise(): Promise<Advice>;
    /**
     * Closes the pool: accepts no new calls, waits for the open ones, closes the workers' resources and ends the threads. Calls that take
     * longer than `timeoutMs` (default 30,000) fail with `pool-closed`. Resources that are not closed within that time are abandoned. `await
     * using` calls `close()`.
     */
    close(options?: {
        timeoutMs?: number;
    }): Promise<void>;
    /** Fails every call with `pool-terminated` and ends every thread at once. Does not close resources. */
    terminate(): Promise<void>;
}
/**
 * Makes a pool of workers for a task module.
 *
 * `source` is the URL of the module. For bundlers, it is a factory around the expression that they understand: `() => new Worker(new
 * URL("./images.tasks.js", import.meta.url), { type: "module" })`. With a factory, the pool ignores `name` and `resourceLimits`, because
 * the factory sets them.
 *
 * Starts the minimum number of workers at once and does not wait for them. Never blocks. Throws `invalid-argument` for an unknown or
 * invalid option, before it starts anything. The pool's `with()` throws the same error for invalid options, and `close()` rejects with it.
 */
declare function pool<Module>(source: WorkerSource, options?: PoolOptions): Pool<Module>;
/** Options of `run()`: the options of a call, and those of its one worker. */
interface RunOptions extends CallOptions, Pick<PoolOptions, "resourceLimits" | "graceMs" | "startTimeoutMs" | "name"> {
}
/**
 * Runs one task in a new worker, then ends the worker: `await run<typeof import("./x.tasks.js")>(url).call.job(1)`.
 *
 * Each call starts its own worker (about 15 ms in Node, 10 in Chromium). For more than one call, make a pool. Throws `invalid-argument`.
 */
declare function run<Module>(source: WorkerSource, options?: RunOptions): Callable<Module>;

export { CrossesAs, Moved, Window, pool, run };
export type { Advice, Answer, Argument, CallOptions, Callable, Callers, CopyReason, Ledger, LedgerSide, Placement, Pool, PoolOptions, PoolSize, PoolStats, ResourceLimits, RestartPause, RunOptions, Stream, Summary, TaskAdvice, TaskStats, WhenFull, WorkerLike, WorkerSource };
