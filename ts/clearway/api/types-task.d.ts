/// <reference lib="esnext.disposable" />
import { A as Arrived, S as Sendable, b as CallbackFor } from './types-callback-stub.js';
import { M as Moved } from './types-move.js';

/**
 * Describes how to open, check and close an expensive object, such as a connection, a model or a file. A worker keeps the object between
 * tasks.
 */
interface ResourceDefinition<T> {
    /** Opens the resource inside the worker, when a task first needs it. If `open` throws, the task fails with `resource-failed`. */
    open(): T | PromiseLike<T>;
    /**
     * Returns whether the resource is still usable. If `check` returns false or throws, the worker closes the resource and opens another one.
     */
    check?(value: T): boolean | PromiseLike<boolean>;
    /** Closes the resource. The worker ignores errors and no longer uses the resource. */
    close?(value: T): void | PromiseLike<void>;
    /**
     * Called at once when the task that holds the resource is cancelled or times out.
     *
     * The task may still be running. Use this function, for example, to cancel the query that runs on a connection. The worker closes the
     * resource when the task has ended, because the state of the resource is unknown.
     */
    cancel?(value: T): void | PromiseLike<void>;
    /** Idle time in milliseconds after which the worker closes the resource. Default 30,000. With Infinity, an idle resource stays open. */
    idleMs?: number;
    /** Age in milliseconds, counted from opening, after which the worker does not use the resource again. Default Infinity. */
    maxAgeMs?: number;
    /**
     * Idle time in milliseconds after which the worker checks the resource before use. Default 1,000. With 0, the worker checks it each time.
     */
    checkAfterMs?: number;
}
declare const brand: unique symbol;
/** A resource that `resource()` has defined. Pass it to `withResources`. */
interface Resource<T> {
    readonly [brand]: Required<Pick<ResourceDefinition<T>, "idleMs" | "maxAgeMs" | "checkAfterMs">> & ResourceDefinition<T>;
}
/**
 * Defines a resource. Does not open it: a worker opens the resource when it first runs a task that names it.
 *
 * Only one task at a time holds an open resource. A worker that runs several tasks at once opens the resource several times. Throws
 * `invalid-argument` for an invalid definition.
 */
declare function resource<T>(definition: ResourceDefinition<T>): Resource<T>;

/**
 * A task's view of its call, and the task's first parameter. A task that declares the type of its progress, as in
 * `task(({ progress }: TaskContext<number>, path: string) => …)`, gives the caller's `onProgress` that type.
 */
interface TaskContext<Progress = unknown> {
    /** Aborts when the call is cancelled or its time is over. The reason of the signal tells which. */
    readonly signal: AbortSignal;
    /**
     * Whether the call was cancelled. A read costs about 10 ns. With shared memory, the cancel needs no message, so this value changes even
     * in a loop that never yields its thread. Without shared memory, it equals `signal.aborted`, which does not change in such a loop.
     */
    readonly cancelled: boolean;
    /**
     * Sends a value to the caller's `onProgress`. Does nothing without a listener. Never waits and never throws. Copies `value` when it is
     * sent. Values keep their order and never overtake the result.
     *
     * While more than 8,192 values or 4 MiB wait for the listener, only the newest further value waits here, and the others are dropped.
     * The waiting value is sent when the listener has caught up or the task ends. So the last value always arrives. A loop that never
     * yields its thread cannot notice that the listener has caught up. Above that limit, it sends ten values per second. If every value
     * matters, use a stream (`async function*`), which has credit.
     */
    progress(value: Progress): void;
}
/**
 * Where calls run.
 *
 * - `inline`: on the calling thread, once the task module is loaded there. The first such call loads it; until then, and if it cannot be
 *   loaded, calls go to workers. Nothing can interrupt an inline run, so it is for tasks that take less than about 5 ms.
 * - `worker`: in a worker.
 *
 * These calls always run in a worker: streams and calls with a stream, a table, a callback or an instance of a class among their arguments;
 * calls with a signal, a time limit, a key or a progress listener; tasks that hold resources; all calls of a module with a `setup`, and of a
 * pool that was made in a worker.
 */
