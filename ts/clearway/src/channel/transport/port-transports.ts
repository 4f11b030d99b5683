// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";
import { newMessageChannel, structuredClone } from "../../globals.js";
import { PortChannelTransport } from "./port.js";
import { defaultPortWindowBytes, type PortLike, type PortOptions } from "./port-like.js";
import { type ChannelTransport, type TransportLimits, transportOptions } from "./transport.js";

/**
 * Returns a transport over a worker's port. Small frames of one tick are sent as one message. Two ends that both take values exchange
 * them by structured clone, unless there is a ring (see `codec` of `connect`). Attachments are moved, and shared memory is shared.
 * `close` closes a `MessagePort`, but leaves a worker running. An open transport keeps a Node process alive, like any port with
 * listeners. Throws `invalid-argument`.
 */
export function portTransport(port: PortLike, options: PortOptions = {}): ChannelTransport {
  if (typeof port?.postMessage !== "function") throw invalid("port", "a MessagePort or a worker", port);
  const rules = { ring: ["offer", "accept"] };
  return new PortChannelTransport(port, transportOptions(options, rules, { windowBytes: defaultPortWindowBytes }));
}

/** Carries frames over a `MessagePort` whose other end is of the same origin, and in a thread with which no memory can be shared. */
export class UnsharedPortTransport extends PortChannelTransport {
  override readonly name: string;
  override readonly shares = false;
  readonly #ended: () => void;

  /** `ended` is called once, when the transport has ended. */
  constructor(name: string, port: PortLike, limits: Required<TransportLimits>, ended: () => void) {
    super(port, limits);
    this.name = name;
    this.#ended = ended;
  }

  protected override disconnect(port: PortLike): void {
    super.disconnect(port);
    this.#ended();
  }
}

/** A message that waits, in memory of its own. */
interface Held {
  readonly message: unknown;
  readonly transfer: never[];
}

/**
 * The end of a new channel whose other end is handed over in a message. Messages wait here until then, copied and moved as if they were
 * posted: Firefox loses what was posted before the hand-over if the port closes soon after it. A port must not close before its hand-over.
 */
export class HandedOverPort implements PortLike {
  /** The port of this end. */
  readonly kept: MessagePort;
  readonly #given: MessagePort;
  /** Undefined after the hand-over. */
  #held: Held[] | undefined = [];

  constructor() {
    const { port1, port2 } = newMessageChannel();
    this.kept = port1;
    this.#given = port2;
  }

  get handedOver(): boolean {
    return this.#held === undefined;
  }

  postMessage(message: unknown, transfer: never[]): void {
    // The copy of the list names the moved objects.
    if (this.#held) this.#held.push(structuredClone({ message, transfer }, { transfer }));
    else this.kept.postMessage(message, transfer);
  }

  /** Calls `hand`, which posts the other end's port, then posts what waits. If `hand` throws, nothing has happened. */
  handOver(hand: (port: MessagePort) => void): void {
    hand(this.#given);
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { message, transfer } of held) this.kept.postMessage(message, transfer);
  }

  /** Closes this end, and the other end's port if no other page has it. */
  close(): void {
    this.kept.close();
    if (!this.handedOver) this.#given.close();
  }
}
