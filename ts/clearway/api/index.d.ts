import { M as Moved } from './types-move.js';
export { C as ClearwayError, E as ErrorCode, m as move } from './types-move.js';
import { W as Window } from './types-credit.js';
import { C as CrossesAs } from './types-crossing.js';
import { Task } from './worker.js';

/** Node's limits on a worker's memory, in MiB, as `worker_threads` takes them. */
interface ResourceLimits {
    maxOldGenerationSizeMb?: number;
    maxYoungGenerationSizeMb?: number;
    codeRangeSizeMb?: number;
    stackSizeMb?: number;
}
/** A factory's result: the methods that Node's `Worker` and a browser's share, so that one type fits both. */
interface WorkerLike {
    /** Posts a message and moves the memory in `transfer`. */
    postMessage(message: unknown, transfer: never[]): void;
    /** Ends the worker's thread. */
    terminate(): unknown;
}

/** The reason why memory was copied instead of moved. */
type CopyReason = 
/** The memory is in an argument that was not under `move()`. */
"argument-not-moved"
/** The memory is a view of a part of a larger buffer. Moving the buffer would also take memory outside of the view. */
 | "partial-view"
/** The owner keeps the memory: WebAssembly memory, or Node's buffer pool. */
 | "not-transferable"
/** The memory has at most 512 bytes of a result. Copying it with other frames costs less than a message that moves it. */
 | "small"
/** The value has more nodes than the search visits. The search saw no memory beyond its limit, so the bytes count as 0. */
 | "search-limit";

/** Bytes of binary memory that crossed in one direction. Strings, numbers and plain objects are always cloned and not counted. */
interface LedgerSide {
    /** Bytes that changed owner without a copy. */
    movedBytes: number;
    /** Bytes of shared memory in messages (counted for each message). */
    sharedBytes: number;
    /** Bytes that were copied; `copies` gives the reasons. */
    copiedBytes: number;
    copies: Partial<Record<CopyReason, {
        count: number;
        bytes: number;
    }>>;
}
/** Both directions: from the caller's thread to the workers, and back. */
interface Ledger {
    toWorkers: LedgerSide;
    fromWorkers: LedgerSide;
}

/**
 * Where calls run. `auto`: on the caller's thread where that was learnt to be cheaper than the hop to a worker and well
 * within `inlineBudgetMs`, else in workers. `worker`: always in workers. `inline`: always on the caller's thread, however
 * long that takes, once the task module is loaded there; for comparisons.
 */
type Placement = "auto" | "worker" | "inline";

/** What the advisor says about one task. Plain data. Times in microseconds. */
interface TaskAdvice {
    task: string;
    /** Where its calls go now. `auto`: placement decides call by call. */
    placement: "auto" | "worker" | "inline";
    calls: number;
    /** Share of the calls that ran on the caller's thread, 0 to 1. */
    inlineShare: number;
    /** Number of measured runs in workers. */
    samples: number;
    /** Mean time of a run in a worker. Undefined without a measurement. */
    runUs: number | undefined;
    /** Upper bound for a run. */
    upperUs: number | undefined;
    /** Time that the hop to a worker and back adds to a single call. */
    hopUs: number | undefined;
    /** Mean time of a run on the caller's thread, with its copies. Undefined without a measurement. */
    inlineUs: number | undefined;
    /** The better place. Undefined without enough measurements. */
    better: "inline" | "worker" | undefined;
    /** How many times faster a single call is there than in the other place. */
    factor: number | undefined;
    /** The same in a sentence. */
    advice: string;
}
/** What the advisor says about a pool. Plain data for `JSON.stringify`; `text` is for reading. */
interface Advice {
    tasks: TaskAdvice[];
    /** Notes about the whole pool, such as why nothing can run inline. */
    notes: string[];
    text: string;
}

