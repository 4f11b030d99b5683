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

/** What the advisor says of one task. Plain data; times in microseconds. */
interface TaskAdvice {
    task: string;
    /** Where its calls go now: `auto` where that is decided call by call. */
    placement: "auto" | "worker" | "inline";
    calls: number;
    /** The share of them that ran on the caller's thread, 0 to 1. */
    inlineShare: number;
    /** Runs that were measured in workers: what the advice rests on. */
    samples: number;
    /** A run in a worker, on average; undefined while none was measured. */
    runUs: number | undefined;
    /** What a run is not expected to exceed. */
    upperUs: number | undefined;
    /** What the way to a worker and back adds to a call that is made alone. */
    hopUs: number | undefined;
    /** A run on the caller's thread, copies included, where that was measured. */
    inlineUs: number | undefined;
    /** Where it would be best placed; undefined while too little is known. */
    better: "inline" | "worker" | undefined;
    /** How many times faster a call made alone is there than in the other place. */
    factor: number | undefined;
    /** The same in a sentence. */
    advice: string;
}
/** What the advisor says of a pool. `JSON.stringify` gives all of it; `text` is for reading. */
interface Advice {
    tasks: TaskAdvice[];
    /** What concerns the whole pool: why nothing can run inline. */
    notes: string[];
    text: string;
}

/** The reason why memory was copied instead of moved. */
type CopyReason = 
/** An argument that was not under `move()`. */
"argument-not-moved"
/** A view of part of a larger buffer: moving the buffer would take memory that the value does not show. */
 | "partial-view"
/** Memory that its owner keeps: WebAssembly memory, Node's buffer pool. */
 | "not-transferable"
/** At most 512 bytes of a result: copying them with other frames costs less than a message that moves them. */
 | "small"
/** The value has more nodes than the search visits. It saw no memory beyond the limit (bytes unknown, counted as 0). */
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

/** What happens to a call when the queue is full. Each word names what is lost; `wait` loses nothing. */
type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";
/**
 * Where calls run. `auto`: on the caller's thread where that was learnt to be cheaper than the hop to a worker and well
 * within `inlineBudgetMs`, else in workers. `worker`: always in workers. `inline`: always on the caller's thread, however
 * long that takes, once the task module is loaded there; for comparisons.
 */
type Placement = "auto" | "worker" | "inline";
/** How many workers. */
type PoolSize = number | "cpu" | {
    min?: number;
    max?: number | "cpu";
    idleMs?: number;
};
/** Settings of a pool. Every one has a default that is good for a start. */
interface PoolOptions {
    /**
     * A fixed number of workers, `"cpu"` for one a core, or bounds between which the pool grows under load and shrinks
     * after `idleMs` (default 30,000) without work. Default `{ min: 1, max: "cpu" }`; a `min` above the cores raises a `max` of `"cpu"`.
     */
    size?: PoolSize;
    /** How many tasks one worker runs at once. Default 1; more is for tasks that mostly wait. */
    concurrency?: number;
    /**
     * How many calls may wait, and how many bytes of binary memory their arguments may hold. Default 16,384 calls and
     * 256 MiB, `wait`. `wait` holds further calls back in line, and `room()` tells a producer when to go on. A call that
     * alone exceeds `bytes` is let in when nothing else waits. Infinity is allowed. Before the first worker is ready every
     * call waits, but for one a starting worker that is sent ahead, and counts here and in `stats().queue`; afterwards what is
     * with a worker does not.
     */
    queue?: {
        items?: number;
        bytes?: number;
        whenFull?: WhenFull;
    };
    /** The window of streams: how far a task may run ahead of its reader. Default 16 values, 1 MiB. */
    window?: Partial<Window>;
    /** Throw `would-copy` instead of copying binary memory, in arguments and results. Default false. */
    strict?: boolean;
    /** How long a cancelled task may take to stop before its worker is replaced, in milliseconds. Default 1,000. */
    graceMs?: number;
    /** How long a worker may take to start, in milliseconds. Default 30,000. */
    startTimeoutMs?: number;
    /** Measure queue wait, transit, run and return of every call. Default false; counters are always kept. */
    metrics?: boolean;
    /** Limits on a worker's memory (Node). A worker that reaches them is replaced; its call fails with `out-of-memory`. */
    resourceLimits?: ResourceLimits;
    /** Replace a worker, between calls, after so many tasks, at such an age, or above such a heap (Node, Chromium). */
    recycle?: {
        tasks?: number;
        ageMs?: number;
        heapMb?: number;
    };
    /**
     * What carries calls and answers. `"auto"`: small ones travel by shared memory where there is any (Node, cross-origin
     * isolated pages), the rest by port. `"port"`: all by port. Default `"auto"`.
     */
    carrier?: "auto" | "port";
    /**
     * Where calls of plain functions run that do not say it themselves; streams, tasks that hold resources and calls that
     * can be cancelled always go to workers. Default: what each task says, which is `worker` unless it says `auto`.
     */
    placement?: Placement;
    /** For how long inline runs may hold the caller's thread in one turn (on a page: in one frame), in milliseconds. Default 1. */
    inlineBudgetMs?: number;
    /** The task module for inline runs, where `source` is a factory: `() => import("./images.tasks.js")`. Called once, when needed. */
    module?(): Promise<unknown>;
    /** Shown in debuggers and error messages. Default `"pool"`. */
    name?: string;
    /**
     * Receives errors that belong to no call: an uncaught error in a worker that was idle. Without it such an error is printed by
     * `console.error`.
     */
    onError?(error: unknown): void;
}
/** Settings of one call, or of many: `pool.with(options).call.name()`. */
interface CallOptions {
    /** Cancels the call. It rejects with the signal's reason at once; the task hears of it by its own signal. */
    signal?: AbortSignal;
    /** How long the task may run, in milliseconds, from its start in the worker. */
    timeoutMs?: number;
    /** How long all of it may take, in milliseconds, from the call (for a stream, from its first `next()`). */
    deadlineMs?: number;
    /** Calls with the same key go to the same worker, one after the other while any is under way. */
    key?: string | number;
    /** Higher goes first; default 0. Calls of equal priority keep their order. */
    priority?: number;
    /** As {@link PoolOptions.strict}, for this call. */
    strict?: boolean;
    /** As {@link PoolOptions.placement}, for this call. */
    placement?: Placement;
    /** As {@link PoolOptions.window}, for this call. */
    window?: Partial<Window>;
    /**
     * Receives what the task tells by `progress()`, in order, never after the result; in Node in the `AsyncLocalStorage` context of the
     * call. While this thread is more than 8,192 values or 4 MiB behind, only the newest waits to be sent; the last value is never left
     * out. What it throws ends the call.
     */
    onProgress?(value: unknown): void;
    /**
     * Run again, so many times at most, when the worker died under it. Only for tasks that may run twice, and never for
     * streams or calls with moved arguments (those are gone). Default 0.
     */
    retries?: number;
}

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

