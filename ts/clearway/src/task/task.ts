// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, object, type Rules, whole } from "../error/checked.js";
import { ClearwayError, invalid } from "../error/clearway-error.js";
import { definitionOf, type Resource } from "../resource/resource.js";
import type { TaskKind } from "../transport/protocol.js";

/** What a task knows of the call that it serves. It comes first among the task's parameters. */
export interface TaskContext {
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
export interface TaskOptions {
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
const brand = Symbol.for("clearway.task");
const exposedBrand = Symbol.for("clearway.exposed");

/** A function that wants its context first. Callable as it is, so that a unit test may bring its own context. */
export interface Task<Context, Args extends unknown[], Result> {
  (context: Context, ...args: Args): Result;
  readonly [taskTypes]: { context: Context; args: Args; result: Result };
}

/** What is known of a task when it runs. */
export interface TaskDefinition {
  readonly run: (...args: unknown[]) => unknown;
  readonly wantsContext: boolean;
  readonly resources: Readonly<Record<string, Resource<unknown>>> | undefined;
  readonly moveSearchLimit: number | undefined;
  readonly placement: TaskPlacement | undefined;
  readonly kind: TaskKind;
}

/** Where a task may run, as its module says. */
export type TaskPlacement = "auto" | "worker";

type Fn<Context, Args extends unknown[], Result> = (context: Context, ...args: Args) => Result;

/** Makes a task of a function that takes its {@link TaskContext} first. The caller does not see that parameter. */
export function task<Args extends unknown[], Result>(
  fn: Fn<TaskContext, Args, Result>,
): Task<TaskContext, Args, Result>;
export function task<Args extends unknown[], Result>(
  options: TaskOptions,
  fn: Fn<TaskContext, Args, Result>,
): Task<TaskContext, Args, Result>;
export function task(first: unknown, second?: unknown): unknown {
  return second === undefined ? define({}, first, undefined) : define(first as TaskOptions, second, undefined);
}

/** The values of some resources, by name. */
export type ResourceValues<Resources> = {
  readonly [Name in keyof Resources]: Resources[Name] extends Resource<infer T> ? Awaited<T> : never;
};

/** Makes tasks whose context also holds leased resources. */
export interface Leased<Resources> {
  <Args extends unknown[], Result>(
    fn: Fn<TaskContext & ResourceValues<Resources>, Args, Result>,
  ): Task<TaskContext & ResourceValues<Resources>, Args, Result>;
  <Args extends unknown[], Result>(
    options: TaskOptions,
    fn: Fn<TaskContext & ResourceValues<Resources>, Args, Result>,
  ): Task<TaskContext & ResourceValues<Resources>, Args, Result>;
}

/** Gives a `task` whose context holds these resources: each is opened when such a task first runs in a worker. */
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

/** The tasks of a module. */
export type TaskMap = Readonly<Record<string, (...args: never[]) => unknown>>;

/** The tasks of a module that a pool may start. */
export type Exposed<Tasks> = Tasks & { readonly [exposedBrand]?: true };

const taskRules: Rules = { moveSearchLimit: whole(0), placement: ["auto", "worker"] };

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
  // Wrapped rather than marked: the same function may be a plain task elsewhere.
  const wrapped = (...args: unknown[]): unknown => run(...args);
  return Object.defineProperty(wrapped, brand, { value: definition });
}

/** The definition of an exposed task, wrapped or plain. */
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

/** Whether a task gave a generator: it should have been one. */
export function isGenerator(value: unknown): boolean {
  return value !== null && typeof value === "object" && Object.prototype.toString.call(value).includes("Generator");
}

// The caller has to know before the first answer whether it gets a promise or a stream; the function's own syntax tells.
function kindOf(fn: object): TaskKind {
  const tag = (fn as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag];
  return tag === "GeneratorFunction" || tag === "AsyncGeneratorFunction" ? "stream" : "function";
}
