// SPDX-License-Identifier: MIT OR Apache-2.0
import { inside } from "../error/depth.js";
import { isBuffer } from "../host/tag.js";

// The approximate number of bytes of a number, a key or an object's header in a message.
const nodeBytes = 8;

/**
 * Estimates the bytes that a copy of a value takes in memory. Counts texts, binary memory, and 8 bytes for each value inside. Stops at
 * `limit` and returns at most `limit`. Throws if a getter in the value throws.
 */
export function roughBytes(root: unknown, limit: number): number {
  let bytes = 0;
  const nodes = new Set<object>();
  const add = (value: unknown): void => {
    bytes += nodeBytes;
    if (typeof value === "string") bytes += value.length;
    else if (typeof value === "object" && value !== null) nodes.add(value);
  };
  add(root);
  for (const node of nodes) {
    if (ArrayBuffer.isView(node) || isBuffer(node)) bytes += node.byteLength;
    else inside(node).forEach(add);
    if (bytes >= limit) break;
  }
  return Math.min(bytes, limit);
}

// A copy of less takes some milliseconds, even of small objects.
const slowBytesMin = 2 ** 18;

/** Returns whether a value is so large that its copy may be slow. The copy of a small one is slow only because the machine is busy. */
export function mayBeSlow(value: unknown): boolean {
  try {
    return roughBytes(value, slowBytesMin) >= slowBytesMin;
  } catch {
    return false; // a getter
  }
}
