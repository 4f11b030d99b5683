// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Arrived, Sendable } from "../transfer/arrived.js";
import type { Moved } from "../transfer/move.js";
import type { CallbackFor } from "./callback-types.js";
import type { exposedBrand, Task, TaskContext } from "./task.js";

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
export type Callable<Fn> =
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
