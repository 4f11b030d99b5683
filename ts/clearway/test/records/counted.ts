// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Column, Table } from "clearway/records";
import { thrown } from "./students.js";

/**
 * Wraps a value, and counts how often any of its properties is read or tested, at any depth. Counts work, because time varies.
 * Shared objects stay shared. More than `max` visits throw an error at the reader.
 */
export function counted(value: unknown, max: number): { value: unknown; visits: () => number } {
  let visits = 0;
  const wrapped = new Map<object, object>();
  const visit = (): void => {
    if (++visits > max) throw new Error(`more than ${max} looks`);
  };
  const wrap = (each: unknown): unknown => {
    if (each === null || typeof each !== "object" || each instanceof ArrayBuffer) return each;
    const known = wrapped.get(each);
    if (known) return known;
    const proxy = new Proxy(each, {
      get(target, name, receiver) {
        visit();
        return wrap(Reflect.get(target, name, receiver));
      },
      has(target, name) {
        visit();
        return Reflect.has(target, name);
      },
    });
    wrapped.set(each, proxy);
    return proxy;
  };
  return { value: wrap(value), visits: () => visits };
}

/** Returns the total of characters, items and values that can be read in a table. Refused values do not count. */
export function decoded(table: Table): number {
  let sum = 0;
  for (const { name } of table.schema.shapes) {
    const column: Column = table.column(name);
    for (let row = 0; row < column.length; row++) {
      const failed = thrown(() => {
        sum += sizeOf(column.get(row));
      });
      if (failed && failed.code !== "protocol") throw failed;
    }
  }
  return sum;
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return (value as ArrayLike<unknown>).length;
  if (value === null || typeof value !== "object") return 1;
  let sum = 0;
  for (const name in value) sum += sizeOf((value as Record<string, unknown>)[name]);
  return sum;
}
