// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Pools whose workers run in other processes, on this machine or on others, over NATS. Worker processes import `clearway-nats/serve`.
 *
 * @module clearway-nats
 */

export type { ConnectOptions } from "./options/connect.js";
export type { CommonPoolOptions, RemoteCallOptions, RemotePoolLimits, RemotePoolOptions } from "./options/pool.js";
export type { RemoteAdvice, RemoteTaskAdvice } from "./request/advice.js";
export type { RemoteCallable, RemotePool, RemotePoolStats, RemoteTaskStats } from "./request/remote-pool.js";
export { remotePool } from "./remote-pool.js";