/** What the pool does with a call when the queue is full. Each word names the lost call; `wait` loses none. */
type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";
/** Number of workers. */
type PoolSize = number | "cpu" | {
    min?: number;
    max?: number | "cpu";
    idleMs?: number;
};
/** Settings of a pool. Each has a default. */
interface PoolOptions {
    /**
     * A fixed number of workers, `"cpu"` for one per core, or bounds. Between the bounds, the pool grows under load and shrinks
     * after `idleMs` (default 30,000) without work. Default `{ min: 1, max: "cpu" }`. A `min` above the number of cores raises a `max`
     * of `"cpu"`.
     */
    size?: PoolSize;
    /** Number of tasks that one worker runs at once. Default 1. Use more for tasks that mostly wait. */
    concurrency?: number;
    /**
     * Limits of the queue: the number of calls that wait, and the bytes of binary memory in their arguments. Default 16,384 calls and
     * 256 MiB, `wait`. With `wait`, calls above the limits wait too, and `room()` tells a producer when to go on. A call that
     * alone exceeds `bytes` is accepted when no other call waits. Infinity is allowed. Before the first worker is ready, every
     * call waits, except one that each starting worker receives early. Calls that are with a worker count neither here nor in
     * `stats().queue`.
     */
    queue?: {
        items?: number;
        bytes?: number;
        whenFull?: WhenFull;
    };
    /** The window of streams: how far a task may be ahead of its reader. Default 16 values, 1 MiB. */
    window?: Partial<Window>;
    /** Throw `would-copy` instead of copying binary memory, in arguments and results. Default false. */
    strict?: boolean;
    /** Longest time for a cancelled task to stop before the pool replaces its worker, in milliseconds. Default 1,000. */
    graceMs?: number;
    /** Longest time for a worker to start, in milliseconds. Default 30,000. */
    startTimeoutMs?: number;
    /** Measure queue wait, transit, run and return of every call. Default false. The pool always counts calls. */
    metrics?: boolean;
    /** Limits of a worker's memory (Node). The pool replaces a worker that reaches them; its call fails with `out-of-memory`. */
    resourceLimits?: ResourceLimits;
    /** Replace a worker, between calls, after this number of tasks, at this age, or above this heap size (Node, Chromium). */
    recycle?: {
        tasks?: number;
        ageMs?: number;
        heapMb?: number;
    };
    /**
     * What carries calls and results. `"auto"`: small ones cross through shared memory where it exists (Node, cross-origin
     * isolated pages), all others by port. `"port"`: all cross by port. Default `"auto"`.
     */
    carrier?: "auto" | "port";
    /**
     * Experimental. Where calls of plain functions run, unless a call says it itself. Streams, tasks that hold resources and calls that
     * can be cancelled always run in workers. Default: the placement that each task declares, or else `worker`.
     */
    placement?: Placement;
    /** Longest time for inline runs on the caller's thread in one turn (on a page: in one frame), in milliseconds. Default 1. */
    inlineBudgetMs?: number;
    /** Loads the task module for inline runs if `source` is a factory: `() => import("./images.tasks.js")`. Called once, when needed. */
    module?(): Promise<unknown>;
    /** Shown in debuggers and error messages. Default `"pool"`. */
    name?: string;
    /**
     * Receives errors that belong to no call, such as an uncaught error in an idle worker. Without it, the pool prints such an error with
     * `console.error`.
     */
    onError?(error: unknown): void;
}
/** Settings of one call, or of many: `pool.with(options).call.name()`. */
interface CallOptions {
    /** Cancels the call. The call rejects with the signal's reason at once, and the task's own signal aborts. */
    signal?: AbortSignal;
    /** Longest time for the task, in milliseconds from its start in the worker. */
    timeoutMs?: number;
    /** Longest time for the whole call, in milliseconds from the call (for a stream, from its first `next()`). */
    deadlineMs?: number;
    /** Calls with the same key go to the same worker, one after the other. */
    key?: string | number;
    /** Calls of higher priority go first. Default 0. Calls of equal priority keep their order. */
    priority?: number;
    /** As {@link PoolOptions.strict}, for this call. */
    strict?: boolean;
    /** As {@link PoolOptions.placement}, for this call. */
    placement?: Placement;
    /** As {@link PoolOptions.window}, for this call. */
    window?: Partial<Window>;
    /**
     * Receives the values that the task passes to `progress()`, in order, never after the result; in Node in the `AsyncLocalStorage`
     * context of the call. While this thread is more than 8,192 values or 4 MiB behind, the worker keeps only the newest value. The last
     * value always arrives. An error that it throws ends the call.
     */
    onProgress?(value: unknown): void;
    /**
     * How often to run the call again when its worker dies. Only for tasks that may run twice. Streams and calls with moved
     * arguments are never run again: their arguments are gone. Default 0.
     */
    retries?: number;
}

