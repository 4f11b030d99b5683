// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Op } from "./protocol.js";

/**
 * Carries frames to the other side, in order. The suite in `test/transport` tests every implementation against this contract:
 *
 * - `send` takes a frame and returns at once; it never blocks. The frame leaves at the end of the tick, or earlier with `flush`.
 * - The objects in `transfer` move when the frame leaves. The caller must not use them after `send`.
 * - A frame that cannot be encoded does not affect the other frames. The transport passes that frame and the reason to `OnRefused`. The
 *   sender keeps the frame's `transfer` objects.
 */
export interface Transport {
  /** Whether a flush will come without a further request. `send` requests one only while this is false. `Linger` delays it. */
  scheduled: boolean;
  send(op: Op, id: number, a?: unknown, b?: unknown, transfer?: readonly object[]): void;
  /** Posts all waiting frames now. */
  flush(): void;
  /**
   * Called after a value that a task or a source has handed over, at `nowMs`. The thread may now be busy for long, so the value must not wait
   * for the end of the tick. Posts the waiting frames, except in a burst of many values: there at most an eighth of the values waits for
   * the next one. `bytes` is the weight of the value.
   */
  hurry(nowMs: number, bytes?: number): void;
  /** Drops all waiting frames, and all frames that `send` takes later. Sends no wake-up for the frames that were sent before. */
  close(): void;
}

/** Receives a frame that could not be sent, and the objects that the frame would have moved. */
export type OnRefused = (
  op: Op,
  id: number,
  a: unknown,
  reason: unknown,
  transfer: readonly object[],
  b: unknown,
) => void;
