// SPDX-License-Identifier: MIT OR Apache-2.0

import { inside } from "../error/depth.js";
import { structuredClone } from "../globals.js";
import { isBuffer } from "../host/structure.js";

// A search for a name in a message, after a failure, must not hold the thread: about a millisecond.
const nodesMax = 10_000;

// Objects that structured clone refuses unless they move. Whether this one moves is not known here.
const movable = /^(MessagePort|ReadableStream|WritableStream|TransformStream|OffscreenCanvas|RTCDataChannel)$/;

type Part = readonly [value: unknown, path: string];

/**
 * Returns where in `value` the part is that structured clone refuses, as JavaScript reads it: `.b.deep[1].onClick`. Empty for the value itself,
 * and if no such part is found among the first 10,000. Searches in the order of structured clone. Calls no getter.
 */
export function pathToUncloneable(value: unknown): string {
  const seen = new Set<unknown>();
  const stack: Part[] = [[value, ""]];
  for (let count = 0; count < nodesMax; count++) {
    const next = stack.pop();
    if (!next) break;
    const [part, path] = next;
    if (typeof part === "function" || typeof part === "symbol") return path;
    if (part === null || typeof part !== "object" || seen.has(part)) continue;
    seen.add(part);
    try {
      const inside = partsOf(part, path);
      if (inside.length === 0 && isRefused(part)) return path;
      for (const each of inside.reverse()) stack.push(each);
    } catch {
      // A trap of a proxy, which structured clone refuses.
      return path;
    }
  }
  return "";
}

function partsOf(part: object, path: string): Part[] {
  const parts: Part[] = [];
  if (ArrayBuffer.isView(part)) return parts;
  if (part instanceof Map) {
    for (const [key, each] of Map.prototype.entries.call(part)) {
      parts.push([key, `${path} (a key)`], [each, `${path}.get(${Object(key) === key ? "…" : shownKey(key)})`]);
      if (parts.length > nodesMax) return parts;
    }
    return parts;
  }
  if (part instanceof Set) {
    for (const each of Set.prototype.values.call(part)) {
      parts.push([each, `${path} (a value of the set)`]);
      if (parts.length > nodesMax) return parts;
    }
    return parts;
  }
  const keys = Object.keys(part);
  if (part instanceof Error) keys.push("cause");
  for (const key of keys.slice(0, nodesMax)) {
    const property = Object.getOwnPropertyDescriptor(part, key);
    if (property && "value" in property) parts.push([property.value, path + stepTo(key)]);
  }
  return parts;
}

function stepTo(key: string): string {
  if (/^\d+$/.test(key)) return `[${key}]`;
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

const shownKey = (key: unknown): string => (typeof key === "string" ? JSON.stringify(key) : String(key));

// An object without properties is cheap to clone.
function isRefused(part: object): boolean {
  if (
    Array.isArray(part) ||
    ArrayBuffer.isView(part) ||
    movable.test(Object.prototype.toString.call(part).slice(8, -1))
  )
    return false;
  try {
    structuredClone(part);
    return false;
  } catch {
    return true;
  }
}

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
