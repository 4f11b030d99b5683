// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Bytes that a node (a property, element or entry) counts. Structured clone reads about five nodes in a microsecond, so a window of 1 MiB
 * holds nodes for 3 ms.
 */
const nodeBytes = 64;

/** Values up to this size weigh nothing: 1,024 of them take a turn of the event loop about a millisecond. */
const freeBytes = 1024;

/** Maximum number of nodes that are counted. */
const nodesMax = 10_000;

/** The weight of a value with more nodes: by default, no second value may then be in flight. */
export const weightMax = 1 << 20;

/**
 * Estimates how many bytes structured clone reads for a value, without its binary memory. A stream counts them against `window.bytes`, so
 * that few large values are in flight: one turn of the reader's event loop may have to receive them all.
 *
 * Reads each property, as structured clone does. Visits at most 10,000 nodes. Returns 0 for small values, and for a value that cannot be
 * read. Allocates a list of the objects in it.
 */
export function weightOf(value: unknown): number {
  try {
    const bytes = typeof value === "string" ? value.length : bytesOf(value);
    return bytes > freeBytes ? Math.min(bytes, weightMax) : 0;
  } catch {
    // A getter or a trap threw. The transport reports that when it reads the value.
    return 0;
  }
}

function bytesOf(root: unknown): number {
  if (typeof root !== "object" || root === null) return 0;
  let waiting: object[] | undefined;
  let nodes = 0;
  let textLength = 0;
  const count = (value: unknown): void => {
    nodes++;
    if (typeof value === "string") textLength += value.length;
    else if (typeof value === "object" && value !== null) {
      // Most values are objects of a few primitives. For these, the search allocates no list.
      waiting ??= [];
      waiting.push(value);
    }
  };
  for (let object: object | undefined = root; object !== undefined; object = waiting?.pop()) {
    if (ArrayBuffer.isView(object)) continue;
    if (Array.isArray(object)) {
      const { length } = object;
      if (length > nodesMax) return weightMax;
      // By index, as structured clone reads it: an array may have an iterator of its own, which may never end.
      for (let at = 0; at < length; at++) count(object[at]);
    } else if (object instanceof Map) {
      if (object.size > nodesMax) return weightMax;
      Map.prototype.forEach.call(object, (value, key) => {
        count(value);
        count(key);
      });
    } else if (object instanceof Set) {
      if (object.size > nodesMax) return weightMax;
      Set.prototype.forEach.call(object, count);
    } else {
      for (const key in object) {
        count((object as Record<string, unknown>)[key]);
        if (nodes > nodesMax) return weightMax;
      }
    }
    // Also ends the search of a value that contains itself.
    if (nodes > nodesMax) return weightMax;
  }
  return nodes * nodeBytes + textLength;
}
