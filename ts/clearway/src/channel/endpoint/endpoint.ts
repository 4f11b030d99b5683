// SPDX-License-Identifier: MIT OR Apache-2.0

import { onAbort } from "#host";
import { abortOf, checked, onRejected, type Rules } from "../../error/checked.js";
import { ClearwayError, invalid } from "../../error/clearway-error.js";
import { asyncDispose, clearTimeout, OwnPromise, type Timer } from "../../globals.js";
import { timeLimit } from "../../lazy/lazy.js";
import { type MessageCodec, type MethodCodec, requireLittleEndian } from "../codec/codec.js";
import { standardMessageCodec, standardMethodCodec } from "../codec/standard.js";
import {
  type ChannelSink,
  type ChannelTransport,
  type CloseReason,
  closeCodes,
  closedHere,
  type ValueFrame,
} from "../transport/transport.js";
import {
  agree,
  frameBytesMin,
  type Hello,
  readFrame,
  readHello,
  type WireName,
  wireVersion,
  writeHello,
} from "../wire/frame.js";
import type { ChannelLedger } from "./attachments.js";
import { Core } from "./core.js";
import { type Events, eventsOf } from "./events.js";
import { type Messages, messagesOf } from "./messages.js";
import { type Methods, methodsOf } from "./methods.js";
import { type EndpointOptions, type EndpointSettings, settingsOf } from "./options.js";
import { cloneMessageCodec, cloneMethodCodec } from "./outgoing-value.js";
import { failed, guarded, roomOf } from "./transport-calls.js";

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
   * Closes the endpoint. Starts no new call, ends the streams that this end serves, and refuses new ones with `no-handler`. Waits for its
   * own calls and for posts that wait for room; then refuses calls, too, and waits for those that run. After at most `timeoutMs`
   * milliseconds (default: 5,000) it closes the transport. Unfinished work rejects with `transport-closed`. `await using` calls `close` too.
   */
  close(options?: { timeoutMs?: number | undefined }): Promise<void>;
  /** Closes the transport at once. All open work of both ends fails with `transport-closed`. */
  terminate(reason?: CloseReason): void;
}

const closeRules: Rules = { timeoutMs: 0 };
const reasonRules: Rules = { code: closeCodes, message: "string", detail: "object", cause: () => true };

function endpointOf(core: Core): Endpoint {
  const { connection } = core;
  const messageCodec = connection.clones ? cloneMessageCodec : standardMessageCodec;
  const methodCodec = connection.clones ? cloneMethodCodec : standardMethodCodec;
  return {
    wire: connection.wire,
    closed: core.closed,
    codec: connection.codec,
    messages: <T, W>(name: string, codec = messageCodec as unknown as MessageCodec<T, W>) =>
      messagesOf(core, name, codec),
    methods: (name, codec = methodCodec) => methodsOf(core, name, codec),
    events: (name, codec = methodCodec) => eventsOf(core, name, codec),
    stats: () => core.stats,
    close: async (options = {}) => core.close(checked(options, closeRules).timeoutMs),
    terminate: (reason = closedHere) => core.terminate(checked(reason, reasonRules, closedHere)),
    [asyncDispose]: () => core.close(),
  };
}

/**
 * Connects an endpoint over a transport. Both ends send a hello and agree on the wire. Takes ownership of the transport, and
 * closes it if the connection fails. After `invalid-argument`, the transport stays open and belongs to the caller. Register
 * handlers as soon as the promise settles. Messages that arrive earlier wait, within limits. Rejects with:
 *
 * - `invalid-argument`, for an argument that is not valid;
 * - `protocol`, if the other end's wire, version or frame limit does not fit, or if its first frame is not a hello;
 * - `deadline`, if the other end sends no hello within `helloMs`;
 * - `transport-closed`, if the transport closes before the hello;
 * - the signal's reason, if the signal aborts.
 */
export async function connect(transport: ChannelTransport, options: EndpointOptions = {}): Promise<Endpoint> {
  if (typeof transport?.open !== "function") throw invalid("transport", "a ChannelTransport", transport);
  const settings = settingsOf(options);
  if (!(transport.frameBytesMax >= frameBytesMin))
    throw invalid("transport.frameBytesMax", `at least ${frameBytesMin}`, transport.frameBytesMax);
  requireLittleEndian();
  return new OwnPromise((resolve, reject) => {
    const handshake = new Handshake(transport, settings, resolve, reject);
    try {
      handshake.begin();
    } catch (error) {
      handshake.fail(error, failed(error));
    }
  });
}

function noClone({ name, clones }: ChannelTransport): string {
  return clones === undefined
    ? `the transport "${name}" carries only bytes: leave out the option codec, or set it to "standard"`
    : 'the other end takes no values by structured clone: set codec: "clone" at both ends, or leave it out here';
}