type Placement = "inline" | "worker";
/** Options of a task. */
interface TaskOptions {
    /**
     * Number of nodes of a result that are searched for memory to move. Default 10,000. Memory beyond this limit is copied, and the ledger
     * records the reason `search-limit`. A result under `move()` fails with `would-copy` instead, and at least 10,000 of its nodes are
     * searched.
     */
    moveSearchLimit?: number;
    /** Where the task runs, unless a call has its own `placement`. With `"worker"`, no call can override it. Default: in a worker. */
    placement?: Placement;
}
declare const taskTypes: unique symbol;
declare const exposedBrand: unique symbol;
/** A function whose first parameter is its context. A unit test may call it with a context from `testContext()`. */
interface Task<Context, Args extends unknown[], Result> {
    (context: Context, ...args: Args): Result;
    readonly [taskTypes]: {
        context: Context;
        args: Args;
        result: Result;
    };
}
type Fn<Context, Args extends unknown[], Result> = (context: Context, ...args: Args) => Result;
/** Makes a task from a function whose first parameter is its {@link TaskContext}. The caller does not see that parameter. */
declare function task<Args extends unknown[], Result, Progress = unknown>(fn: Fn<TaskContext<Progress>, Args, Result>): Task<TaskContext<Progress>, Args, Result>;
declare function task<Args extends unknown[], Result, Progress = unknown>(options: TaskOptions, fn: Fn<TaskContext<Progress>, Args, Result>): Task<TaskContext<Progress>, Args, Result>;
/** The values of resources, by name. */
type ResourceValues<Resources> = {
    readonly [Name in keyof Resources]: Resources[Name] extends Resource<infer T> ? Awaited<T> : never;
};
/** Makes tasks whose context also holds the values of resources. */
interface Leased<Resources> {
    <Args extends unknown[], Result, Progress = unknown>(fn: Fn<TaskContext<Progress> & ResourceValues<Resources>, Args, Result>): Task<TaskContext<Progress> & ResourceValues<Resources>, Args, Result>;
    <Args extends unknown[], Result, Progress = unknown>(options: TaskOptions, fn: Fn<TaskContext<Progress> & ResourceValues<Resources>, Args, Result>): Task<TaskContext<Progress> & ResourceValues<Resources>, Args, Result>;
}
/**
 * Returns a `task` function. That function makes tasks whose context has the values of these resources. A worker opens a resource when such
 * a task first runs in it.
 */
declare function withResources<Resources extends Record<string, Resource<unknown>>>(resources: Resources): Leased<Resources>;
/** The tasks of a module, by name. */
type TaskMap = Readonly<Record<string, (...args: never[]) => unknown>>;
/** The tasks of a module that a pool may call. `Data` is the parameter of the module's `setup`. */
type Exposed<Tasks, Data = undefined> = Tasks & {
    readonly [exposedBrand]?: Data;
};
/** The type of a pool's option `setup`: the parameter of the `setup` that the module passes to `expose()`. */
type SetupData<Tasks> = Tasks extends {
    readonly [exposedBrand]?: infer Data;
} ? Data : unknown;
/** The tasks of several modules, as `exposeAll()` names them: the name of the module, a dot, and the name of the task. */
type Combined<Modules> = Both<{
    [Module in keyof Modules & string]: {
        readonly [Name in keyof Modules[Module] & string as `${Module}.${Name}`]: Modules[Module][Name];
    };
}[keyof Modules & string]>;
type Both<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void ? All : never;
/** The type of the pool's option `setup` for several modules: the data of each module that has a `setup`. */
type CombinedData<Modules> = SetupModules<Modules> extends never ? undefined : {
    readonly [Name in SetupModules<Modules>]: SetupData<Modules[Name]>;
};
type SetupModules<Modules> = {
    [Name in keyof Modules & string]: SetupData<Modules[Name]> extends undefined ? never : Name;
}[keyof Modules & string];
/** Options of a task module. */
interface ExposeOptions<Data = undefined> {
    /**
     * Prepares the worker. Runs once in each worker, before its first call, also in a worker that replaces another one. Receives a copy of the
     * pool's option `setup`. It may be asynchronous. The pool's `startTimeoutMs` includes its time.
     *
     * If it fails, so does the start of the worker: if no other worker is ready or starting, calls fail with `setup-failed`. A module with a
     * `setup` never runs on the caller's thread (see `placement`).
     */
    setup?(data: Data): void | PromiseLike<void>;
}
/** A stream of values from a task. Credit limits the task: it is never ahead of its reader by more than the window. */
interface Stream<T, Return = unknown> extends AsyncIterableIterator<T, Return, void>, AsyncDisposable {
    /** Ends the task early. Settles after the task's `finally` has run. A `break` in a `for await` loop calls it. */
    return(value?: unknown): Promise<IteratorResult<T, Return>>;
    /**
     * Returns a reader of the same stream that gives arrays of values. An array has the values that have arrived, at least 1 and at most 1,024.
     * No value waits for an array to become full. A table, and a value with instances of classes, comes in an array of its own.
     *
     * Order, credit, errors and early end are those of the stream. A loop over arrays costs less than a loop over values.
     */
    batches(): Batches<T, Return>;
    /** Returns the stream itself. A stream can be iterated once. */
    [Symbol.asyncIterator](): Stream<T, Return>;
}
/** The values of a {@link Stream} in arrays. */
interface Batches<T, Return = unknown> extends AsyncIterableIterator<T[], Return, void>, AsyncDisposable {
    /** Ends the task early. Settles after the task's `finally` has run. A `break` in a `for await` loop calls it. */
    return(value?: unknown): Promise<IteratorResult<T[], Return>>;
    /** Returns the reader itself. */
    [Symbol.asyncIterator](): Batches<T, Return>;
}
/** The type that the caller of a task receives: a stream for a generator, otherwise a promise. */
type Answer<Result> = 0 extends 1 & Result ? Promise<Result> : [Result] extends [never] ? Promise<never> : [Result] extends [AsyncGenerator<infer T, infer Return> | Generator<infer T, infer Return>] ? Stream<Arrived<T>, Return> : Promise<Arrived<Awaited<Result>>>;
/**
 * An argument of a task: the value itself, the value under `move()`, a stream whose values may be under `move()`, or a function under
 * `callback()`.
 */
