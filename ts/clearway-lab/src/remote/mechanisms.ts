// SPDX-License-Identifier: MIT OR Apache-2.0
// The mechanisms of the family `remote`, by scenario. Node only.
import { remoteMechanism } from "./measure.js";

/** Needs NATS's client and server. */
export const natsCalls = { "nats-request": remoteMechanism("nats-request") };
/** Needs the package clearway-nats and a server. */
export const clearwayCalls = { clearway: remoteMechanism("clearway") };
/** Needs BullMQ and Redis. */
export const bullmqCalls = { bullmq: remoteMechanism("bullmq") };
/** Needs nothing but Node. */
export const httpCalls = { http: remoteMechanism("http") };

export const jetstreamCalls = { jetstream: remoteMechanism("jetstream") };
export const clearwayDurableCalls = { clearway: remoteMechanism("clearway-durable") };
export const bullmqDurableCalls = { bullmq: remoteMechanism("bullmq-durable") };
