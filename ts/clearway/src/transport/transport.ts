// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Op } from "./protocol.js";

/**
 * Carries frames to the other side, in order. The contract that every carrier keeps (the suite `test/transport` runs over
 * each of them):
 *
 * - `send` takes a frame and returns at once; it never blocks. The frame leaves at the latest at the end of the tick, or
 *   with `flush`.
 * - `transfer` is moved when the frame leaves; the caller no longer touches it.
 * - A frame that cannot be encoded does not hurt the others: it alone is handed to `refused`, with the reason, and what
 *   it would have moved is still the sender's.
 */
export interface Transport {
  send(op: Op, id: number, a?: unknown, b?: unknown, transfer?: readonly object[]): void;
  /** Posts what was sent so far, now. */
  flush(): void;
  /** Drops what has not left; nothing leaves any more, and nobody is woken for what has. */
  close(): void;
}

/** Told of a frame that could not cross, with what it would have moved. */
export type Refused = (
  op: Op,
  id: number,
  a: unknown,
  reason: unknown,
  transfer: readonly object[],
  b: unknown,
) => void;
