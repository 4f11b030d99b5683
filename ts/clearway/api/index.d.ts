/// <reference lib="esnext.disposable" />
import { C as ClearwayError } from './types-clearway-error.js';
export { E as ErrorCode } from './types-clearway-error.js';
import { W as WorkerLike, T as TaskTimings, C as CallOptions, a as ThreadOptions, P as PoolOptions } from './types-options.js';
export { b as CallTiming, c as PoolSize, R as ResourceLimits, S as Summary, d as TextSink, e as WhenFull, f as WorkerEvent } from './types-options.js';
import { S as Sendable, b as CallbackFor, A as Arrived } from './types-callback-stub.js';
export { C as CallbackArgument, c as CannotCross } from './types-callback-stub.js';
import { P as Placement, A as Argument, i as TasksOf, j as Callers, k as ProgressOf, l as PoolNeedsTheTypeOfItsModule, S as SetupData } from './types-task.js';
import { Task } from './worker.js';
export { a as Answer, B as Batches, D as DefaultExportMustComeFromExpose, m as Stream } from './types-task.js';
export { W as Window } from './types-credit.js';
export { C as CrossesAs } from './types-crossing.js';
export { M as Moved, m as move } from './types-move.js';

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
/** The worker is a child process (`processes: true`). Nothing moves between processes. */
 | "other-process"
/** The memory is beyond the nodes that the search for memory that moves visits. */
 | "search-limit"
/**
 * The result would hold the caller's thread for long, and crossed in one message nevertheless, because it has ports, streams, or over 1,000
 * buffers. Its bytes count as 0.
 */
 | "not-sliced";

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

/** Where a pool's workers come from: the URL of a module, or a factory in a form that bundlers understand. */
type WorkerSource = URL | string | (() => WorkerLike);

