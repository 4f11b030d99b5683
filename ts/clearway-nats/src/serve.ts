// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Makes a process a worker for remote pools: it runs the tasks of a module in its local pool, for callers that reach it over NATS. Callers
 * import `clearway-nats`.
 *
 * @module clearway-nats/serve
 */

export type { DurableOptions, DurableServeOptions } from "./durable/options.js";
export type { DurableServeStats } from "./durable/server.js";
export type { ConnectOptions } from "./options/connect.js";
export type { Mode, ServeLimits, ServeOptions } from "./options/serve.js";
export type { RequestStats } from "./request/request-server.js";
export { type ServerStats, serveTasks, type TaskServer } from "./serve-tasks.js";
