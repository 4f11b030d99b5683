// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels between pages and a service worker of their origin.
 *
 * @module clearway/channel/service-worker
 */

export {
  type ServiceWorkerChannels,
  type ServiceWorkerClient,
  type ServiceWorkerLike,
  type ServiceWorkerOptions,
  type ServiceWorkerServerOptions,
  serveServiceWorker,
  serviceWorkerTransport,
} from "./browser/service-worker.js";
export type {
  ChannelSink,
  ChannelTransport,
  CloseCode,
  CloseReason,
  TransportLimits,
} from "./channel/transport/transport.js";
