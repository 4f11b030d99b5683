// SPDX-License-Identifier: MIT OR Apache-2.0
import { isTransferable, isUntransferable } from "#host";
import { depthMax } from "../error/depth-max.js";
import { tagOf, totalBufferBytes } from "../host/tag.js";

/** The reason why memory was copied instead of moved. */
export type CopyReason =
  /** The memory is in an argument without `move()`. */
  | "argument-not-moved"
  /** The memory is a view of a part of a larger buffer. Moving the buffer would also take memory outside of the view. */
  | "partial-view"
  /** The owner keeps the memory: WebAssembly memory, or Node's buffer pool. */
  | "not-transferable"
  /** A result has at most 512 bytes of memory. Copying them with other frames costs less than a message that moves the memory. */
  | "small"
  /** The worker is a child process (`processes: true`). Nothing moves between processes. */
  | "other-process"
  /** The value has more nodes than the search visits. The size of the memory beyond the limit is not known, so the bytes count as 0. */
  | "search-limit";

/** The result of {@link findMemory}. */
export interface FoundMemory {
  /** The objects to transfer, each once. */
  transfer: object[];
  movedBytes: number;
  sharedBytes: number;
  /** Memory that cannot or should not move. */
  copies: { reason: CopyReason; bytes: number }[];
  /** Whether the value may be too deep for the other side to read. `checkDepth` gives the exact answer. */
  deep: boolean;
  /** Views of a part of a larger buffer. Structured clone of such a view would copy the whole buffer. */
  partial: ArrayBufferView[];
}

/**
 * The maximum number of nodes (properties, elements, entries) that a search visits. A search of 10,000 nodes takes under a millisecond
 * (`ts/clearway/bench/search.mjs`). Structured clone of such a value takes many times longer.
 */
export const searchLimit = 10_000;

/**
 * Finds everything movable in a value: buffers under views, ports, streams and bitmaps, at any depth.
 *
 * Searches plain objects, arrays, maps, sets and class instances. Visits each object once, and at most `limit` nodes. Copies and changes
 * nothing.
 */
export function findMemory(root: unknown, limit: number): FoundMemory {
  const found: FoundMemory = { transfer: [], movedBytes: 0, sharedBytes: 0, copies: [], partial: [], deep: false };
  if (root === null || typeof root !== "object") return found;
  // By far the most common result is a view of a whole buffer. For such a view, the search allocates no sets.
  if (isView(root) && root.buffer instanceof ArrayBuffer && isWhole(root) && !isUntransferable(root.buffer)) {
    found.transfer.push(root.buffer);
    found.movedBytes = root.byteLength;
    return found;
  }
  const transfer = new Set<object>();
  const partial = new Map<ArrayBuffer, ArrayBufferView[]>();
  const fixedMemory = new Set<object>();
  // An iteration over a set includes the entries that its loop adds. This set is therefore also the work list.
  const nodes = new Set<object>([root]);
  let nodesLeft = limit;
  // The search visits the value level by level. If it meets every object only once, the number of levels is the value's depth.
  let references = 1;
  let visited = 0;
  let level = 0;
  let levelEnd = 0;
  let hasCause = false;
  const add = (values: Iterable<unknown>): boolean => {
    for (const value of values) {
      if (--nodesLeft < 0) return false;
      if (value !== null && typeof value === "object") {
        references++;
        nodes.add(value);
      }
    }
    return true;
  };
  for (const node of nodes) {
    if (visited++ === levelEnd) {
      level++;
      levelEnd = nodes.size;
    }
    // Nearly all nodes are plain objects or arrays. Reading their string tags would take a quarter of the search's time.
    const prototype = Object.getPrototypeOf(node);
    if (prototype === Object.prototype || prototype === Array.prototype) {
      if (nodesLeft >= 0) add(Array.isArray(node) ? node : Object.values(node));
      continue;
    }
    const buffer = (isView(node) ? node.buffer : node) as ArrayBuffer;
    const tag = tagOf(buffer);
    if (tag === "ArrayBuffer") {
      if (isView(node) && !isWhole(node)) {
        const views = partial.get(buffer);
        if (!views) partial.set(buffer, [node]);
        else views.push(node);
      } else (isUntransferable(buffer) ? fixedMemory : transfer).add(buffer);
    } else if (tag === shared) fixedMemory.add(buffer);
    else if (isTransferable(node)) transfer.add(node);
    // Beyond the limit, the search still visits the objects that it has met, but not their contents.
    else if (tag === "Error") hasCause ||= typeof (node as Error).cause === "object";
    else if (nodesLeft < 0 || leafTags.includes(tag)) continue;
    else if (isMap(node)) {
      for (const entry of node) if (!add(entry)) break;
    } else add(isSet(node) || Array.isArray(node) ? node : Object.values(node));
  }
  // A value with at most `depthMax` objects cannot be deeper than `depthMax`. If the search met an object twice, or did not visit all
  // objects, the longest path may be longer than the number of levels. The value may then be too deep.
  found.deep = hasCause || nodesLeft < 0 || (nodes.size > depthMax && (level > depthMax || references > nodes.size));
  for (const [buffer, views] of partial) {
    if (transfer.has(buffer)) continue;
    if (!isUntransferable(buffer) && coverBuffer(views, buffer)) {
      // The views cover the whole buffer, so the buffer moves, and the views with it.
      transfer.add(buffer);
      continue;
    }
    found.copies.push({ reason: "partial-view", bytes: views.reduce((sum, view) => sum + view.byteLength, 0) });
    found.partial.push(...views);
  }
  for (const buffer of fixedMemory as Set<ArrayBufferLike>) {
    if (tagOf(buffer) === shared) found.sharedBytes += buffer.byteLength;
    else found.copies.push({ reason: "not-transferable", bytes: buffer.byteLength });
  }
  if (nodesLeft < 0) found.copies.push({ reason: "search-limit", bytes: 0 });
  found.transfer = [...transfer];
  found.movedBytes = totalBufferBytes(found.transfer);
  return found;
}

function isView(node: object): node is ArrayBufferView {
  return ArrayBuffer.isView(node);
}

function isWhole(view: ArrayBufferView): boolean {
  return view.byteLength === view.buffer.byteLength;
}

const shared = "SharedArrayBuffer";
/** The tags of objects that cannot contain anything movable. */
const leafTags = ["Date", "RegExp"];

/** Returns whether the value is a Map. Also finds maps of other realms, and subclass instances with another string tag. */
export function isMap(value: unknown): value is Map<unknown, unknown> {
  return value instanceof Map || tagOf(value) === "Map";
}

/** Returns whether the value is a Set. See {@link isMap}. */
export function isSet(value: unknown): value is Set<unknown> {
  return value instanceof Set || tagOf(value) === "Set";
}

// Returns whether the views together cover the whole buffer. The views may overlap.
function coverBuffer(views: readonly ArrayBufferView[], buffer: ArrayBuffer): boolean {
  let end = 0;
  for (const view of [...views].sort((a, b) => a.byteOffset - b.byteOffset)) {
    if (view.byteOffset <= end) end = Math.max(end, view.byteOffset + view.byteLength);
  }
  return end === buffer.byteLength;
}
