// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels over a WebSocket, as the client. Works in browsers and in Node.
 *
 * @module clearway/channel/websocket
 */

import { type ChannelTransport, type TransportLimits, transportOptions } from "./channel/transport/transport.js";
import type { Rules, Test } from "./error/checked.js";
import { invalid } from "./error/clearway-error.js";
import { keepAlive, offers, type WebSocketClass, type WebSocketLike } from "./websocket/socket.js";
import { SocketTransport } from "./websocket/socket-transport.js";

export type {
  ChannelSink,
  ChannelTransport,
  CloseCode,
  CloseReason,
  TransportLimits,
} from "./channel/transport/transport.js";
export type { WebSocketClass, WebSocketLike } from "./websocket/socket.js";

export interface WebSocketOptions extends TransportLimits {
  /**
   * Token for the server. It consists of letters, digits and `- _ . ~ +`. The client sends it in the header of the
   * subprotocols, the only header that a page can set. The token is not in the URL, because proxies and browsers keep URLs in
   * logs and histories.
   */
  readonly token?: string | undefined;
  /**
   * The class of sockets. Default: the host's own class. Node has one from version 22 on. With older versions, pass the class
   * of the package `ws`.
   */
  readonly WebSocket?: WebSocketClass | undefined;
  /** Maximum time for the connection to open, in milliseconds. Default: 10,000. */
  readonly openMs?: number | undefined;
  /**
   * Interval of pings, in milliseconds. The transport closes with `lost` if nothing arrives for one interval after a ping, unless bytes of a
   * large message leave. Only sockets of the package `ws` can ping. Default: 15,000.
   */
  readonly pingMs?: number | undefined;
}

/**
 * Returns the client's end of a channel over a WebSocket. It opens the connection itself, or takes ownership of a standard
 * socket that the caller has created. Each frame is one binary message (spec/websocket.md). The transport copies only frames in
 * shared memory. The host copies every frame once in each direction. Frames that are sent before the connection is open leave
 * when it opens.
 *
 * Back-pressure depends on the other end. If that end is Clearway's, `send` returns false when `windowBytes` or more were sent
 * and not yet taken there. For any other end, `send` returns false when `windowBytes` or more wait on this machine. A browser loads
 * a message into memory before code can check the message's size. A message over the limit still closes the transport.
 *
 * The transport closes with:
 *
 * - `refused`, if the server refused the connection. Only the package `ws` reports a refusal; with other classes the code is
 *   `failed`.
 * - `failed`, if the connection did not open for another reason.
 * - `timeout`, if the connection was not open within `openMs`.
 * - `lost`, if the connection broke, or if the other end does not answer a ping.
 * - the other end's reason in all other cases.
 *
 * Throws `invalid-argument`, and the host's error for an invalid URL.
 */
export function webSocketTransport(
  target: string | URL | WebSocketLike,
  options: WebSocketOptions = {},
): ChannelTransport {
  const settings = transportOptions(options, rules);
  const { token, WebSocket = globalThis.WebSocket as WebSocketClass | undefined } = settings;
  const protocols = offers(token);
  if (typeof target !== "string" && !(target instanceof URL)) {
    if (!isSocket(target)) throw invalid("target", "a URL or a WebSocket", target);
    return kept(target, settings);
  }
  if (WebSocket === undefined)
    throw invalid("WebSocket", "given where the host has none, such as that of the package ws", WebSocket);
  return kept(new WebSocket(String(target), protocols), settings);
}

function kept(
  socket: WebSocketLike,
  { openMs = defaults.openMs, pingMs = defaults.pingMs, ...limits }: WebSocketOptions & Required<TransportLimits>,
): ChannelTransport {
  const transport = new SocketTransport(socket, limits, openMs);
  // A browser's socket cannot ping.
  if (hasProcesses) keepAlive(socket, pingMs, (reason) => transport.abort(reason));
  return transport;
}

const defaults = { openMs: 10_000, pingMs: 15_000 };

const milliseconds: Test = (value) =>
  (typeof value === "number" && value > 0 && value <= 0x7fff_ffff) || "a number from 1 to 2147483647";

const rules: Rules = {
  // `offers` checks the token, because an error must not contain it.
  token: () => true,
  WebSocket: "function",
  openMs: milliseconds,
  pingMs: milliseconds,
};

function isSocket(value: Partial<WebSocketLike> | null | undefined): value is WebSocketLike {
  return typeof value?.addEventListener === "function" && typeof value.send === "function";
}
