// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels over a WebSocket, as the client. Works in browsers and in Node.
 *
 * @module clearway/channel/websocket
 */

export type {
  ChannelSink,
  ChannelTransport,
  CloseCode,
  CloseReason,
  TransportLimits,
} from "./channel/transport/transport.js";
export type { WebSocketClass, WebSocketLike } from "./websocket/socket.js";
export { type WebSocketOptions, webSocketTransport } from "./websocket/transport.js";
