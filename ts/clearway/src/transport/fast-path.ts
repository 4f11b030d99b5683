// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Endpoint } from "../host/host.js";
import type { Op } from "./protocol.js";

/**
 * A faster transport next to the port, for small frames. The ring in shared memory implements it.
 *
 * The fast path and the port deliver frames in one common order. Therefore, once a fast path is open, the sender also posts the frames
 * for the port with the fast path's `post`.
 */
export interface FastPath extends Endpoint {
  /**
   * Copies a small frame and sends it. Never blocks. Returns false if the frame must be sent through the port. It has then sent nothing.
   */
  send(op: Op, id: number, a: unknown, b: unknown): boolean;
  /** Bytes of binary memory in the last frame that was sent. */
  readonly binaryBytes: number;
  /** Whether the other side sleeps and still needs a wake-up to read the sent frames. */
  readonly owesWake: boolean;
  /** Wakes the other side if necessary. One message covers all sent frames. */
  wake(): void;
}

/** A placeholder for slot `b` of a chunk. The ring's `send` writes the bytes of binary memory in the chunk's value there. */
export const countBytes = Symbol.for("clearway.countBytes");
