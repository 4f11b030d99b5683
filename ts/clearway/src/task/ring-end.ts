// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Endpoint } from "../host/host.js";
import { type LaneOwner, RingLane } from "../transport/ring/ring-lane.js";
import { SpinThenPark, type Watched } from "./spin-then-park.js";

/** The worker's end of its rings, which looks after itself from the first `watch` on. */
export class RingEnd extends RingLane {
  readonly #spinner: SpinThenPark;

  /** Throws `protocol` when `memory` is no ring of this version. */
  constructor(memory: SharedArrayBuffer, endpoint: Endpoint, owner: LaneOwner & Watched) {
    super(memory, "worker", endpoint, owner);
    this.#spinner = new SpinThenPark(this, owner);
    // What left before there was a ring may still be under way by port, unnumbered, and the caller may look into the ring
    // before its event loop brings that. A first message behind it, with its mark, keeps the ring's frames behind both.
    this.post([], none);
  }

  /** A message of the port was read. */
  watch(): void {
    this.#spinner.watch();
  }
}

const none: readonly object[] = [];
