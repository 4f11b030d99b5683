// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's channels over any transport: the same calls, the same echo, the ledger's figures.
import {
  binaryCodec,
  type ChannelTransport,
  connect,
  type Endpoint,
  jsonMethodCodec,
  move,
  standardMethodCodec,
} from "clearway/channel";
import type { Caller } from "./caller.js";
import type { Row } from "./row.js";

const NAME = "lab/echo";

/** Opens a caller. `moves`: the message transfers the bytes, and the answer transfers them back. */
export async function clearwayCaller(transport: ChannelTransport, row: Row, moves = false): Promise<Caller> {
  const endpoint = await connect(transport);
  return {
    call: callOf(endpoint, row, moves),
    moves,
    copiedBytes: () => {
      const { sent, received } = endpoint.stats().ledger;
      return sent.copiedBytes + received.copiedBytes;
    },
    close: () => endpoint.close(),
  };
}

function callOf(endpoint: Endpoint, { channel, codec }: Row, moves: boolean): Caller["call"] {
  if (channel === "method") {
    const methods = endpoint.methods(NAME, codec === "json" ? jsonMethodCodec : standardMethodCodec);
    return (value) => methods.call("test", value);
  }
  if (codec === "standard") {
    const messages = endpoint.messages(NAME);
    return (value) => messages.send(value);
  }
  const messages = endpoint.messages(NAME, binaryCodec);
  if (!moves) return (value) => messages.send(value as Uint8Array);
  return (value) => messages.send(move(value as Uint8Array) as unknown as Uint8Array);
}

/**
 * Echoes calls. Does not wait for the other end, which may connect later. A failed hello is not caught: it ends the thread or
 * process, and so fails the measurement.
 */
export function clearwayEcho(transport: ChannelTransport, { channel, codec }: Row): void {
  void connect(transport).then((endpoint) => {
    if (channel === "method") {
      const methods = endpoint.methods(NAME, codec === "json" ? jsonMethodCodec : standardMethodCodec);
      methods.handle({ test: (value: unknown) => value });
    } else if (codec === "standard") endpoint.messages(NAME).handle((value) => value);
    else endpoint.messages(NAME, binaryCodec).handle((value) => value);
  });
}
