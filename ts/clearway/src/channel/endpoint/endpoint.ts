// SPDX-License-Identifier: MIT OR Apache-2.0
import type { MessageCodec, MethodCodec } from "../codec/codec.js";
import { standardMessageCodec, standardMethodCodec } from "../codec/standard.js";
import type { CloseReason } from "../transport/transport.js";
import type { WireName } from "../wire/hello.js";
import { controlChannel, resizeMessage } from "./control.js";
import type { Core } from "./core.js";
import { type Events, eventsOf } from "./events.js";
import type { ChannelLedger } from "./ledger.js";
import { nothing } from "./link.js";
import { type Messages, messagesOf } from "./messages.js";
import { type Methods, methodsOf } from "./methods.js";

/** What an endpoint does just now, and has moved and copied so far. */
export interface EndpointStats {
  readonly wire: WireName;
  readonly transport: string;
  /** Calls of this end that wait for their answers. */
  readonly calls: number;
  /** Calls of the other end that take a place: their handlers have not ended, or their answers have not left. */
  readonly handling: number;
  /** Bytes of answers and of pushed events that wait for the other end to read (`replyBytesMax`, each). */
  readonly waitingBytes: number;
  /** Streams that this end listens to, and that it serves. */
  readonly listening: number;
  readonly serving: number;
  readonly ledger: ChannelLedger;
}

/** One end of a way between two; the other is the same. Channels are named, and cost nothing to make. */
export interface Endpoint extends AsyncDisposable {
  /** The wire that both ends agreed on. */
  readonly wire: WireName;
  /** Settles with the reason when the transport is closed, whoever closed it. Never rejects. */
  readonly closed: Promise<CloseReason>;
  /** A channel of messages, with the standard codec unless given another. Throws `invalid-argument` for a name too long. */
  messages(name: string): Messages<unknown>;
  messages<T, Written = T>(name: string, codec: MessageCodec<T, Written>): Messages<T, Written>;
  /** A channel of methods. */
  methods(name: string, codec?: MethodCodec): Methods;
  /** A channel of events. */
  events(name: string, codec?: MethodCodec): Events;
  /** Sets how many early messages of a channel the other end keeps until that has a handler. Rejects as a method's call does. */
  resize(channel: string, count: number): Promise<void>;
  /** A copy of the counters; made when asked for. */
  stats(): EndpointStats;
  /**
   * Closes: begins nothing new, ends the streams that it serves, waits until calls both ways are answered, `timeoutMs` (5 s) at
   * most, then closes the transport. What is left rejects with `transport-closed`. `await using` does the same.
   */
  close(options?: { timeoutMs?: number }): Promise<void>;
  /** Closes at once. Everything under way, both ways, ends with `transport-closed`. */
  terminate(reason?: CloseReason): void;
}

const closeMs = 5_000;

export function endpointOf(core: Core): Endpoint {
  const close = (timeoutMs: number): Promise<void> => core.close(timeoutMs);
  return {
    wire: core.link.wire,
    closed: core.closed,
    messages: <T, W>(name: string, codec = standardMessageCodec as unknown as MessageCodec<T, W>) =>
      messagesOf(core, name, codec),
    methods: (name, codec = standardMethodCodec) => methodsOf(core, name, codec),
    events: (name, codec = standardMethodCodec) => eventsOf(core, name, codec),
    async resize(channel, count) {
      await core.call(controlChannel, { ...nothing, body: resizeMessage(channel, count) }, {});
    },
    stats: () => core.stats,
    close: ({ timeoutMs = closeMs } = {}) => close(timeoutMs),
    terminate: (reason) => core.terminate(reason),
    [Symbol.asyncDispose]: () => close(closeMs),
  };
}
