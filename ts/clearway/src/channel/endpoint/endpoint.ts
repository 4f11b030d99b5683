// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Rules } from "../../error/checked.js";
import type { MessageCodec, MethodCodec } from "../codec/codec.js";
import { standardMessageCodec, standardMethodCodec } from "../codec/standard.js";
import { type CloseReason, closeCodes, closedHere } from "../transport/transport.js";
import type { WireName } from "../wire/hello.js";
import { cloneMessageCodec, cloneMethodCodec } from "./clone-codec.js";
import type { Core } from "./core.js";
import { type Events, eventsOf } from "./events.js";
import type { ChannelLedger } from "./ledger.js";
import { type Messages, messagesOf } from "./messages.js";
import { type Methods, methodsOf } from "./methods.js";

/** Counts of an endpoint's open work, and its counters of moved and copied bytes. */
export interface EndpointStats {
  readonly wire: WireName;
  readonly codec: "clone" | "standard";
  readonly transport: string;
  /** Calls of this end that wait for their answers. */
  readonly calls: number;
  /** Calls and posts of the other end whose handlers have not ended, or whose answers have not been sent. */
  readonly handling: number;
  /** Bytes of answers and of pushed events that wait for the other end to read. `replyBytesMax` limits each of the two sums. */
  readonly waitingBytes: number;
  /** Streams that this end listens to. */
  readonly listening: number;
  readonly serving: number;
  readonly ledger: ChannelLedger;
}

/** One end of a connection. Both ends have the same functions. A channel has a name, and creating one sends nothing. */
export interface Endpoint extends AsyncDisposable {
  /** The wire that both ends agreed on. */
  readonly wire: WireName;
  /** The codec of channels that name none, which both ends agreed on: see the option `codec` of `connect`. */
  readonly codec: "clone" | "standard";
  /** Resolves to the reason when either end has closed the transport. Never rejects. */
  readonly closed: Promise<CloseReason>;
  /** Returns a channel of messages with the codec that both ends agreed on. Throws `invalid-argument` for a name that is too long. */
  messages(name: string): Messages<unknown>;
  /** Returns a channel of messages with another codec. Throws `invalid-argument` for a name that is too long. */
  messages<T, Written = T>(name: string, codec: MessageCodec<T, Written>): Messages<T, Written>;
  /** Returns a channel of methods. Throws `invalid-argument` for a name that is too long. */
  methods(name: string, codec?: MethodCodec): Methods;
  /** Returns a channel of events. Throws `invalid-argument` for a name that is too long. */
  events(name: string, codec?: MethodCodec): Events;
  /** Returns a copy of the counters. */
  stats(): EndpointStats;
  /**
   * Closes the endpoint. Starts no new work, ends the streams that this end serves, and waits for open calls of both ends.
   * After at most `timeoutMs` milliseconds (default: 5,000) it closes the transport. Unfinished work rejects with
   * `transport-closed`. `await using` calls `close` too.
   */
  close(options?: { timeoutMs?: number }): Promise<void>;
  /** Closes the transport at once. All open work of both ends fails with `transport-closed`. */
  terminate(reason?: CloseReason): void;
}

const closeMs = 5_000;
const closeRules: Rules = { timeoutMs: 0 };
const reasonRules: Rules = { code: closeCodes, message: "string", detail: "object", cause: () => true };

export function endpointOf(core: Core): Endpoint {
  const { connection } = core;
  const messageCodec = connection.clones ? cloneMessageCodec : standardMessageCodec;
  const methodCodec = connection.clones ? cloneMethodCodec : standardMethodCodec;
  const close = (timeoutMs = closeMs): Promise<void> => core.close(timeoutMs);
  return {
    wire: connection.wire,
    closed: core.closed,
    codec: connection.codec,
    messages: <T, W>(name: string, codec = messageCodec as unknown as MessageCodec<T, W>) =>
      messagesOf(core, name, codec),
    methods: (name, codec = methodCodec) => methodsOf(core, name, codec),
    events: (name, codec = methodCodec) => eventsOf(core, name, codec),
    stats: () => core.stats,
    close: async (options = {}) => close(checked(options, closeRules, { timeoutMs: closeMs }).timeoutMs),
    terminate: (reason = closedHere) => core.terminate(checked(reason, reasonRules, closedHere)),
    [Symbol.asyncDispose]: () => close(),
  };
}
