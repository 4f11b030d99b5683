// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Rules, whole } from "../error/checked.js";
import { invalid } from "../error/clearway-error.js";
import type { CallbackArgument } from "../task/callback-types.js";
import { MarkedFunction } from "./marked-function.js";

/** Options of {@link callback}. */
export interface CallbackOptions {
  /**
   * Maximum number of calls of the function that have no answer, at least 1. Further calls wait in the task. With 1, the function runs
   * again only after its promise has settled. Default 64.
   */
  concurrency?: number;
}

/** The rules and defaults of the options. */
export const rules: Rules = { concurrency: whole(1) };
export const defaults = { concurrency: 64 };

/**
 * Marks a function that a task may call: `pool.call.search(text, callback((percent) => bar.set(percent)))`. The task receives an
 * asynchronous function, a `Callback`. The mark must be an argument itself. Inside another value, the call fails with `not-cloneable`.
 *
 * The function runs on this thread, in the async context of the call, in the order in which the task calls it. Its arguments are copies,
 * unless the task moves them. Its value is copied to the task, or moved under `move()`; an error that it throws rejects the task's promise.
 *
 * It ends with the call: after the call has settled, the function is not called any more, and calls that the task still makes reject with
 * `callback-ended`. The call's result waits until all calls that the task has made are sent, but not until they are answered.
 *
 * A call with a callback never runs again in another worker once it has begun. The same mark may be an argument of several calls.
 * Throws `invalid-argument` if `fn` is not a function, or for an invalid option.
 */
export function callback<Args extends unknown[], Result>(
  fn: (...args: Args) => Result,
  options: CallbackOptions = {},
): CallbackArgument<(...args: Args) => Result> {
  if (typeof fn !== "function") throw invalid("fn", "a function", fn);
  const { concurrency } = checked(options, rules, defaults);
  const marked: unknown = new MarkedFunction(fn as (...args: unknown[]) => unknown, concurrency!);
  return marked as CallbackArgument<typeof fn>;
}