/** Values from a task, one at a time, with credit: the task is never ahead by more than the window. */
interface Stream<T, Return = unknown> extends AsyncIterableIterator<T, Return, void>, AsyncDisposable {
    /** Ends the task early. Settles after the task's `finally` has run. A `break` in a `for await` calls it. */
    return(value?: unknown): Promise<IteratorResult<T, Return>>;
    /** Returns the stream, which can be iterated once. */
    [Symbol.asyncIterator](): Stream<T, Return>;
}
/** What the caller of a task receives: a stream for a generator, otherwise a promise. */
type Answer<Result> = [Result] extends [never] ? Promise<never> : [Result] extends [AsyncGenerator<infer T, infer Return> | Generator<infer T, infer Return>] ? Stream<Unmoved<T>, Return> : Promise<Unmoved<Awaited<Result>>>;
/** A value as the other side receives it: without the mark of `move()`, and a table for a table's writer. */
type Unmoved<T> = T extends Moved<infer Inner> ? Unmoved<Inner> : T extends CrossesAs<infer Other> ? Other : T;
/** An argument of a task: the value itself, the value under `move()`, or a stream of moved values. */
type Argument<T> = T | Moved<T> | (T extends AsyncIterable<infer Each> ? AsyncIterable<Each | Moved<Each>> : never);
type Arguments<Args extends unknown[]> = {
    [At in keyof Args]: Argument<Args[At]>;
};
/** A task as the caller calls it: without its context parameter. */
type Callable$1<Fn> = Fn extends Task<infer _Context, infer Args, infer Result> ? (...args: Arguments<Args>) => Answer<Result> : Fn extends (...args: infer Args) => infer Result ? (...args: Arguments<Args>) => Answer<Result> : never;
/** The tasks that a module exposes by default. */
type TasksOf<Module> = Module extends {
    readonly default: infer Tasks;
} ? Tasks : Module;
/** All tasks of a module as the caller calls them. */
type Callers<Module> = {
    readonly [Name in keyof TasksOf<Module> & string]: Callable$1<TasksOf<Module>[Name]>;
};

/** A histogram's figures, in microseconds. */
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
    /** From the call until it was sent to a worker. */
    queueUs?: Summary;
    /** From sending to the start of the task. */
    transitUs?: Summary;
    /** The task itself. */
    runUs?: Summary;
    /** From the task's end until the answer reached the caller's thread. */
    returnUs?: Summary;
}

/** Counts of a task's calls by outcome, and, with `metrics: true`, the times of their parts. */
interface TaskStats extends TaskTimings {
    calls: number;
    ok: number;
    failed: number;
    cancelled: number;
    /** Calls that ran on the caller's thread. */
    inline: number;
}
/** A snapshot of a pool's counters since it was made. */
interface PoolStats {
    workers: {
        /** Threads that exist, in any state. */
        size: number;
        ready: number;
        /** Workers that have a call to answer. */
        busy: number;
        /** Workers that died or that the pool killed. */
        restarts: number;
        /**
         * Set while workers exit in a row before they begin a call: the number of exits, and the time until the next start. Undefined
         * otherwise, and again as soon as a call is answered.
         */
        pause: RestartPause | undefined;
        /** For each living worker, the share of its time in tasks. Above 1 when tasks overlap. */
        utilisation: number[];
    };
    queue: {
        items: number;
        bytes: number;
    };
    /** Calls without an answer, including those that wait. */
    open: number;
    tasks: Record<string, TaskStats>;
    ledger: Ledger;
}
/** The state of a pool whose workers exit in a row before they begin a call. */
interface RestartPause {
    /** Exits in a row. The waiting calls fail at the ninth, unless another worker lives. */
    exits: number;
    /** Milliseconds until the pool starts the next worker: 0 (it does not wait) to 2,000. */
    nextStartInMs: number;
}

