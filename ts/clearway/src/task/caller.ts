// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CrossesAs } from "../transfer/crossing.js";
import type { Moved } from "../transfer/move.js";
import type { Task } from "./task.js";

// The caller's view of a task module, from its types alone.

/** Values from a task, one at a time, with credit: the task is never ahead by more than the window. */
export interface Stream<T, Return = unknown> extends AsyncIterableIterator<T, Return, void>, AsyncDisposable {
  /** Ends the task early. Settles after the task's `finally` has run. A `break` in a `for await` calls it. */
  return(value?: unknown): Promise<IteratorResult<T, Return>>;
  /** Returns the stream, which can be iterated once. */
  [Symbol.asyncIterator](): Stream<T, Return>;
}

/** What the caller of a task receives: a stream for a generator, otherwise a promise. */
export type Answer<Result> = [Result] extends [never]
  ? Promise<never>
  : [Result] extends [AsyncGenerator<infer T, infer Return> | Generator<infer T, infer Return>]
    ? Stream<Unmoved<T>, Return>
    : Promise<Unmoved<Awaited<Result>>>;

/** A value as the other side receives it: without the mark of `move()`, and a table for a table's writer. */
export type Unmoved<T> = T extends Moved<infer Inner> ? Unmoved<Inner> : T extends CrossesAs<infer Other> ? Other : T;

/** An argument of a task: the value itself, the value under `move()`, or a stream of moved values. */
export type Argument<T> =
  | T
  | Moved<T>
  | (T extends AsyncIterable<infer Each> ? AsyncIterable<Each | Moved<Each>> : never);

type Arguments<Args extends unknown[]> = { [At in keyof Args]: Argument<Args[At]> };

/** A task as the caller calls it: without its context parameter. */
export type Callable<Fn> =
  Fn extends Task<infer _Context, infer Args, infer Result>
    ? (...args: Arguments<Args>) => Answer<Result>
    : Fn extends (...args: infer Args) => infer Result
      ? (...args: Arguments<Args>) => Answer<Result>
      : never;

/** The tasks that a module exposes by default. */
export type TasksOf<Module> = Module extends { readonly default: infer Tasks } ? Tasks : Module;

/** All tasks of a module as the caller calls them. */
export type Callers<Module> = {
  readonly [Name in keyof TasksOf<Module> & string]: Callable<TasksOf<Module>[Name]>;
};
