// SPDX-License-Identifier: MIT OR Apache-2.0
// Callers and echoes over Clearway's channels, for any transport. The endpoint's ledger counts the copied bytes.
import {
  binaryCodec,
  type ChannelTransport,
  connect,
  type Endpoint,
  jsonMethodCodec,
  move,
  portTransport,
} from "clearway/channel";
import type { Mechanism } from "../protocol/measured.js";
import type { Caller, ChannelParams, PortKind } from "./caller.js";
import { workerChannel } from "./worker.js";

const NAME = "lab/echo";

// The rows of the standard codec leave the codec to the endpoint, as its users do. Between two own ends on a port, that is structured
// clone; on a wire or a ring, it is the standard codec.

/** Opens a caller. With `moves`, each message transfers its bytes, and the answer transfers them back. */
export async function clearwayCaller(
  transport: ChannelTransport,
  params: ChannelParams,
  moves = false,
): Promise<Caller> {
  const endpoint = await connect(transport);
  return {
    call: callOf(endpoint, params, moves),
    moves,
    copiedBytes: () => {
      const { sent, received } = endpoint.stats().ledger;
      return sent.copiedBytes + received.copiedBytes;
    },
    close: () => endpoint.close(),
  };
}

function callOf(endpoint: Endpoint, { channel, codec }: ChannelParams, moves: boolean): Caller["call"] {
  if (channel === "method") {
    const methods = codec === "json" ? endpoint.methods(NAME, jsonMethodCodec) : endpoint.methods(NAME);
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
 * Echoes calls. Returns at once: the other end may connect later. A rejected hello is left unhandled on purpose, so that it ends
 * the thread or process and fails the measurement.
 */
export function clearwayEcho(transport: ChannelTransport, { channel, codec }: ChannelParams): void {
  void connect(transport).then((endpoint) => {
    if (channel === "method") {
      const methods = codec === "json" ? endpoint.methods(NAME, jsonMethodCodec) : endpoint.methods(NAME);
      methods.handle({ test: (value: unknown) => value });
    } else if (codec === "standard") endpoint.messages(NAME).handle((value) => value);
    else endpoint.messages(NAME, binaryCodec).handle((value) => value);
  });
}

// Clearway's channels over a port: with copied bytes, with moved bytes, or with a ring of shared memory.

export const clearwayKind: PortKind = {
  open: (end, params) => clearwayCaller(portTransport(end.port), params),
  serve: (end, params) => clearwayEcho(portTransport(end.port), params),
};

export const clearwayMoveKind: PortKind = {
  ...clearwayKind,
  open: (end, params) => clearwayCaller(portTransport(end.port), params, true),
};

export const clearwayRingKind: PortKind = {
  open: (end, params) => clearwayCaller(portTransport(end.port, { ring: "offer" }), params),
  serve: (end, params) => clearwayEcho(portTransport(end.port, { ring: "accept" }), params),
};

export const workerClearway: Record<string, Mechanism> = {
  clearway: workerChannel(clearwayKind, "clearway"),
  "clearway-move": workerChannel(clearwayMoveKind, "clearway-move"),
  "clearway-ring": workerChannel(clearwayRingKind, "clearway-ring"),
};
