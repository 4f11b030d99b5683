// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, object, type Rules, whole } from "../error/checked.js";
import { ClearwayError, invalid } from "../error/clearway-error.js";
import { definitionOf, type Resource } from "../resource/resource.js";
import type { Arrived, Sendable } from "../transfer/arrived.js";
import type { Moved } from "../transfer/move.js";
import type { TaskKind } from "../transport/protocol.js";
import type { CallbackFor } from "./callback-stub.js";

/**
 * A task's view of its call, and the task's first parameter. A task that declares the type of its progress, as in
 * `task(({ progress }: TaskContext<number>, path: string) => …)`, gives the caller's `onProgress` that type.
 */
export interface TaskContext<Progress = unknown> {
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
export type Placement = "inline" | "worker";

/** Options of a task. */
export interface TaskOptions {
  /**
   * Number of nodes of a result that are searched for memory to move. Default 10,000. Memory beyond this limit is copied, and the ledger
   * records the reason `search-limit`. A result under `move()` fails with `would-copy` instead, and at least 10,000 of its nodes are
   * searched.
   */
  moveSearchLimit?: number | undefined;
  /** Where the task runs, unless a call has its own `placement`. With `"worker"`, no call can override it. Default: in a worker. */
  placement?: Placement | undefined;
}

declare const taskTypes: unique symbol;
const brand = Symbol.for("clearway.task");
const exposedBrand: unique symbol = Symbol.for("clearway.exposed");

/** A function whose first parameter is its context. A unit test may call it with a context from `testContext()`. */
export interface Task<Context, Args extends unknown[], Result> {
  (context: Context, ...args: Args): Result;
  readonly [taskTypes]: { context: Context; args: Args; result: Result };
}

/** Everything that a worker needs to run a task. */
export interface TaskDefinition {
  readonly run: (...args: unknown[]) => unknown;
  readonly wantsContext: boolean;
  readonly resources: Readonly<Record<string, Resource<unknown>>> | undefined;
  readonly moveSearchLimit: number | undefined;
  readonly placement: Placement | undefined;
  readonly kind: TaskKind;
}

type Fn<Context, Args extends unknown[], Result> = (context: Context, ...args: Args) => Result;

/** Makes a task from a function whose first parameter is its {@link TaskContext}. The caller does not see that parameter. */
export function task<Args extends unknown[], Result, Progress = unknown>(
  fn: Fn<TaskContext<Progress>, Args, Result>,
): Task<TaskContext<Progress>, Args, Result>;
export function task<Args extends unknown[], Result, Progress = unknown>(
  options: TaskOptions,
  fn: Fn<TaskContext<Progress>, Args, Result>,
): Task<TaskContext<Progress>, Args, Result>;
export function task(first: unknown, second?: unknown): unknown {
  return second === undefined ? define({}, first, undefined) : define(first as TaskOptions, second, undefined);
}

/** The values of resources, by name. */
export type ResourceValues<Resources> = {
  readonly [Name in keyof Resources]: Resources[Name] extends Resource<infer T> ? Awaited<T> : never;
};

/** Makes tasks whose context also holds the values of resources. */
export interface Leased<Resources> {
  <Args extends unknown[], Result, Progress = unknown>(
    fn: Fn<TaskContext<Progress> & ResourceValues<Resources>, Args, Result>,
  ): Task<TaskContext<Progress> & ResourceValues<Resources>, Args, Result>;
  <Args extends unknown[], Result, Progress = unknown>(
    options: TaskOptions,
    fn: Fn<TaskContext<Progress> & ResourceValues<Resources>, Args, Result>,
  ): Task<TaskContext<Progress> & ResourceValues<Resources>, Args, Result>;
}

/**
 * Returns a `task` function. That function makes tasks whose context has the values of these resources. A worker opens a resource when such
 * a task first runs in it.
 */
export function withResources<Resources extends Record<string, Resource<unknown>>>(
  resources: Resources,
): Leased<Resources> {
  for (const [name, each] of Object.entries(object("resources", resources))) {
    definitionOf(each);
    if (name === "signal" || name === "cancelled" || name === "progress") {
      throw new ClearwayError("invalid-argument", `a resource cannot be called "${name}": the context has that name`);
    }
  }
  const leased = (first: unknown, second?: unknown): unknown =>
    second === undefined ? define({}, first, resources) : define(first as TaskOptions, second, resources);
  return leased as Leased<Resources>;
}

/** The tasks of a module, by name. */
export type TaskMap = Readonly<Record<string, (...args: never[]) => unknown>>;

/** The tasks of a module that a pool may call. `Data` is the parameter of the module's `setup`. */
export type Exposed<Tasks, Data = undefined> = Tasks & { readonly [exposedBrand]?: Data };

/** The type of a pool's option `setup`: the parameter of the `setup` that the module passes to `expose()`. */
export type SetupData<Tasks> = Tasks extends { readonly [exposedBrand]?: infer Data } ? Data : unknown;

/** The tasks of several modules, as `exposeAll()` names them: the name of the module, a dot, and the name of the task. */
export type Combined<Modules> = Both<
  {
    [Module in keyof Modules & string]: {
      readonly [Name in keyof Modules[Module] & string as `${Module}.${Name}`]: Modules[Module][Name];
    };
  }[keyof Modules & string]
>;

// Turns a union into an intersection.
type Both<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The type of the pool's option `setup` for several modules: the data of each module that has a `setup`. */
export type CombinedData<Modules> =
  SetupModules<Modules> extends never
    ? undefined
    : { readonly [Name in SetupModules<Modules>]: SetupData<Modules[Name]> };

type SetupModules<Modules> = {
  [Name in keyof Modules & string]: SetupData<Modules[Name]> extends undefined ? never : Name;
}[keyof Modules & string];

/** Options of a task module. */
export interface ExposeOptions<Data = undefined> {
  /**
   * Prepares the worker. Runs once in each worker, before its first call, also in a worker that replaces another one. Receives a copy of the
   * pool's option `setup`. It may be asynchronous. The pool's `startTimeoutMs` includes its time.
   *
   * If it fails, so does the start of the worker: if no other worker is ready or starting, calls fail with `setup-failed`. A module with a
   * `setup` never runs on the caller's thread (see `placement`).
   */
  setup?(data: Data): void | PromiseLike<void>;
}

const taskRules: Rules = { moveSearchLimit: whole(0), placement: ["inline", "worker"] };

function define(options: TaskOptions, fn: unknown, resources: TaskDefinition["resources"]): unknown {
  if (typeof fn !== "function") throw invalid("task", "a function", fn);
  const { moveSearchLimit, placement } = checked(options, taskRules);
  const run = fn as TaskDefinition["run"];
  const definition: TaskDefinition = {
    run,
    wantsContext: true,
    resources,
    moveSearchLimit,
    placement: resources === undefined ? placement : "worker",
    kind: kindOf(run),
  };
  // Marks a wrapper and not the function itself, because the same function may be a plain task elsewhere.
  const wrapped = (...args: unknown[]): unknown => run(...args);
  return Object.defineProperty(wrapped, brand, { value: definition });
}

/** Returns the definition of an exposed task: a result of `task()`, or a plain function. */
export function definitionOfTask(name: string, fn: unknown): TaskDefinition {
  if (typeof fn !== "function") throw invalid(`the task "${name}"`, "a function, or made by task()", fn);
  const known = (fn as { [brand]?: TaskDefinition })[brand];
  if (known !== undefined) return known;
  const run = fn as TaskDefinition["run"];
  return {
    run,
    wantsContext: false,
    resources: undefined,
    moveSearchLimit: undefined,
    placement: undefined,
    kind: kindOf(run),
  };
}

/** Returns whether a value is a generator object. A task that returns one should have been a generator function itself. */
export function isGenerator(value: unknown): boolean {
  try {
    return value !== null && typeof value === "object" && Object.prototype.toString.call(value).includes("Generator");
  } catch {
    // The value's tag is a getter that throws, or a trap of a proxy.
    return false;
  }
}

// Returns the kind of a task, from the syntax of its function. The caller must know before the first answer whether it receives a promise
// or a stream.
function kindOf(fn: object): TaskKind {
  const tag = (fn as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag];
  return tag === "GeneratorFunction" || tag === "AsyncGeneratorFunction" ? "stream" : "function";
}

// The types of a task module's tasks as the caller sees them.

/** A stream of values from a task. Credit limits the task: it is never ahead of its reader by more than the window. */
export interface Stream<T, Return = unknown> extends AsyncIterableIterator<T, Return, void>, AsyncDisposable {
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
export interface Batches<T, Return = unknown> extends AsyncIterableIterator<T[], Return, void>, AsyncDisposable {
  /** Ends the task early. Settles after the task's `finally` has run. A `break` in a `for await` loop calls it. */
  return(value?: unknown): Promise<IteratorResult<T[], Return>>;
  /** Returns the reader itself. */
  [Symbol.asyncIterator](): Batches<T, Return>;
}

/** The type that the caller of a task receives: a stream for a generator, otherwise a promise. */
export type Answer<Result> = 0 extends 1 & Result
  ? Promise<Result>
  : [Result] extends [never]
    ? Promise<never>
    : [Result] extends [AsyncGenerator<infer T, infer Return> | Generator<infer T, infer Return>]
      ? Stream<Arrived<T>, Return>
      : Promise<Arrived<Awaited<Result>>>;

/**
 * An argument of a task: the value itself, the value under `move()`, a stream whose values may be under `move()`, or a function under
 * `callback()`.
 */
export type Argument<T> =
  | Sendable<T>
  | Moved<Sendable<T>>
  | CallbackFor<T>
  | (T extends AsyncIterable<infer Each> ? AsyncIterable<Sendable<Each> | Moved<Sendable<Each>>> : never);

type Arguments<Args extends unknown[]> = { [At in keyof Args]: Argument<Args[At]> };

/** The type of a task as the caller calls it, without the context parameter. */
type Callable<Fn> =
  Fn extends Task<infer _Context, infer Args, infer Result>
    ? (...args: Arguments<Args>) => Answer<Result>
    : Fn extends (...args: infer Args) => infer Result
      ? (...args: Arguments<Args>) => Answer<Result>
      : never;

/** A pool that was made without a type argument: `pool<typeof import("./x.tasks.js")>(…)` gives its calls their types. */
export interface PoolNeedsTheTypeOfItsModule {
  readonly cannotCall: never;
}

/** A task module whose default export is not the result of `expose()`. */
export interface DefaultExportMustComeFromExpose {
  readonly cannotCall: never;
}

/** The tasks that a module exposes as its default export. */
export type TasksOf<Module> = Module extends { readonly default: infer Tasks }
  ? typeof exposedBrand extends keyof Tasks
    ? Tasks
    : DefaultExportMustComeFromExpose
  : Module;

/** The type of the progress of a module's tasks: of those that declare it, or unknown if none does. */
export type ProgressOf<Tasks> = [DeclaredProgress<Tasks>] extends [never] ? unknown : DeclaredProgress<Tasks>;

type DeclaredProgress<Tasks> = {
  [Name in keyof Tasks & string]: Tasks[Name] extends Task<TaskContext<infer Progress>, infer _Args, infer _Result>
    ? unknown extends Progress
      ? never
      : Arrived<Progress>
    : never;
}[keyof Tasks & string];

/** The type of all tasks of a module, as the caller calls them. */
export type Callers<Module> = CallersOf<TasksOf<Module>>;

// A mapped type over `keyof` of a type parameter keeps the link to each property. Editors then show the comment of a task at its call, go to
// its definition, and rename both.
type CallersOf<Tasks> = {
  readonly [Name in keyof Tasks as Name & string]: Callable<Tasks[Name]>;
};
