// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Unmoved } from "../transfer/crossing.js";
import type { Moved } from "../transfer/move.js";
import type { CallbackFor } from "./callback-types.js";
import type { Task } from "./task.js";

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
export type Answer<Result> = [Result] extends [never]
  ? Promise<never>
  : [Result] extends [AsyncGenerator<infer T, infer Return> | Generator<infer T, infer Return>]
    ? Stream<Unmoved<T>, Return>
    : Promise<Unmoved<Awaited<Result>>>;

/**
 * An argument of a task: the value itself, the value under `move()`, a stream whose values may be under `move()`, or a function under
 * `callback()`.
 */
export type Argument<T> =
  | T
  | Moved<T>
  | CallbackFor<T>
  | (T extends AsyncIterable<infer Each> ? AsyncIterable<Each | Moved<Each>> : never);

type Arguments<Args extends unknown[]> = { [At in keyof Args]: Argument<Args[At]> };

/** The type of a task as the caller calls it, without the context parameter. */
export type Callable<Fn> =
  Fn extends Task<infer _Context, infer Args, infer Result>
    ? (...args: Arguments<Args>) => Answer<Result>
    : Fn extends (...args: infer Args) => infer Result
      ? (...args: Arguments<Args>) => Answer<Result>
      : never;

/** The tasks that a module exposes as its default export. */
export type TasksOf<Module> = Module extends { readonly default: infer Tasks } ? Tasks : Module;

/** The type of all tasks of a module, as the caller calls them. */
export type Callers<Module> = CallersOf<TasksOf<Module>>;

// A mapped type over `keyof` of a type parameter keeps the link to each property. Editors then show the comment of a task at its call, go to
// its definition, and rename both.
type CallersOf<Tasks> = {
  readonly [Name in keyof Tasks as Name & string]: Callable<Tasks[Name]>;
};
