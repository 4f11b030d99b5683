// SPDX-License-Identifier: MIT OR Apache-2.0
import { checkDepth } from "../error/depth.js";
import { Form } from "./coded.js";
import { isTable } from "./crossing.js";
import { type FoundMemory, findMemory, searchLimit } from "./find-memory.js";
import { MovedValue, transferOf } from "./move.js";
import { movedKey, scope } from "./revive.js";

/** A value ready to be posted, and the objects to move with it. */
export interface PreparedResult extends Omit<FoundMemory, "compacted"> {}

/**
 * Prepares a task's result for posting.
 *
 * For a value under `move()`, finds the objects to move, or throws `would-copy`; visits at most `limit` nodes, or 10,000 if that is more.
 * For any other value, calls {@link findMovable} with `limit`.
 * Throws `not-cloneable` if the value is too deep for the other side to read.
 */
export function prepareResult(result: unknown, limit = searchLimit): PreparedResult {
  const encoded = scope[movedKey]?.encoded(result);
  const value = encoded ?? result;
  const moved = value instanceof MovedValue ? value : undefined;
  const form = encoded !== undefined ? Form.handled : isTable(moved ? moved.value : value) ? Form.table : Form.plain;
  const prepared: PreparedResult = moved
    ? { ...transferOf(moved, Math.max(limit, searchLimit), false), form, graph: undefined }
    : findMovable(value, limit);
  prepared.form = form;
  if (prepared.deep) checkDepth(prepared.value);
  return prepared;
}

/** Finds everything in a task's result that moves (see {@link findMemory}), with the compact copies of views. */
export function findMovable(value: unknown, limit = searchLimit): FoundMemory {
  const found = findMemory(value, limit);
  if (found.compacted.length > 0) found.transfer.push(...found.compacted);
  return found;
}
