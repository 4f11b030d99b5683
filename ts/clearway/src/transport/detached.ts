// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Throws `DataCloneError` for a buffer that was moved before. Node 20 posts one without a word, and the whole message arrives
 * as a `messageerror`. Newer ones throw; this can go with Node 20.
 */
export function refuseDetached(object: object): void {
  if (!(object instanceof ArrayBuffer) || object.byteLength > 0) return;
  try {
    new Uint8Array(object);
  } catch {
    throw new DOMException("An ArrayBuffer was moved before and could not be moved again.", "DataCloneError");
  }
}
