// SPDX-License-Identifier: MIT OR Apache-2.0
import { onTestFinished } from "vitest";
import { connect, type Endpoint } from "../../../src/channel/endpoint/endpoint.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { portTransport } from "../../../src/channel/transport/port-transports.js";
import type {
  ChannelSink,
  ChannelTransport,
  CloseReason,
  TransportLimits,
} from "../../../src/channel/transport/transport.js";
import { Op, readFrame, writeFrame, writeHello } from "../../../src/channel/wire/frame.js";
import { Log } from "../transports/contract.js";

export type TransportPair = [ChannelTransport, ChannelTransport];

/** A transport without attachments, like a socket: wraps the in-memory pair. */
class BytesOnly implements ChannelTransport {
  readonly name = "bytes";
  readonly moves = false;
  readonly shares = false;
  readonly frameBytesMax: number;

  constructor(readonly under: ChannelTransport) {
    this.frameBytesMax = under.frameBytesMax;
  }

  open(sink: ChannelSink): void {
    this.under.open(sink);
  }

  send(frame: Uint8Array, attachments: readonly Uint8Array[] = []): boolean {
    if (attachments.length > 0) throw new Error("attachments on a transport of bytes");
    return this.under.send(frame);
  }

  close(reason?: CloseReason): void {
    this.under.close(reason);
  }
}

export const transports: Readonly<Record<string, (limits?: TransportLimits) => TransportPair>> = {
  memory: (limits) => memoryPair(limits),
  bytes: (limits) => memoryPair(limits).map((each) => new BytesOnly(each)) as unknown as TransportPair,
  port: (limits) => {
    const { port1, port2 } = new MessageChannel();
    return [portTransport(port1, limits), portTransport(port2, limits)];
  },
  // Without shared memory this is a plain port.
  "port and ring": (limits) => {
    const { port1, port2 } = new MessageChannel();
    return [portTransport(port1, { ...limits, ring: "offer" }), portTransport(port2, { ...limits, ring: "accept" })];
  },
};

/** Terminates endpoints when their test has finished. */
export function endWithTest(...ends: readonly Endpoint[]): void {
  onTestFinished(() => {
    for (const each of ends) each.terminate();
  });
}

/** Connects two endpoints, which end with their test, and returns them with their transports. */
export async function endpoints(...given: Parameters<typeof connected>): ReturnType<typeof connected> {
  const ends = await connected(...given);
  endWithTest(ends.a, ends.b);
  return ends;
}

/** Connects two endpoints, and returns them with their transports. */
export async function connected(
  [ta, tb]: TransportPair = memoryPair(),
  options: EndpointOptions = {},
  there: EndpointOptions = options,
): Promise<{ a: Endpoint; b: Endpoint; ta: ChannelTransport; tb: ChannelTransport }> {
  const [a, b] = await Promise.all([connect(ta, options), connect(tb, there)]);
  return { a, b, ta, tb };
}

/** Returns the error that a promise rejects with. Fails when the promise resolves. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it settled");
}

/** Waits until a condition holds, and checks it once per turn of the event loop. */
export async function until(met: () => boolean): Promise<void> {
  while (!met()) await new Promise((resolve) => setTimeout(resolve));
}

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
