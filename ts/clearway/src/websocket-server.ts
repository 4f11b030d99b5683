// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels over WebSockets, as the server. Node only. Needs the package `ws`.
 *
 * @module clearway/channel/websocket-server
 */

export type {
  ChannelSink,
  ChannelTransport,
  CloseCode,
  CloseReason,
  TransportLimits,
} from "./channel/transport/transport.js";
export type { CheckToken, WebSocketServerOptions } from "./websocket-server/options.js";
export { type OnTransport, serveWebSockets, type WebSocketChannels } from "./websocket-server/serve.js";