/** The transport's sink. It handles the hello, then passes frames to the endpoint's core. */
class Handshake implements ChannelSink {
  #core: Core | undefined;
  #timer: Timer | undefined;
  /** Whether the transport delivers to this handshake. */
  #opened = false;
  #over = false;
  #unlisten = (): void => {};

  constructor(
    readonly transport: ChannelTransport,
    readonly settings: EndpointSettings,
    readonly resolve: (endpoint: Endpoint) => void,
    readonly reject: (reason: unknown) => void,
  ) {}

  begin(): void {
    const { transport, settings } = this;
    const { hello, helloMs, signal, wires, nameBytesMax, callsMax } = settings;
    const abort = (reason: unknown): void => this.fail(reason, { code: "closed", message: "gave up" });
    const { codec = transport.clones === "preferred" && wires.includes("clearway") ? "clone" : "standard" } = settings;
    if (codec === "clone") this.value = (frame) => this.#value(frame);
    onRejected(transport.open(this), (cause) => {
      if (this.#core) this.#core.terminate(failed(cause));
      else this.fail(cause, failed(cause));
    });
    this.#opened = true;
    const aborted = abortOf(signal);
    if (aborted) return abort(aborted.reason);
    if (!hello) return this.#agreed("plain", undefined);
    if (signal) {
      const unlisten = onAbort(signal, abort);
      // The signal may be an object of the app whose `addEventListener` runs the app's code. That code may have aborted the
      // signal or closed the transport.
      if (this.#over) return unlisten();
      this.#unlisten = unlisten;
    }
    if (helloMs !== Number.POSITIVE_INFINITY)
      this.#timer = timeLimit(helloMs, () => {
        const message = `the other end has not said hello within ${helloMs} ms`;
        this.fail(new ClearwayError("deadline", message), { code: "timeout", message });
      });
    const { frameBytesMax } = transport;
    roomOf(transport.send(writeHello({ version: wireVersion, wires, frameBytesMax, nameBytesMax, callsMax })));
  }

  /** Receives values. Undefined if this end takes none: the transport then tells the other end so. */
  value: ((frame: ValueFrame) => void) | undefined;

  frame(frame: Uint8Array, attachments: readonly Uint8Array[]): void {
    if (this.#core) return this.#core.frame(frame, attachments);
    if (this.#over) return;
    const parts = readFrame(frame, attachments);
    const there = parts && readHello(parts);
    if (there === undefined)
      return this.#refuse(
        'the other end said no hello; for a foreign end that has none: { wire: "plain", hello: false }',
      );
    if (there.version !== wireVersion)
      return this.#refuse(`the other end speaks version ${there.version} of the wire, and this one ${wireVersion}`);
    if (there.frameBytesMax < frameBytesMin)
      return this.#refuse(
        `the other end takes frames of ${there.frameBytesMax} bytes; at least ${frameBytesMin} are needed`,
      );
    const wire = agree(this.settings.wires, there.wires);
    if (wire === undefined)
      return this.#refuse(`no wire in common: ${this.settings.wires.join()} here, ${there.wires.join()} there`);
    const clones = wire === "clearway" && this.value !== undefined && this.transport.peerClones === true;
    if (this.settings.codec === "clone" && !clones) return this.#refuse(noClone(this.transport));
    this.#agreed(wire, there, clones);
  }

  #value(frame: ValueFrame): void {
    if (this.#core) this.#core.value(frame);
    else if (!this.#over) this.#refuse("the other end sent a value before its hello");
  }

  drained(): void {
    this.#core?.drained();
  }

  closed(reason: CloseReason): void {
    if (this.#core) return this.#core.ended(reason);
    const error = new ClearwayError("transport-closed", `before the hello: ${reason.message}`, { cause: reason.cause });
    this.#settle();
    this.reject(Object.assign(error, { reason }));
  }

  #agreed(wire: WireName, there: Hello | undefined, clones = false): void {
    this.#settle();
    this.#core = new Core(this.transport, this.settings, wire, there, clones);
    this.resolve(endpointOf(this.#core));
  }

  #refuse(message: string): void {
    this.fail(new ClearwayError("protocol", message), { code: "protocol", message });
  }

  /** Rejects with the error and closes the transport. Does nothing if the handshake is over. */
  fail(error: unknown, reason: CloseReason): void {
    if (this.#over) return;
    this.#settle();
    this.reject(error);
    // The transport of another endpoint refuses to be opened. It stays open.
    if (!this.#opened && error instanceof ClearwayError && error.code === "invalid-argument") return;
    // The caller receives the first error.
    guarded(
      () => this.transport.close(reason),
      () => {},
    );
  }

  #settle(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#unlisten();
  }
}
