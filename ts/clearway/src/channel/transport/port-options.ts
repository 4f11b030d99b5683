// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TransportLimits } from "./limits.js";

// Several messages of 1 MiB fit, with the half that the other end has not reported yet. With a window of 1 MiB, each message waits until the
// other end has taken the one before, so both threads sleep once for each.
export const defaultPortWindowBytes = 8 << 20;

/** Settings of a port that carries channels. */
export interface PortOptions extends TransportLimits {
  /** Number of bytes that may be in flight before `send` returns false. Default: 8 MiB. A single larger frame is still sent. */
  readonly windowBytes?: number;
  /**
   * Adds a ring of shared memory to the port, for frames of at most 512 bytes. While both ends are awake, such a frame needs no
   * message of the port. One end sets "offer", and the other end must set "accept". An end that does not set "accept" closes
   * with `protocol` if the other end offers a ring. If the offering end has no shared memory, it offers no ring, and the port
   * carries every frame. An end that was just busy polls the ring for 200 us, between its own turns of the event loop.
   */
  readonly ring?: "offer" | "accept";
}
