// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";

/** A message as a plain `Uint8Array` over private memory, and whether lists may be views of it. */
export interface Input {
  readonly bytes: Uint8Array;
  readonly owned: boolean;
}

const shared = typeof SharedArrayBuffer === "undefined" ? undefined : SharedArrayBuffer;

/**
 * The bytes to read from. Shared memory is copied first: another thread could change it between a check and its use.
 * A Buffer becomes a view of what it is, because its `slice` does not copy and its own class would reach the values.
 */
export function input(bytes: Uint8Array, owned: boolean): Input {
  if (!(bytes instanceof Uint8Array)) throw invalid("bytes", "a Uint8Array", bytes);
  if (shared !== undefined && bytes.buffer instanceof shared) return { bytes: new Uint8Array(bytes), owned: true };
  if (bytes.constructor === Uint8Array) return { bytes, owned };
  return { bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), owned };
}

/** Checks the place for a message. Throws `invalid-argument`. */
export function checkTarget(into: Uint8Array, offset: number): void {
  if (!(into instanceof Uint8Array)) throw invalid("into", "a Uint8Array", into);
  if (!(Number.isInteger(offset) && offset >= 0 && offset <= into.length))
    throw invalid("offset", `a whole number from 0 to ${into.length}`, offset);
}
