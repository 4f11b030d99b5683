// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Rules } from "../error/checked.js";
import { ClearwayError, invalid } from "../error/clearway-error.js";

/** How to open, check and close something dear that a worker keeps between tasks: a connection, a model, a file. */
export interface ResourceDefinition<T> {
  /** Opens it, inside the worker, when a task first needs it. What it throws fails the task with `resource-failed`. */
  open(): T | PromiseLike<T>;
  /** Whether it can still be used. `false`, or an error thrown, closes it and opens another. */
  check?(value: T): boolean | PromiseLike<boolean>;
  /** Closes it. Errors are ignored: it is given up in any case. */
  close?(value: T): void | PromiseLike<void>;
  /**
   * Called at once when the task that holds it is cancelled or runs out of time, before the task has ended: cancel the
   * query that runs on the connection. Afterwards the resource is closed, for its state is not known.
   */
  cancel?(value: T): void | PromiseLike<void>;
  /** Closed after so long without use, in milliseconds. Default 30,000; Infinity keeps it. */
  idleMs?: number;
  /** Not used again when so old, in milliseconds, counted from opening. Default Infinity. */
  maxAgeMs?: number;
  /** Checked before use when it has not been used for so long, in milliseconds. Default 1,000; 0 checks each time. */
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
 * Defines a resource. Opens nothing: a worker opens it when a task that names it first runs there. One task at a time
 * holds it; a worker that runs several tasks at once opens several. Throws `invalid-argument` for a definition that is none.
 */
export function resource<T>(definition: ResourceDefinition<T>): Resource<T> {
  const times = { idleMs: 30_000, maxAgeMs: Number.POSITIVE_INFINITY, checkAfterMs: 1_000 };
  const complete = checked(definition, rules, times, "resource");
  if (!complete.open) throw invalid("resource.open", "a function", complete.open);
  return { [brand]: complete as typeof complete & typeof times };
}

/** The completed definition of a resource. */
export function definitionOf<T>(resource: Resource<T>): Resource<T>[typeof brand] {
  const definition = resource?.[brand];
  if (definition === undefined) {
    throw new ClearwayError("invalid-argument", "withResources() takes resources made by resource({ open, … })");
  }
  return definition;
}
