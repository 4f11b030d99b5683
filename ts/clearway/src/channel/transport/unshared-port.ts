// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TransportLimits } from "./limits.js";
import { PortChannelTransport } from "./port.js";
import type { PortLike } from "./port-like.js";

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
