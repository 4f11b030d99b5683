// SPDX-License-Identifier: MIT OR Apache-2.0
import { checkDepth } from "../error/depth.js";
import { tagOf } from "../host/tag.js";
import { compact } from "./compact.js";
import { type FoundMemory, findMemory, searchLimit } from "./find-memory.js";
import { movedKey, scope } from "./hooks.js";
import { MovedValue, transferOf } from "./move.js";

/** A value ready to be posted, and the objects to move with it. */
export interface PreparedResult extends FoundMemory {
  /** The value to post: the original, or a rebuilt value with compact copies of partial views. */
  value: unknown;
}

/**
 * Prepares a task's result for posting.
 *
 * For a value under `move()`, finds the objects to move, or throws `would-copy`; visits at most `limit` nodes, or 10,000 if that is more.
 * For any other value, calls {@link findMovable} with `limit`.
 * Throws `not-cloneable` if the value is too deep for the other side to read.
 */
export function prepareResult(result: unknown, limit = searchLimit): Omit<PreparedResult, "partial"> {
  const value = scope[movedKey]?.encoded(result) ?? result;
  const prepared =
    value instanceof MovedValue
      ? { value: value.value, copies: [], ...transferOf(value, Math.max(limit, searchLimit)) }
      : findMovable(value, limit);
  if (prepared.deep) checkDepth(prepared.value);
  return prepared;
}

/**
 * Finds everything in a task's result that can be moved (see {@link findMemory}). Visits at most `limit` nodes.
 *
 * Copies only views of a part of a larger buffer, because the caller must not receive the rest of that buffer.
 */
export function findMovable(value: unknown, limit = searchLimit): PreparedResult {
  // Messages and rows are often plain objects of a few primitives. The sets of a search would take longer than to send such an object.
  if (isFlat(value, limit))
    return { value, transfer: [], movedBytes: 0, sharedBytes: 0, copies: [], partial: [], deep: false };
  const found = findMemory(value, limit);
  if (found.partial.length === 0) return { value, ...found };
  const replaced = new Map(found.partial.map((view) => [view, compactView(view)]));
  for (const view of replaced.values()) found.transfer.push(view.buffer);
  return { ...found, value: compact(value, replaced) };
}

/** Maximum number of properties of an object that `isFlat` accepts. */
const flatMax = 16;

// Returns whether the value is a plain object of at most `limit` properties without any object in them. Reads each property, as a search does.
function isFlat(value: unknown, limit: number): boolean {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
  let left = Math.min(flatMax, limit);
  for (const key in value) {
    const property: unknown = (value as Record<string, unknown>)[key];
    if ((typeof property === "object" && property !== null) || --left < 0) return false;
  }
  return true;
}

/** Copies only the bytes of a partial view. Structured clone would copy the *whole* buffer. */
export function compactView(view: ArrayBufferView): ArrayBufferView {
  const bytes = new Uint8Array(view.byteLength);
  bytes.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  if (tagOf(view) === "DataView") return new DataView(bytes.buffer);
  const Type = (globalThis as unknown as Record<string, new (buffer: ArrayBuffer) => ArrayBufferView>)[tagOf(view)];
  return Type === undefined ? bytes : new Type(bytes.buffer);
}
