// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Rules } from "../error/checked.js";
import { ClearwayError, invalid } from "../error/clearway-error.js";

/** How to open, check and close an expensive object that a worker keeps between tasks: a connection, a model, a file. */
export interface ResourceDefinition<T> {
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

const brand = Symbol.for("clearway.resource");

/** A resource, ready for `withResources`. */
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
 * Defines a resource and opens nothing. A worker opens it when it first runs a task that names it.
 *
 * One task at a time holds a resource; a worker that runs several tasks at once opens several. Throws `invalid-argument` for an invalid
 * definition.
 */
export function resource<T>(definition: ResourceDefinition<T>): Resource<T> {
  const times = { idleMs: 30_000, maxAgeMs: Number.POSITIVE_INFINITY, checkAfterMs: 1_000 };
  const complete = checked(definition, rules, times, "resource");
  if (!complete.open) throw invalid("resource.open", "a function", complete.open);
  return { [brand]: complete as typeof complete & typeof times };
}

/** Returns a resource's definition, with defaults filled in. Throws `invalid-argument` for any other value. */
export function definitionOf<T>(resource: Resource<T>): Resource<T>[typeof brand] {
  const definition = resource?.[brand];
  if (definition === undefined) {
    throw new ClearwayError("invalid-argument", "withResources() takes resources made by resource({ open, … })");
  }
  return definition;
}
