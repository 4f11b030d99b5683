// SPDX-License-Identifier: MIT OR Apache-2.0
import { portTransport } from "../../../src/channel/transport/port.js";
import { type Connected, channelTransportContract } from "./contract.js";

channelTransportContract("port", (wanted): Connected => {
  const { port1, port2 } = new MessageChannel();
  const ends = { a: portTransport(port1, wanted), b: portTransport(port2, wanted) };
  // Chromium does not tell a port that its other end was closed without a word.
  return "on" in port2 ? { ...ends, kill: () => port2.close() } : ends;
});
