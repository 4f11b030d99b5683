// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Rules } from "../error/checked.js";
import { ClearwayError, invalid } from "../error/clearway-error.js";

/**
 * Describes how to open, check and close an expensive object, such as a connection, a model or a file. A worker keeps the object between
 * tasks.
 */
export interface ResourceDefinition<T> {
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

const brand = Symbol.for("clearway.resource");

/** A resource that `resource()` has defined. Pass it to `withResources`. */
export interface Resource<T> {
  readonly [brand]: Required<Pick<ResourceDefinition<T>, "idleMs" | "maxAgeMs" | "checkAfterMs">> &
    ResourceDefinition<T>;
}

const rules: Rules = {
  open: "function",
  check: "function",
  close: "function",
  cancel: "function",
  idleMs: 0,
  maxAgeMs: 0,
  checkAfterMs: 0,
};

/**
 * Defines a resource. Does not open it: a worker opens the resource when it first runs a task that names it.
 *
 * Only one task at a time holds an open resource. A worker that runs several tasks at once opens the resource several times. Throws
 * `invalid-argument` for an invalid definition.
 */
export function resource<T>(definition: ResourceDefinition<T>): Resource<T> {
  const times = { idleMs: 30_000, maxAgeMs: Number.POSITIVE_INFINITY, checkAfterMs: 1_000 };
  const complete = checked(definition, rules, times, "resource");
  if (!complete.open) throw invalid("resource.open", "a function", complete.open);
  return { [brand]: complete as typeof complete & typeof times };
}

/** Returns the definition of a resource, with defaults filled in. Throws `invalid-argument` for any other value. */
export function definitionOf<T>(resource: Resource<T>): Resource<T>[typeof brand] {
  const definition = resource?.[brand];
  if (definition === undefined) {
    throw new ClearwayError("invalid-argument", "withResources() takes resources made by resource({ open, … })");
  }
  return definition;
}
