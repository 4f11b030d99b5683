/** How to open, check and close an expensive object that a worker keeps between tasks: a connection, a model, a file. */
interface ResourceDefinition<T> {
    /** Opens the resource inside the worker, when a task first needs it. If it throws, the task fails with `resource-failed`. */
    open(): T | PromiseLike<T>;
    /** Returns whether the resource is still usable. After `false` or an error, the worker closes it and opens another. */
    check?(value: T): boolean | PromiseLike<boolean>;
    /** Closes the resource. Errors are ignored, because the resource is abandoned in any case. */
    close?(value: T): void | PromiseLike<void>;
    /**
     * Called at once when the task that holds the resource is cancelled or times out.
     *
     * The task has not ended yet. Use `cancel` to cancel the query that runs on the connection. The worker then closes the resource,
     * because its state is unknown.
     */
    cancel?(value: T): void | PromiseLike<void>;
    /** Idle time in milliseconds after which the resource is closed. Default 30,000; Infinity keeps it. */
    idleMs?: number;
    /** Age in milliseconds, counted from opening, after which the resource is not used again. Default Infinity. */
    maxAgeMs?: number;
    /** Idle time in milliseconds after which the resource is checked before use. Default 1,000; 0 checks each time. */
    checkAfterMs?: number;
}
declare const brand: unique symbol;
/** A resource, ready for `withResources`. */
interface Resource<T> {
    readonly [brand]: Required<Pick<ResourceDefinition<T>, "idleMs" | "maxAgeMs" | "checkAfterMs">> & ResourceDefinition<T>;
}
/**
 * Defines a resource and opens nothing. A worker opens it when it first runs a task that names it.
 *
 * One task at a time holds a resource; a worker that runs several tasks at once opens several. Throws `invalid-argument` for an invalid
 * definition.
 */
declare function resource<T>(definition: ResourceDefinition<T>): Resource<T>;

/** A task's view of its call. It is the task's first parameter. */
interface TaskContext {
    /** Aborts when the call is cancelled or its time is over. Its reason says which. */
    readonly signal: AbortSignal;
    /**
     * Whether the call was cancelled. Costs about 10 ns. With shared memory it needs no message, so it changes even in a loop that never
     * yields its thread. Without shared memory it equals `signal.aborted`, which does not change in such a loop.
     */
    readonly cancelled: boolean;
    /**
     * Sends a value to the caller's `onProgress`. Copies `value` when it leaves. Does nothing without a listener. Never overtakes results,
     * never waits, never throws. Values keep their order. While the listener is more than 8,192 values or 4 MiB behind, only the newest value
     * waits; it is sent when the listener has caught up or the task ends. Other values are dropped, but never the last one. A loop that never
     * yields its thread cannot notice that the listener has caught up; above that limit it sends ten values per second. If every value
     * matters, use a stream (`async function*`), which has credit.
     */
    progress(value: unknown): void;
}
/** Options of a task. */
interface TaskOptions {
    /**
     * Number of nodes of a result that are searched for memory to move. Default 10,000. Memory beyond is copied, and the ledger says
     * `search-limit`.
     */
    moveSearchLimit?: number;
    /**
     * Experimental. `"auto"`: the task runs on the caller's thread if measurements show that it is cheaper than the hop to a worker, and
     * surely short. `"worker"`: the task always runs in a worker. Default: the pool's option, or else in a worker. Tasks that hold resources,
     * and streams, always run in workers.
     */
    placement?: "auto" | "worker";
}
declare const taskTypes: unique symbol;
declare const exposedBrand: unique symbol;
/** A function whose first parameter is its context. A unit test may call it with a context of its own. */
interface Task<Context, Args extends unknown[], Result> {
    (context: Context, ...args: Args): Result;
    readonly [taskTypes]: {
        context: Context;
        args: Args;
        result: Result;
    };
}
type Fn<Context, Args extends unknown[], Result> = (context: Context, ...args: Args) => Result;
/** Makes a task of a function whose first parameter is its {@link TaskContext}. The caller does not see that parameter. */
declare function task<Args extends unknown[], Result>(fn: Fn<TaskContext, Args, Result>): Task<TaskContext, Args, Result>;
declare function task<Args extends unknown[], Result>(options: TaskOptions, fn: Fn<TaskContext, Args, Result>): Task<TaskContext, Args, Result>;
/** The values of some resources, by name. */
type ResourceValues<Resources> = {
    readonly [Name in keyof Resources]: Resources[Name] extends Resource<infer T> ? Awaited<T> : never;
};
/** Makes tasks whose context also holds leased resources. */
interface Leased<Resources> {
    <Args extends unknown[], Result>(fn: Fn<TaskContext & ResourceValues<Resources>, Args, Result>): Task<TaskContext & ResourceValues<Resources>, Args, Result>;
    <Args extends unknown[], Result>(options: TaskOptions, fn: Fn<TaskContext & ResourceValues<Resources>, Args, Result>): Task<TaskContext & ResourceValues<Resources>, Args, Result>;
}
/** Returns a `task` function whose context has these resources. A resource is opened when such a task first runs in a worker. */
declare function withResources<Resources extends Record<string, Resource<unknown>>>(resources: Resources): Leased<Resources>;
/** The tasks of a module. */
type TaskMap = Readonly<Record<string, (...args: never[]) => unknown>>;
/** The tasks of a module that a pool may start. */
type Exposed<Tasks> = Tasks & {
    readonly [exposedBrand]?: true;
};

export { resource as r, task as t, withResources as w };
export type { Exposed as E, Leased as L, Resource as R, Task as T, TaskContext as a, TaskMap as b, ResourceDefinition as c, ResourceValues as d, TaskOptions as e };
