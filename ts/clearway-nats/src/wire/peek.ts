// SPDX-License-Identifier: MIT OR Apache-2.0
import { Op } from "./op.js";

// The first bytes of every message, by the standard codec: the tag of a list, its size in one byte, the tag of an int32, and the op.
const listTag = 12;
const int32Tag = 3;
const opAt = 3;

/**
 * Returns whether a message is a part of a large one, without decoding it. The content of a part is copied to its place at once, so the
 * decoder may return a view of the message.
 */
export function isPart(bytes: Uint8Array): boolean {
  return bytes[0] === listTag && bytes[2] === int32Tag && bytes[opAt] === Op.part;
}
