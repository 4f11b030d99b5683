// SPDX-License-Identifier: MIT OR Apache-2.0
import { refusal } from "./refusal.js";

const probe = new Uint16Array([1]);

/**
 * The wire has the host's byte order and all hosts known are little-endian, so lists are copied as they lie in memory; a
 * host that is not is refused. Throws `unsupported-host`.
 */
export function requireLittleEndian(one: Uint16Array = probe): void {
  if (new Uint8Array(one.buffer, one.byteOffset)[0] !== 1)
    throw refusal("unsupported-host", "this host is big-endian; the standard codec is little-endian", 0);
}
