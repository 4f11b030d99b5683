// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";

/** A list whose memory was moved away has no length either; it is not taken for an empty one. */
export function requireMemory({ buffer }: ArrayBufferView): void {
  try {
    new Uint8Array(buffer);
  } catch (cause) {
    throw released(cause);
  }
}

/** The error for a list that is not there any more. */
export function released(cause?: unknown): ClearwayError {
  return new ClearwayError("released", "a list's memory was moved away before it was written", { cause });
}
