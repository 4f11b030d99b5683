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

/** What a task knows of the call that it serves. It comes first among the task's parameters. */
interface TaskContext {
    /** Aborted when the call is cancelled or out of time. Its reason says which. */
    readonly signal: AbortSignal;
    /**
     * Whether the call was cancelled, readable in a hot loop that never gives its thread back: where shared memory exists
     * it needs no message. Costs about 10 ns. Elsewhere it is `signal.aborted`, which such a loop will not see change.
     */
    readonly cancelled: boolean;
    /**
     * Tells the caller's `onProgress`. Copies `value` when it leaves. Does nothing when nobody listens. Never overtakes results, never
     * waits, never throws. Values keep their order. A listener that is more than 8,192 values or 4 MiB behind gets the newest of what
     * follows, once it has caught up or the task ends: values in between are left out, the last one never is. A loop that never gives
     * its thread back cannot hear that its listener has caught up: beyond that bound it tells ten values a second. What needs
     * each value is a stream (`async function*`), which has credit.
     */
    progress(value: unknown): void;
}
/** How a task is run. */
interface TaskOptions {
    /**
     * How many nodes of a result are searched for memory to move; default 10,000. What lies beyond is copied, and the
     * ledger says `search-limit`.
     */
    moveSearchLimit?: number;
    /**
     * `"auto"`: where its cost was learnt to be less than the hop to a worker, and short without doubt, it runs on the
     * caller's thread. `"worker"`: never, whatever the pool says. Default: what the pool says, which is in workers unless
     * told otherwise. Tasks that hold resources and streams always run in workers.
     */
    placement?: "auto" | "worker";
}
declare const taskTypes: unique symbol;
declare const exposedBrand: unique symbol;
/** A function that wants its context first. Callable as it is, so that a unit test may bring its own context. */
interface Task<Context, Args extends unknown[], Result> {
    (context: Context, ...args: Args): Result;
    readonly [taskTypes]: {
        context: Context;
        args: Args;
        result: Result;
    };
}
type Fn<Context, Args extends unknown[], Result> = (context: Context, ...args: Args) => Result;
/** Makes a task of a function that takes its {@link TaskContext} first. The caller does not see that parameter. */
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
/** Gives a `task` whose context holds these resources: each is opened when such a task first runs in a worker. */
declare function withResources<Resources extends Record<string, Resource<unknown>>>(resources: Resources): Leased<Resources>;
/** The tasks of a module. */
type TaskMap = Readonly<Record<string, (...args: never[]) => unknown>>;
/** The tasks of a module that a pool may start. */
type Exposed<Tasks> = Tasks & {
    readonly [exposedBrand]?: true;
};

export { resource as r, task as t, withResources as w };
export type { Exposed as E, Leased as L, Resource as R, Task as T, TaskContext as a, TaskMap as b, ResourceDefinition as c, ResourceValues as d, TaskOptions as e };
