// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import type { ChannelTransport } from "../../../src/channel/transport/transport.js";
import { Op, readFrame, writeFrame, writeHello } from "../../../src/channel/wire/frame.js";
import { Log } from "../transports/contract.js";
import { endWithTest } from "./pairs.js";

export const text = new TextEncoder();
export const call = (id: number, channel = "m"): Uint8Array =>
  writeFrame({ op: Op.call, id, name: text.encode(channel) });
// The real timer, also while a test uses a fake clock.
const { setTimeout: realTimeout } = globalThis;
export const turn = (): Promise<void> => new Promise((resolve) => realTimeout(resolve));

/** Connects an endpoint to a raw transport whose other end reads nothing until it is opened. */
export async function bare(options: EndpointOptions = {}, change = (transport: ChannelTransport) => transport) {
  const [ta, there] = memoryPair({ windowBytes: 1000 });
  there.send(writeHello({ version: 1, wires: ["clearway"], frameBytesMax: 1 << 20, nameBytesMax: 255, callsMax: 9 }));
  const end = await connect(change(ta), { onError: () => {}, ...options });
  endWithTest(end);
  const log = new Log();
  const statuses = (): number[] =>
    log.frames.flatMap((bytes) => {
      const { op, a } = readFrame(bytes, [])!;
      return op === Op.reply ? [a] : [];
    });
  return { end, there, log, statuses };
}

/** Removes `pause`, which a worker's port does not have. */
export const withoutPause = (under: ChannelTransport): ChannelTransport => ({
  name: "bare",
  frameBytesMax: under.frameBytesMax,
  moves: false,
  shares: false,
  open: (sink) => under.open(sink),
  send: (frame) => under.send(frame),
  close: (reason) => under.close(reason),
});

/** Size of a test's answers and events. */
export const answerBytes = 1000;
