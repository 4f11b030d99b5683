// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Op } from "./protocol.js";

/**
 * Carries frames to the other side, in order. The suite in `test/transport` tests this contract with every carrier:
 *
 * - `send` takes a frame and returns at once; it never blocks. The frame leaves at the end of the tick, or earlier with `flush`.
 * - `transfer` is moved when the frame leaves. The caller must not use it after `send`.
 * - A frame that cannot be encoded does not affect the others. `refused` receives that frame and the reason; the sender keeps the objects
 *   that it would have moved.
 */
export interface Transport {
  send(op: Op, id: number, a?: unknown, b?: unknown, transfer?: readonly object[]): void;
  /** Posts the frames sent so far, now. */
  flush(): void;
  /** Drops the frames that have not left. Nothing leaves after this, and no wake-up is sent for frames that have left. */
  close(): void;
}

/** Receives a frame that could not cross, with the objects it would have moved. */
export type Refused = (
  op: Op,
  id: number,
  a: unknown,
  reason: unknown,
  transfer: readonly object[],
  b: unknown,
) => void;
