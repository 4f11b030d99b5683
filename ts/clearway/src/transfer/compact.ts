// SPDX-License-Identifier: MIT OR Apache-2.0

import { tagOf } from "../host/tag.js";
import { isMap, isSet } from "./find-memory.js";

/**
 * Copies the containers of a value. In the copies, each object that is a key of `replaced` is replaced by that key's value.
 *
 * Containers are maps, sets, arrays, plain objects and class instances. Like structured clone, the copy of a class instance has only the
 * own enumerable properties. Does not change the original containers, because the task may keep them. Returns other objects unchanged.
 * Handles cycles. Several references to one object stay references to one object.
 */
export function compact(root: unknown, replaced: ReadonlyMap<object, unknown>): unknown {
  const done = new Map<object, unknown>(replaced);
  const todo: (() => void)[] = [];

  const visit = (value: unknown): unknown => {
    if (value === null || typeof value !== "object") return value;
    const known = done.get(value);
    if (known !== undefined) return known;
    if (isMap(value)) {
      const copy = new Map<unknown, unknown>();
      done.set(value, copy);
      todo.push(() => {
        for (const [key, each] of value) copy.set(visit(key), visit(each));
      });
      return copy;
    }
    if (isSet(value)) {
      const copy = new Set<unknown>();
      done.set(value, copy);
      todo.push(() => {
        for (const each of value) copy.add(visit(each));
      });
      return copy;
    }
    if (Array.isArray(value)) {
      const copy: unknown[] = new Array(value.length);
      done.set(value, copy);
      todo.push(() => {
        for (let i = 0; i < value.length; i++) if (i in value) copy[i] = visit(value[i]);
      });
      return copy;
    }
    // An object with internal state (date, blob, key, port) has another string tag than "Object".
    if (tagOf(value) !== "Object") return value;
    const copy: Record<string, unknown> = {};
    done.set(value, copy);
    todo.push(() => {
      for (const key of Object.keys(value)) {
        const each = visit((value as Record<string, unknown>)[key]);
        Object.defineProperty(copy, key, { value: each, enumerable: true, configurable: true, writable: true });
      }
    });
    return copy;
  };

  const result = visit(root);
  for (let step = todo.pop(); step !== undefined; step = todo.pop()) step();
  return result;
}