/** Values from a task, one at a time, with credit: the task never runs ahead by more than the window. */
interface Stream<T, Return = unknown> extends AsyncIterableIterator<T, Return, void>, AsyncDisposable {
    /** Ends the task early: its `finally` runs, then this settles. `break` in a `for await` does the same. */
    return(value?: unknown): Promise<IteratorResult<T, Return>>;
    /** Returns the stream, which can be iterated once. */
    [Symbol.asyncIterator](): Stream<T, Return>;
}
/** What the caller gets for what a task returns: a stream for a generator, else a promise. */
type Answer<Result> = [Result] extends [never] ? Promise<never> : [Result] extends [AsyncGenerator<infer T, infer Return> | Generator<infer T, infer Return>] ? Stream<Unmoved<T>, Return> : Promise<Unmoved<Awaited<Result>>>;
/** A value as the other side sees it: without the mark of `move()`; the table where a writer of one was sent. */
type Unmoved<T> = T extends Moved<infer Inner> ? Unmoved<Inner> : T extends CrossesAs<infer Other> ? Other : T;
/** A task's parameter as the caller may pass it: as it is, under `move()`, or, for a stream, of moved values. */
type Argument<T> = T | Moved<T> | (T extends AsyncIterable<infer Each> ? AsyncIterable<Each | Moved<Each>> : never);
type Arguments<Args extends unknown[]> = {
    [At in keyof Args]: Argument<Args[At]>;
};
/** A task as the caller calls it: its context, if it takes one, is not the caller's business. */
type Callable$1<Fn> = Fn extends Task<infer _Context, infer Args, infer Result> ? (...args: Arguments<Args>) => Answer<Result> : Fn extends (...args: infer Args) => infer Result ? (...args: Arguments<Args>) => Answer<Result> : never;
/** The tasks that a module exposes by default. */
type TasksOf<Module> = Module extends {
    readonly default: infer Tasks;
} ? Tasks : Module;
/** All tasks of a module as the caller calls them. */
type Callers<Module> = {
    readonly [Name in keyof TasksOf<Module> & string]: Callable$1<TasksOf<Module>[Name]>;
};

/** Where a pool's workers come from: a module's URL, or a factory that a bundler understands. */
type WorkerSource = URL | string | (() => WorkerLike);

