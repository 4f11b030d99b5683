// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Functions as arguments of calls: a task calls back into its caller's thread. Callers import `callback`, and task modules the type
 * `Callback`.
 *
 * @module clearway/callback
 */

export { type CallbackOptions, callback } from "./callback/callback.js";
export type { Callback, CallbackArgument } from "./task/callback-types.js";
