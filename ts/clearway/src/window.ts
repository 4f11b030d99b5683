// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels between two windows: a page and its frames, or a page and its popup. Checks the origin of the other page.
 *
 * @module clearway/channel/window
 */

export { type WindowLike, type WindowOptions, windowTransport } from "./browser/window.js";
export type { PortOptions } from "./channel/transport/port-like.js";
export type {
  ChannelSink,
  ChannelTransport,
  CloseCode,
  CloseReason,
  TransportLimits,
} from "./channel/transport/transport.js";
