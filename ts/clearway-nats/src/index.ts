// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Pools whose workers run in other processes, on this machine or on others, over NATS. Worker processes import `clearway-nats/serve`.
 *
 * @module clearway-nats
 */

export { type CallbackOutcome, readCallback } from "./durable/callback.js";
export type { DurablePoolStats } from "./durable/caller.js";
export type { DurableCallerOptions, DurableOptions } from "./durable/options.js";
export type {
  DurableArguments,
  DurableCallable,
  DurableCallers,
  DurableCallOptions,
  DurablePool,
  ResultOptions,
  SubmitOptions,
} from "./durable/pool.js";
export type { ConnectOptions } from "./options/connect.js";
export type {
  CommonPoolOptions,
  DurableRemotePoolOptions,
  RemoteCallOptions,
  RemotePoolLimits,
  RemotePoolOptions,
} from "./options/pool.js";
export { remotePool } from "./remote-pool.js";
export type { RemoteAdvice, RemoteTaskAdvice } from "./request/advice.js";
export type { RemoteCallable, RemotePool, RemotePoolStats, RemoteTaskStats } from "./request/remote-pool.js";
