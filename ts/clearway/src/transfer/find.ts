// SPDX-License-Identifier: MIT OR Apache-2.0
import { isTransferable, isUntransferable } from "#host";
import { depthMax } from "../error/depth-max.js";
import { isBuffer, tagOf } from "../host/tag.js";

/** Why memory was copied where it might have been moved. */
export type CopyReason =
  /** An argument that was not under `move()`. */
  | "argument-not-moved"
  /** A view on part of a larger buffer: moving the buffer would take memory that the value does not show. */
  | "partial-view"
  /** Memory that its owner does not let go: WebAssembly memory, Node's buffer pool. */
  | "not-transferable"
  /** So little (512 bytes of a result at most) that copying it beside other frames costs less than a message that moves it. */
  | "small"
  /** The value has more nodes than the search looks at; what lies beyond was not seen (bytes unknown, counted as 0). */
  | "search-limit";

/** What {@link find} found in a value. */
export interface Found {
  /** What to transfer, each object once. */
  transfer: object[];
  movedBytes: number;
  sharedBytes: number;
  /** What cannot move, or ought not to. */
  copies: { reason: CopyReason; bytes: number }[];
  /** Whether it may be nested too deep to be read on the other side: `checkDepth` knows. */
  deep: boolean;
  /** Views that show part of a larger buffer. Cloned as they are, they would take the whole buffer along. */
  partial: ArrayBufferView[];
}

/**
 * How many nodes (properties, elements, entries) a search looks at, at most. 10,000 nodes take under a millisecond
 * (`bench/line/search.mjs`), which a result of that size spends many times over in structured clone.
 */
export const searchLimit = 10_000;

/**
 * Finds everything in a value that can be moved: buffers under views, ports, streams, bitmaps, at any depth, through
 * plain objects, arrays, maps, sets and class instances; cycles are followed once. Looks at `limit` nodes at most.
 * Copies and changes nothing.
 */
export function find(root: unknown, limit: number): Found {
  const found: Found = { transfer: [], movedBytes: 0, sharedBytes: 0, copies: [], partial: [], deep: false };
  if (root === null || typeof root !== "object") return found;
  // The commonest result by far, a whole view, without any set.
  if (isView(root) && root.buffer instanceof ArrayBuffer && isWhole(root) && !isUntransferable(root.buffer)) {
    found.transfer.push(root.buffer);
    found.movedBytes = root.byteLength;
    return found;
  }
  const transfer = new Set<object>();
  const partial = new Map<ArrayBuffer, ArrayBufferView[]>();
  const memory = new Set<object>();
  // A set gives out what is added while it is gone through, so it is the list of work too.
  const nodes = new Set<object>([root]);
  let left = limit;
  // While every object is met once, the search knows how deep the value is: it goes level by level.
  let met = 1;
  let opened = 0;
  let level = 0;
  let levelEnd = 0;
  let chained = false;
  const add = (values: Iterable<unknown>): boolean => {
    for (const value of values) {
      if (--left < 0) return false;
      if (value !== null && typeof value === "object") {
        met++;
        nodes.add(value);
      }
    }
    return true;
  };
  for (const node of nodes) {
    if (opened++ === levelEnd) {
      level++;
      levelEnd = nodes.size;
    }
    // Nearly all nodes are plain; asking for a tag would cost them a quarter of the search.
    const prototype = Object.getPrototypeOf(node);
    if (prototype === Object.prototype || prototype === Array.prototype) {
      if (left >= 0) add(Array.isArray(node) ? node : Object.values(node));
      continue;
    }
    const buffer = (isView(node) ? node.buffer : node) as ArrayBuffer;
    const tag = tagOf(buffer);
    if (tag === "ArrayBuffer") {
      if (isView(node) && !isWhole(node)) {
        const views = partial.get(buffer);
        if (!views) partial.set(buffer, [node]);
        else views.push(node);
      } else (isUntransferable(buffer) ? memory : transfer).add(buffer);
    } else if (tag === shared) memory.add(buffer);
    else if (isTransferable(node)) transfer.add(node);
    // Past the limit only what was already found is looked at, and nothing more is opened.
    else if (tag === "Error") chained ||= typeof (node as Error).cause === "object";
    else if (left < 0 || closed.includes(tag)) continue;
    else if (isMap(node)) {
      for (const entry of node) if (!add(entry)) break;
    } else add(isSet(node) || Array.isArray(node) ? node : Object.values(node));
  }
  // Fewer objects than that cannot be nested deeper. Where one was met twice or not all were seen, the longest way counts.
  found.deep = chained || left < 0 || (nodes.size > depthMax && (level > depthMax || met > nodes.size));
  for (const [buffer, views] of partial) {
    if (transfer.has(buffer)) continue;
    if (!isUntransferable(buffer) && showsAll(views, buffer)) {
      // It moves, and the views with it.
      transfer.add(buffer);
      continue;
    }
    found.copies.push({ reason: "partial-view", bytes: views.reduce((sum, view) => sum + view.byteLength, 0) });
    found.partial.push(...views);
  }
  for (const buffer of memory as Set<ArrayBufferLike>) {
    if (tagOf(buffer) === shared) found.sharedBytes += buffer.byteLength;
    else found.copies.push({ reason: "not-transferable", bytes: buffer.byteLength });
  }
  if (left < 0) found.copies.push({ reason: "search-limit", bytes: 0 });
  found.transfer = [...transfer];
  found.movedBytes = bufferBytes(found.transfer);
  return found;
}

/** Bytes of the buffers among these objects. */
export function bufferBytes(objects: readonly object[]): number {
  return objects.reduce((sum, each) => sum + (isBuffer(each) ? each.byteLength : 0), 0);
}

function isView(node: object): node is ArrayBufferView {
  return ArrayBuffer.isView(node);
}

function isWhole(view: ArrayBufferView): boolean {
  return view.byteLength === view.buffer.byteLength;
}

const shared = "SharedArrayBuffer";
/** What has nothing inside that could move. */
const closed = ["Error", "Date", "RegExp"];

/** A Map of any realm, or of a class of this one that is tagged otherwise. */
export function isMap(value: unknown): value is Map<unknown, unknown> {
  return value instanceof Map || tagOf(value) === "Map";
}

/** As {@link isMap}. */
export function isSet(value: unknown): value is Set<unknown> {
  return value instanceof Set || tagOf(value) === "Set";
}

// Whether these views together show their buffer from its start to its end; they may overlap.
function showsAll(views: readonly ArrayBufferView[], buffer: ArrayBuffer): boolean {
  let end = 0;
  for (const view of [...views].sort((a, b) => a.byteOffset - b.byteOffset)) {
    if (view.byteOffset <= end) end = Math.max(end, view.byteOffset + view.byteLength);
  }
  return end === buffer.byteLength;
}