type Argument<T> = Sendable<T> | Moved<Sendable<T>> | CallbackFor<T> | (T extends AsyncIterable<infer Each> ? AsyncIterable<Sendable<Each> | Moved<Sendable<Each>>> : never);
type Arguments<Args extends unknown[]> = {
    [At in keyof Args]: Argument<Args[At]>;
};
/** The type of a task as the caller calls it, without the context parameter. */
type Callable<Fn> = Fn extends Task<infer _Context, infer Args, infer Result> ? (...args: Arguments<Args>) => Answer<Result> : Fn extends (...args: infer Args) => infer Result ? (...args: Arguments<Args>) => Answer<Result> : never;
/** A pool that was made without a type argument: `pool<typeof import("./x.tasks.js")>(…)` gives its calls their types. */
interface PoolNeedsTheTypeOfItsModule {
    readonly cannotCall: never;
}
/** A task module whose default export is not the result of `expose()`. */
interface DefaultExportMustComeFromExpose {
    readonly cannotCall: never;
}
/** The tasks that a module exposes as its default export. */
type TasksOf<Module> = Module extends {
    readonly default: infer Tasks;
} ? typeof exposedBrand extends keyof Tasks ? Tasks : DefaultExportMustComeFromExpose : Module;
/** The type of the progress of a module's tasks: of those that declare it, or unknown if none does. */
type ProgressOf<Tasks> = [DeclaredProgress<Tasks>] extends [never] ? unknown : DeclaredProgress<Tasks>;
type DeclaredProgress<Tasks> = {
    [Name in keyof Tasks & string]: Tasks[Name] extends Task<TaskContext<infer Progress>, infer _Args, infer _Result> ? unknown extends Progress ? never : Arrived<Progress> : never;
}[keyof Tasks & string];
/** The type of all tasks of a module, as the caller calls them. */
type Callers<Module> = CallersOf<TasksOf<Module>>;
type CallersOf<Tasks> = {
    readonly [Name in keyof Tasks as Name & string]: Callable<Tasks[Name]>;
};

export { resource as r, task as t, withResources as w };
export type { Argument as A, Batches as B, Combined as C, DefaultExportMustComeFromExpose as D, ExposeOptions as E, Leased as L, Placement as P, Resource as R, SetupData as S, TaskContext as T, Answer as a, TaskMap as b, Exposed as c, CombinedData as d, ResourceDefinition as e, ResourceValues as f, Task as g, TaskOptions as h, TasksOf as i, Callers as j, ProgressOf as k, PoolNeedsTheTypeOfItsModule as l, Stream as m };
