// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Endpoint } from "../host/host.js";
import type { Op } from "./protocol.js";

/**
 * A faster transport beside the port, for small frames. Both share one order: once a fast path is open, the frames that leave by port are
 * posted through it, too. The ring of shared memory implements it.
 */
export interface FastPath extends Endpoint {
  /** Sends a small frame, copying it. Returns false when the frame has to go by port; then nothing has left. Never blocks. */
  send(op: Op, id: number, a: unknown, b: unknown): boolean;
  /** Bytes of binary memory in the frame sent last. */
  readonly binaryBytes: number;
  /** Whether the other side sleeps and no message has woken it for the sent frames. */
  readonly owesWake: boolean;
  /** Wakes the other side if necessary, with one message for all sent frames. */
  wake(): void;
}

/** A chunk's `b`, if a ring's `send` is to write the bytes of binary memory in its value there. */
export const countBytes = Symbol.for("clearway.countBytes");
