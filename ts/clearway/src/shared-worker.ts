// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels between pages and a shared worker of their origin.
 *
 * @module clearway/channel/shared-worker
 */

export {
  type SharedWorkerChannels,
  type SharedWorkerLike,
  type SharedWorkerServerOptions,
  serveSharedWorker,
  sharedWorkerTransport,
} from "./browser/shared-worker.js";
export type { PortLike } from "./channel/transport/port-like.js";
export type {
  ChannelSink,
  ChannelTransport,
  CloseCode,
  CloseReason,
  TransportLimits,
} from "./channel/transport/transport.js";
