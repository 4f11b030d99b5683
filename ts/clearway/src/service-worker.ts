// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels between pages and a service worker of their origin.
 *
 * @module clearway/channel/service-worker
 */

export type { TransportLimits } from "./channel/transport/limits.js";
export type { ChannelSink, ChannelTransport, CloseCode, CloseReason } from "./channel/transport/transport.js";
export {
  type ServiceWorkerChannels,
  type ServiceWorkerClient,
  type ServiceWorkerServerOptions,
  serveServiceWorker,
} from "./service-worker/serve.js";
export {
  type ServiceWorkerLike,
  type ServiceWorkerOptions,
  serviceWorkerTransport,
} from "./service-worker/transport.js";