/** Where a pool's workers come from: a module's URL, or a factory that a bundler understands. */
type WorkerSource = URL | string | (() => WorkerLike);

/** Has the tasks of a module as methods. */
interface Callable<Module> {
    /** The module's tasks, by name. A plain task returns a promise, a generator a stream. */
    readonly call: Callers<Module>;
}
/** Warm workers that run the tasks of one module. */
interface Pool<Module> extends Callable<Module>, AsyncDisposable {
    /** Returns the same tasks, called with these options. Cheap. Keep the result for calls that share the options. */
    with(options: CallOptions): Callable<Module>;
    /** Settles when the first worker is ready. Starts a worker if there is none. Rejects with `worker-start-failed`. */
    ready(): Promise<void>;
    /** Settles when the queue is below its limits. A producer of calls waits for it. */
    room(): Promise<void>;
    /**
     * Makes one round trip to a worker, past the queue. Returns the worker's clock in milliseconds since the epoch. For the meter's `ping()`.
     */
    ping(): Promise<{
        remoteTimeMs: number;
    }>;
    /** Returns counters, the ledger and, with `metrics`, histograms. */
    stats(): PoolStats;
    /**
     * Experimental. Says which tasks would be faster on another thread, from the cost of their calls so far. Changes nothing. Loads the
     * advisor, and pings a worker a few times if the cost of a hop is not known.
     */
    advise(): Promise<Advice>;
    /**
     * Accepts no new calls, waits for the open ones, closes the workers' resources and ends the threads. Calls that take
     * longer than `timeoutMs` (default 30,000) fail with `pool-closed`, and resources that are not closed by then are abandoned.
     * `await using` calls it.
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
 * `source` is the URL of the module, or, for bundlers, a factory around the expression that they understand:
 * `() => new Worker(new URL("./images.tasks.js", import.meta.url), { type: "module" })`. With a factory, the pool ignores `name` and
 * `resourceLimits`: the factory sets them.
 *
 * Starts the smallest number of workers at once, without waiting for them. Never blocks. Throws `invalid-argument` for an
 * unknown or invalid option, before it starts anything. `with()` throws it too, and `close()` rejects with it.
 */
declare function pool<Module>(source: WorkerSource, options?: PoolOptions): Pool<Module>;
/** Options of `run()`: those of a call, and those of its one worker. */
interface RunOptions extends CallOptions, Pick<PoolOptions, "resourceLimits" | "graceMs" | "startTimeoutMs" | "name"> {
}
/**
 * Runs one task in a new worker, then ends the worker: `await run<typeof import("./x.tasks.js")>(url).call.job(1)`.
 * Each call starts a worker of its own (about 15 ms in Node, 10 in Chromium). For more than one call, make a pool.
 * Throws `invalid-argument`.
 */
declare function run<Module>(source: WorkerSource, options?: RunOptions): Callable<Module>;

export { CrossesAs, Moved, Window, pool, run };
export type { Advice, Answer, Argument, CallOptions, Callable, Callers, CopyReason, Ledger, LedgerSide, Placement, Pool, PoolOptions, PoolSize, PoolStats, ResourceLimits, RestartPause, RunOptions, Stream, Summary, TaskAdvice, TaskStats, WhenFull, WorkerLike, WorkerSource };
