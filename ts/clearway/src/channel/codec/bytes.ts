// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";
import { codecError } from "./codec-error.js";

/** A message in memory that no other thread can change. */
export interface Input {
  readonly bytes: Uint8Array;
  /** Whether decoded lists may be views of the memory. */
  readonly viewsAllowed: boolean;
}

const shared = typeof SharedArrayBuffer === "undefined" ? undefined : SharedArrayBuffer;

/**
 * Prepares bytes for a `Reader`. Copies shared memory, because another thread could change it between a check and its use.
 * Replaces a Node `Buffer` by a `Uint8Array` over the same memory: `Buffer.slice` does not copy, and decoded values would be
 * `Buffer` objects. Throws `invalid-argument`.
 */
export function input(bytes: Uint8Array, viewsAllowed: boolean): Input {
  if (!(bytes instanceof Uint8Array)) throw invalid("bytes", "a Uint8Array", bytes);
  if (shared !== undefined && bytes.buffer instanceof shared)
    return { bytes: new Uint8Array(bytes), viewsAllowed: true };
  if (bytes.constructor === Uint8Array) return { bytes, viewsAllowed };
  return { bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), viewsAllowed };
}

/** Checks the arguments of `encodeInto`. Throws `invalid-argument`. */
export function checkTarget(into: Uint8Array, offset: number): void {
  if (!(into instanceof Uint8Array)) throw invalid("into", "a Uint8Array", into);
  if (!(Number.isInteger(offset) && offset >= 0 && offset <= into.length))
    throw invalid("offset", `a whole number from 0 to ${into.length}`, offset);
}

/**
 * Copies a message into `into` at `offset`. Returns the message's length in bytes, or -1 if the message does not fit. Throws
 * `invalid-argument`.
 */
export function copyInto(message: Uint8Array, into: Uint8Array, offset: number): number {
  checkTarget(into, offset);
  if (message.length > into.length - offset) return -1;
  into.set(message, offset);
  return message.length;
}

const probe = new Uint16Array([1]);

/**
 * Throws `unsupported-host` on a big-endian host. The codec copies lists of numbers in the host's byte order, and the wire is
 * little-endian. Tests pass their own array as `one`.
 */
export function requireLittleEndian(one: Uint16Array = probe): void {
  if (new Uint8Array(one.buffer, one.byteOffset)[0] !== 1)
    throw codecError("unsupported-host", "this host is big-endian; the standard codec is little-endian", 0);
}
