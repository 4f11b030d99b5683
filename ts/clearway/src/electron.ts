// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels between the processes of an Electron app.
 *
 * @module clearway/channel/electron
 */

export type { TransportLimits } from "./channel/transport/limits.js";
export type { ChannelSink, ChannelTransport, CloseCode, CloseReason } from "./channel/transport/transport.js";
export { type ElectronPort, electronTransport } from "./electron/transport.js";
