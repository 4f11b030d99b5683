// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TransportLimits } from "../channel/transport/limits.js";
import type { ChannelTransport } from "../channel/transport/transport.js";
import { invalid } from "../error/clearway-error.js";
import type { WebSocketClass, WebSocketLike } from "./socket-like.js";
import { SocketTransport } from "./socket-transport.js";
import { offers } from "./subprotocol.js";

export interface WebSocketOptions extends TransportLimits {
  /**
   * Shown to the server: letters, digits and `- _ . ~ +`. It travels in the header of the subprotocols and not in the URL,
   * which proxies and browsers keep in logs and histories; a page has no other header to set.
   */
  readonly token?: string;
  /** The class of sockets; default the host's own. Node has one from 22 on; before, take that of the package `ws`. */
  readonly WebSocket?: WebSocketClass;
  /** How long the connection may take until it is open, in milliseconds; default 10,000. */
  readonly openMs?: number;
}

/**
 * A client's end of a channel over a WebSocket: a connection that it opens, or a socket of the standard's kind that you have
 * opened and that is the transport's from now on. One binary message a frame (spec/websocket.md). Copies nothing; the host
 * copies once each way. What is sent before the connection is open leaves then.
 *
 * Backpressure: where the other end is Clearway's, `send` returns false when more than `windowBytes` were not taken there;
 * where it is not, when more wait on this machine. A browser takes a message into memory before anybody can look at its size;
 * one over the limit closes the transport all the same.
 *
 * The end: `refused` or `failed` where it did not open (a browser does not say which, and says `failed`), `timeout` where it
 * was not open in time, `lost` where the connection broke, else what the other end said. Throws `invalid-argument`, and the
 * host's error for a URL that is none.
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
