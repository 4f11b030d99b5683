// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";
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
