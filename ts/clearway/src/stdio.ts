// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels to other processes, over their standard streams or any pair of streams. Node only.
 *
 * @module clearway/channel/stdio
 */

export type {
  ChannelSink,
  ChannelTransport,
  CloseCode,
  CloseReason,
  TransportLimits,
} from "./channel/transport/transport.js";
export { childTransport, parentTransport, type StdioStreams, streamTransport } from "./stdio/stdio-transport.js";
