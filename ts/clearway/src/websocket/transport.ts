// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TransportLimits } from "../channel/transport/limits.js";
import type { ChannelTransport } from "../channel/transport/transport.js";
import { invalid } from "../error/clearway-error.js";
import type { WebSocketClass, WebSocketLike } from "./socket-like.js";
import { SocketTransport } from "./socket-transport.js";
import { offers } from "./subprotocol.js";

export interface WebSocketOptions extends TransportLimits {
  /**
   * Token for the server: letters, digits and `- _ . ~ +`. It crosses in the header of the subprotocols, the only header that a page can
   * set. It is not in the URL, because proxies and browsers keep URLs in logs and histories.
   */
  readonly token?: string;
  /** The class of sockets. Default: the host's own. Node has one from 22 on; with older versions, pass the class of the package `ws`. */
  readonly WebSocket?: WebSocketClass;
  /** How long the connection may take to open, in milliseconds. Default: 10,000. */
  readonly openMs?: number;
}

/**
 * Returns a client's end of a channel over a WebSocket. It opens the connection itself, or takes ownership of a standard socket that the
 * caller has opened. Each frame is one binary message (spec/websocket.md). Copies nothing; the host copies once in each direction. Frames
 * sent before the connection is open leave when it opens.
 *
 * Back-pressure: if the other end is Clearway's, `send` returns false when that end has not taken more than `windowBytes`; if not, when
 * more than that wait on this machine. A browser loads a message into memory before code can check its size. A message over the limit
 * still closes the transport.
 *
 * Closes with `refused` or `failed` when the connection did not open (a browser does not say which of them, so it is `failed`), with
 * `timeout` when it was not open in time, with `lost` when it broke, else with the other end's reason. Throws `invalid-argument`, and the
 * host's error for an invalid URL.
 */
export function webSocketTransport(
  target: string | URL | WebSocketLike,
  options: WebSocketOptions = {},
): ChannelTransport {
  const { token, WebSocket = globalThis.WebSocket as WebSocketClass | undefined, openMs = 10_000, ...limits } = options;
  if (!(openMs > 0 && openMs <= 0x7fff_ffff)) throw invalid("openMs", "a number from 1 to 2147483647", openMs);
  if (typeof target !== "string" && !(target instanceof URL)) return new SocketTransport(target, limits, openMs);
  if (WebSocket === undefined)
    throw invalid("WebSocket", "given where the host has none, such as that of the package ws", WebSocket);
  return new SocketTransport(new WebSocket(String(target), offers(token)), limits, openMs);
}