/** The state of a pool whose workers exit in a row before they begin a call. */
interface RestartPause {
    /** Exits in a row. The waiting calls fail at the ninth, unless another worker lives. */
    exits: number;
    /** Milliseconds until the pool starts the next worker: 0 (it does not wait) to 2,000. */
    nextStartInMs: number;
}

/** What became of a task's calls, and, with `metrics: true`, how long each part of them took. */
interface TaskStats extends TaskTimings {
    calls: number;
    ok: number;
    failed: number;
    cancelled: number;
    /** How many of the calls ran on the caller's thread. */
    inline: number;
}
/** What a pool has done since it was made. A snapshot: it does not change afterwards. */
interface PoolStats {
    workers: {
        /** Threads that exist, in any state. */
        size: number;
        ready: number;
        /** Workers that have a call to answer. */
        busy: number;
        /** Workers that died or had to be killed. */
        restarts: number;
        /**
         * Set while workers exit in a row before they begin a call: the number of exits, and the time until the next start. Undefined
         * otherwise, and again as soon as a call is answered.
         */
        pause: RestartPause | undefined;
        /** Share of each living worker's time that was spent in tasks; above 1 where tasks overlap. */
        utilisation: number[];
    };
    queue: {
        items: number;
        bytes: number;
    };
    /** Calls that are asked for and not answered, waiting ones included. */
    open: number;
    tasks: Record<string, TaskStats>;
    ledger: Ledger;
}

/** Something whose tasks can be called. */
interface Callable<Module> {
    /** The module's tasks, by name. A plain task gives a promise, a generator a stream. */
    readonly call: Callers<Module>;
}
/** Warm workers that run the tasks of one module. */
interface Pool<Module> extends Callable<Module>, AsyncDisposable {
    /** The same tasks, called with these options. Cheap; keep it for calls that share them. */
    with(options: CallOptions): Callable<Module>;
    /** Settles when the first worker is ready. Starts one if there is none. Rejects with `worker-start-failed`. */
    ready(): Promise<void>;
    /** Settles when the queue is within its bounds: what a producer of calls waits for. */
    room(): Promise<void>;
    /** One round trip to a worker, past the queue; its clock in milliseconds since the epoch. For `ping()` of the meter. */
    ping(): Promise<{
        remoteTimeMs: number;
    }>;
    /** Counters, ledger and, with `metrics`, histograms. */
    stats(): PoolStats;
    /**
     * Which tasks would be better placed elsewhere, from what their calls have cost so far. Changes nothing. Loads what
     * reads the figures, and sends a few pings to a worker where the price of a hop is not known otherwise.
     */
    advise(): Promise<Advice>;
    /**
     * Takes no new calls, lets those under way finish, closes the workers' resources, ends the threads. Calls that take
     * longer than `timeoutMs` (default 30,000) fail with `pool-closed`, and resources that are not closed by then are given up.
     * `await using` does this.
     */
    close(options?: {
        timeoutMs?: number;
    }): Promise<void>;
    /** Fails every call with `pool-terminated` and ends every thread, whatever it does. Resources are not closed. */
    terminate(): Promise<void>;
}
/**
 * Makes a pool of workers for a task module.
 *
 * `source` is the URL of the module, or, for bundlers, a factory around the expression that they understand:
 * `() => new Worker(new URL("./images.tasks.js", import.meta.url), { type: "module" })`. With a factory, `name` and
 * `resourceLimits` are the factory's business.
 *
 * Starts its smallest number of workers at once, without waiting for them. Never blocks. Throws `invalid-argument` for an
 * option that is unknown or cannot be, having started nothing; `with()` does, too, and `close()` rejects with it.
 */
declare function pool<Module>(source: WorkerSource, options?: PoolOptions): Pool<Module>;

/** What a one-shot may be told: what a call may, and what concerns its one worker. */
interface RunOptions extends CallOptions, Pick<PoolOptions, "resourceLimits" | "graceMs" | "startTimeoutMs" | "name"> {
}
/**
 * Runs a single task in a fresh worker, which is ended afterwards: `await run<typeof import("./x.tasks.js")>(url).call.job(1)`.
 * Each call starts a worker of its own (about 15 ms in Node, 10 in Chromium); for more than one call, make a pool.
 * Throws `invalid-argument`.
 */
declare function run<Module>(source: WorkerSource, options?: RunOptions): Callable<Module>;

export { CrossesAs, Moved, Window, pool, run };
export type { Advice, Answer, Argument, CallOptions, Callable, Callers, CopyReason, Ledger, LedgerSide, Placement, Pool, PoolOptions, PoolSize, PoolStats, ResourceLimits, RestartPause, RunOptions, Stream, Summary, TaskAdvice, TaskStats, WhenFull, WorkerLike, WorkerSource };
