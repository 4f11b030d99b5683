// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels between the parts of a browser extension, over `runtime.Port`.
 *
 * @module clearway/channel/extension
 */

export { type ExtensionEvent, type ExtensionPort, extensionTransport } from "./browser/extension.js";
export type {
  ChannelSink,
  ChannelTransport,
  CloseCode,
  CloseReason,
  TransportLimits,
} from "./channel/transport/transport.js";
