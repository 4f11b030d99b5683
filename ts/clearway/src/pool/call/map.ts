// SPDX-License-Identifier: MIT OR Apache-2.0
import { Reader } from "../../stream/reader.js";
import type { CallbackFor } from "../../task/callback-stub.js";
import type { Argument, Task, TasksOf } from "../../task/task.js";
import type { Arrived, Sendable } from "../../transfer/arrived.js";
import type { Engine } from "../engine.js";
import type { CallSettings } from "../options.js";
import type { Mapping } from "./mapping.js";

/** The results of `pool.map`. Read them one by one, or await an array of them. Nothing starts before the first read or `await`. */
export interface Results<T> extends AsyncIterableIterator<T, undefined, void>, AsyncDisposable, PromiseLike<T[]> {
  /** Ends the mapping: cancels its open calls and closes its inputs. Does not wait for the inputs. */
  return(value?: unknown): Promise<IteratorResult<T, undefined>>;
  /** Returns the results themselves. They can be iterated once. */
  [Symbol.asyncIterator](): Results<T>;
}

type Rest<Args extends unknown[]> = Args extends [first?: unknown, ...rest: infer Others]
  ? { [At in keyof Others]: Sendable<Others[At]> | CallbackFor<Others[At]> }
  : [];

type Inputs<T> = Iterable<Argument<T> | PromiseLike<Argument<T>>> | AsyncIterable<Argument<T>>;

/** A task under `pool.map`, by its parameters and its result. The first parameter is the input. */
type MapperOf<Args extends unknown[], Result> = (
  inputs: Inputs<Args[0]>,
  ...options: [] extends Rest<Args>
    ? [options?: MapOptions<Rest<Args>, Arrived<Awaited<Result>>>]
    : [options: MapOptions<Rest<Args>, Arrived<Awaited<Result>>> & { args: Rest<Args> }]
) => Results<Arrived<Awaited<Result>>>;

/** The type of a task under `pool.map`. */
export type Mapper<Fn> =
  Fn extends Task<infer _Context, infer Args, infer Result>
    ? MapperOf<Args, Result>
    : Fn extends (...args: infer Args) => infer Result
      ? MapperOf<Args, Result>
      : never;

/** Whether a task gives a stream. */
type GivesStream<Fn> = Fn extends (...args: never[]) => infer Result
  ? [Result] extends [never]
    ? false
    : [Result] extends [AsyncGenerator | Generator]
      ? true
      : false
  : true;

/** The name of a task that gives one result. `never` for a task that gives a stream. */
export type SingleResultName<Tasks, Name extends keyof Tasks> =
  GivesStream<Tasks[Name]> extends true ? never : Name & string;

/** The tasks of a module that give one result, as `pool.map` offers them. */
export type Mappers<Module> = MappersOf<TasksOf<Module>>;

type MappersOf<Tasks> = {
  readonly [Name in keyof Tasks as SingleResultName<Tasks, Name>]: Mapper<Tasks[Name]>;
};

/** Options of `pool.map.name(inputs, options)`. `Rest` are the task's parameters after the first one. */
export interface MapOptions<Rest extends unknown[] = unknown[], Result = unknown> {
  /**
   * Maximum number of inputs whose results were not read. When the results are awaited as an array: maximum number of open calls. Default:
   * twice the number of tasks that the pool runs at once, so that a free worker does not wait for this thread.
   */
  concurrency?: number | undefined;
  /** Whether the results have the order of the inputs. If false, a result comes as soon as its call has ended. Default true. */
  ordered?: boolean | undefined;
  /** Ends everything when it aborts: cancels the open calls and closes the inputs. The reader receives the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The task's arguments after the first one, the same for every call. Not under `move()`, which gives them to the first call. */
  args?: Rest | undefined;
  /**
   * Receives each result as soon as its call has ended, with the index of its input, even if an earlier call has not ended yet. In Node, it
   * runs in the `AsyncLocalStorage` context of the first read. If it throws, or rejects while the mapping is open, everything ends with
   * that error.
   */
  onResult?: { method(result: Result, index: number): void }["method"] | undefined; // checked as a method's parameters
}

/** What a caller passed to `pool.map`. */
export interface MapSource {
  readonly engine: Engine;
  /** Name of the task. */
  readonly name: string;
  readonly inputs: unknown;
  readonly options: MapOptions | undefined;
  /** Options of the calls. */
  readonly call: CallSettings;
}

/**
 * The results of `pool.map`: an async iterable, and a promise-like of an array. Starts nothing before the first `next()` or `then()`. The
 * code behind it is loaded then. The mapping refers to this object only weakly, so it notices when the caller drops it.
 */
export class MapResults extends Reader implements PromiseLike<unknown[]> {
  readonly #source: MapSource;
  #mapping: Promise<Mapping> | undefined;

  constructor(source: MapSource) {
    super();
    this.#source = source;
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#open().then((mapping) => mapping.next(this));
  }

  /** Cancels the open calls and closes the inputs. Does not wait for either. */
  return(): Promise<IteratorResult<unknown>> {
    return this.#open().then((mapping) => mapping.return());
  }

  // biome-ignore lint/suspicious/noThenProperty: the results can be awaited as an array
  then<A = unknown[], B = never>(
    resolve?: ((results: unknown[]) => A | PromiseLike<A>) | null,
    reject?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#open()
      .then((mapping) => mapping.collect(this))
      .then(resolve, reject);
  }

  #open(): Promise<Mapping> {
    this.#mapping ??= this.#source.engine.loadLifecycle().then(({ Mapping }) => Mapping.of(this, this.#source));
    return this.#mapping;
  }
}
