// SPDX-License-Identifier: MIT OR Apache-2.0

/** The key under which an object holds a table as data (`clearway/records`). Structured clone keeps this key and drops the class. */
export const brand = "clearway:records";

// Tables and their writers have this key. The entries of the package are bundled separately.
const tableKey: unique symbol = Symbol.for("clearway.table");

/**
 * Marks an object as a table, or as a table's writer. The key `brand` gives its message, as an own property: structured clone reads only
 * those.
 */
export function markTable(table: object, message: () => unknown): void {
  Object.defineProperty(table, brand, { enumerable: true, get: message });
  Object.defineProperty(table, tableKey, { value: true });
}

/** Returns whether a value is a table or its writer. Does not find one among data, such as the message of a table. */
export function isTable(value: unknown): boolean {
  return value !== null && typeof value === "object" && tableKey in value;
}

/** Exists only for the compiler. The key names the type of a value on the other side. */
export declare const crossesAs: unique symbol;

/** A value that arrives on the other side as another type. */
export interface CrossesAs<T> {
  readonly [crossesAs]: T;
}
