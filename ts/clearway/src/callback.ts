// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Functions and objects as arguments of calls: a task calls back into its caller's thread. Callers import `callback` and `proxy`, and task
 * modules the types `Callback` and `Remote`.
 *
 * @module clearway/callback
 */

export { type CallbackOptions, callback, type ProxyOptions, proxy } from "./callback/callback.js";
export type { Callback, CallbackArgument, MethodNames, ProxyArgument, Remote } from "./task/callback-stub.js";