/** The advice for one task, as plain data. All times are in microseconds. */
interface TaskAdvice {
    task: string;
    /** The placement of the task's calls that have none of their own. */
    placement: Placement;
    calls: number;
    /** Number of measured runs, in workers and on the calling thread. */
    samples: number;
    /** Mean time of a run. Undefined without enough measurements. */
    runUs: number | undefined;
    /** Time of the longest recent run. Undefined without enough measurements. */
    longestUs: number | undefined;
    /** Whether the task may run on the calling thread: its runs take less than 5 ms. Undefined without enough measurements. */
    mayRunInline: boolean | undefined;
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

/** The results of `pool.map`. Read them one by one, or await an array of them. Nothing starts before the first read or `await`. */
interface Results<T> extends AsyncIterableIterator<T, undefined, void>, AsyncDisposable, PromiseLike<T[]> {
    /** Ends the mapping: cancels its open calls and closes its inputs. Does not wait for the inputs. */
    return(value?: unknown): Promise<IteratorResult<T, undefined>>;
    /** Returns the results themselves. They can be iterated once. */
    [Symbol.asyncIterator](): Results<T>;
}
type Rest<Args extends unknown[]> = Args extends [first?: unknown, ...rest: infer Others] ? {
    [At in keyof Others]: Sendable<Others[At]> | CallbackFor<Others[At]>;
} : [];
type Inputs<T> = Iterable<Argument<T> | PromiseLike<Argument<T>>> | AsyncIterable<Argument<T>>;
/** A task under `pool.map`, by its parameters and its result. The first parameter is the input. */
type MapperOf<Args extends unknown[], Result> = (inputs: Inputs<Args[0]>, ...options: [] extends Rest<Args> ? [options?: MapOptions<Rest<Args>, Arrived<Awaited<Result>>>] : [options: MapOptions<Rest<Args>, Arrived<Awaited<Result>>> & {
    args: Rest<Args>;
}]) => Results<Arrived<Awaited<Result>>>;
/** The type of a task under `pool.map`. */
type Mapper<Fn> = Fn extends Task<infer _Context, infer Args, infer Result> ? MapperOf<Args, Result> : Fn extends (...args: infer Args) => infer Result ? MapperOf<Args, Result> : never;
/** Whether a task gives a stream. */
type GivesStream<Fn> = Fn extends (...args: never[]) => infer Result ? [Result] extends [never] ? false : [Result] extends [AsyncGenerator | Generator] ? true : false : true;
/** The name of a task that gives one result. `never` for a task that gives a stream. */
type SingleResultName<Tasks, Name extends keyof Tasks> = GivesStream<Tasks[Name]> extends true ? never : Name & string;
/** The tasks of a module that give one result, as `pool.map` offers them. */
type Mappers<Module> = MappersOf<TasksOf<Module>>;
type MappersOf<Tasks> = {
    readonly [Name in keyof Tasks as SingleResultName<Tasks, Name>]: Mapper<Tasks[Name]>;
};
/** Options of `pool.map.name(inputs, options)`. `Rest` are the task's parameters after the first one. */
interface MapOptions<Rest extends unknown[] = unknown[], Result = unknown> {
    /**
     * Maximum number of inputs whose results were not read. When the results are awaited as an array: maximum number of open calls. Default:
     * twice the number of tasks that the pool runs at once, so that a free worker does not wait for this thread.
     */
    concurrency?: number;
    /** Whether the results have the order of the inputs. If false, a result comes as soon as its call has ended. Default true. */
    ordered?: boolean;
    /** Ends everything when it aborts: cancels the open calls and closes the inputs. The reader receives the signal's reason. */
    signal?: AbortSignal;
    /** The task's arguments after the first one, the same for every call. Not under `move()`, which gives them to the first call. */
    args?: Rest;
    /**
     * Receives each result as soon as its call has ended, with the index of its input, even if an earlier call has not ended yet. In Node, it
     * runs in the `AsyncLocalStorage` context of the first read. If it throws, everything ends with that error.
     */
    onResult?(result: Result, index: number): void;
}

/** Counts of a task's calls by outcome. With `metrics: true`, also the times of the phases of the calls. */
interface TaskStats extends TaskTimings {
    calls: number;
    ok: number;
    /** Number of calls that rejected because of the task, its worker or the pool, for example because the queue was full. */
    failed: number;
    /** Number of calls that were ended by the caller's signal, by a limit of time or by the reader of their stream. */
    cancelled: number;
    /** Number of calls that ran on the caller's thread. */
    inline: number;
    /**
     * Numbers of calls that failed or were cancelled, by the code of Clearway's error. Errors of the task itself count as `task`, and calls that
     * the caller's signal has cancelled as `cancelled`.
     */
    errors: Record<string, number>;
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
         * Set while workers exit one after another before they begin a call, or because their `setup` fails. Undefined otherwise. A call that is
         * answered resets it to undefined, and so does a `setup` that succeeds.
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
/** The state of a pool whose workers exit one after another before they begin a call, or whose `setup` fails. */
interface RestartPause {
    /**
     * Number of exits, or of failures of `setup`, in a row. The waiting calls fail at the ninth exit, and at each failure of `setup`, unless
     * another worker is ready or starting.
     */
    exits: number;
    /** Time until the pool starts the next worker, in milliseconds: 0 (it does not wait) to 2,000. */
    nextStartInMs: number;
}

/** The failure of a broadcast in one worker. */
interface BroadcastFailure {
    /** Index of the worker. Its name in debuggers ends with this number. */
    readonly worker: number;
    /** The error with which the call failed. */
    readonly reason: unknown;
}
/** The result of a broadcast in one worker. */
interface BroadcastResult<T> {
    /** Index of the worker. */
    readonly worker: number;
    readonly result: T;
}
/** The error of a broadcast that failed in at least one worker. Its `cause` is the reason of the first failure. */
interface BroadcastError<T = unknown> extends ClearwayError {
    readonly code: "broadcast-failed";
    /** The failures, by index of the worker. */
    readonly failures: readonly BroadcastFailure[];
    /** The results of the workers in which the call succeeded. */
    readonly results: readonly BroadcastResult<T>[];
}
/** The arguments of a broadcast: values that are copied to each worker, and functions under `callback()`. */
type Copied<Args extends unknown[]> = {
    [At in keyof Args]: Sendable<Args[At]> | CallbackFor<Args[At]>;
};
/** The type of a task under `pool.broadcast`. */
type Broadcaster<Fn> = Fn extends Task<infer _Context, infer Args, infer Result> ? (...args: Copied<Args>) => Promise<Arrived<Awaited<Result>>[]> : Fn extends (...args: infer Args) => infer Result ? (...args: Copied<Args>) => Promise<Arrived<Awaited<Result>>[]> : never;
/** The tasks of a module that give one result, as `pool.broadcast` offers them. */
type Broadcasters<Module> = BroadcastersOf<TasksOf<Module>>;
type BroadcastersOf<Tasks> = {
    readonly [Name in keyof Tasks as SingleResultName<Tasks, Name>]: Broadcaster<Tasks[Name]>;
};

/** The tasks of a module, as methods of `call`. */
interface Callable<Module> {
    /** The module's tasks, by name. A plain task returns a promise. A generator task returns a stream. */
    readonly call: Callers<Module>;
}
/** The tasks of a pool's module: to call, to call for many inputs, or to call in every worker. */
interface PoolCallable<Module> extends Callable<Module> {
    /**
     * Calls a task for each input: `pool.map.resize(images)`. The input is the task's first argument. Gives the results one by one, or as an
     * array: `await pool.map.resize(images)`. Reads the inputs as fast as the results are read. The first error cancels the open calls and
     * closes the inputs.
     */
    readonly map: Mappers<Module>;
    /**
     * Calls a task once in every worker that is ready or starting: `await pool.broadcast.reload(config)`. Resolves with the results by index of
     * the worker. If a worker ends before the call has begun there, the worker that takes its place gets the call. Workers that start later get
     * none: use the option `setup` for what each worker needs.
     *
     * Rejects when every call has ended, with a {@link BroadcastError} if one of them failed. Rejects with `invalid-argument` if an argument is
     * a stream or under `move()`.
     */
    readonly broadcast: Broadcasters<Module>;
}
/** A pool of warm workers that run the tasks of one module. */
interface Pool<Module> extends PoolCallable<Module>, AsyncDisposable {
    /**
     * Returns the same tasks. Calls through the result use these options. The method is cheap, but keep the result for calls that share the
     * options.
     */
    with(options: CallOptions<ProgressOf<TasksOf<Module>>>): PoolCallable<Module>;
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
    /** Returns advice: which tasks may run on the calling thread, judged by the times of their runs so far. Changes nothing. */
    advise(): Promise<Advice>;
    /**
     * Closes the pool: accepts no new calls, waits for the open ones, closes the workers' resources and ends the threads. Calls that take
     * longer than `timeoutMs` (default 30,000) fail with `pool-closed`. Resources that are not closed within that time are abandoned. `await
     * using` calls `close()`.
     *
     * With `dropWaiting`, only the calls that workers have received are finished. Those in the queue fail with `pool-closed` at once. This also
     * works when the pool is closing already.
     */
    close(options?: {
        timeoutMs?: number;
        dropWaiting?: boolean;
    }): Promise<void>;
    /** Fails every call with `pool-terminated` and ends every thread at once. Does not close resources. */
    terminate(): Promise<void>;
}
/**
 * Makes a pool of workers for a task module.
 *
 * `source` is the URL of the module. For bundlers, it is a factory around the expression that they understand: `() => new Worker(new
 * URL("./images.tasks.js", import.meta.url), { type: "module" })`. With a factory, the pool ignores `name` and the options of
 * {@link ThreadOptions}, because the factory sets them, and refuses `processes`.
 *
 * Starts the minimum number of workers at once and does not wait for them. Never blocks. Throws `invalid-argument` for an unknown or
 * invalid option, before it starts anything. The pool's `with()` throws the same error for invalid options, and `close()` rejects with it.
 */
declare function pool<Module = PoolNeedsTheTypeOfItsModule>(source: WorkerSource, options?: PoolOptions<SetupData<TasksOf<Module>>>): Pool<Module>;
/** Options of `run()`: the options of a call, and those of its one worker. */
interface RunOptions<Setup = undefined, Progress = unknown> extends CallOptions<Progress>, ThreadOptions, Pick<PoolOptions<Setup>, "graceMs" | "startTimeoutMs" | "name" | "setup" | "warnings"> {
}
/**
 * Runs one task in a new worker, then ends the worker: `await run<typeof import("./x.tasks.js")>(url).call.job(1)`.
 *
 * Each call starts its own worker, which takes tens of milliseconds (docs/performance.md, "Pools"). For more than one call, make a pool. Throws `invalid-argument`.
 */
declare function run<Module = PoolNeedsTheTypeOfItsModule>(source: WorkerSource, options?: RunOptions<SetupData<TasksOf<Module>>, ProgressOf<TasksOf<Module>>>): Callable<Module>;

export { Argument, Arrived, CallOptions, CallbackFor, Callers, ClearwayError, Placement, PoolNeedsTheTypeOfItsModule, PoolOptions, SetupData, ThreadOptions, WorkerLike, pool, run };
export type { Advice, BroadcastError, BroadcastFailure, BroadcastResult, Broadcasters, Callable, CopyReason, Ledger, LedgerSide, MapOptions, Mapper, Mappers, Pool, PoolCallable, PoolStats, RestartPause, Results, RunOptions, TaskAdvice, TaskStats, WorkerSource };
