// SPDX-License-Identifier: MIT OR Apache-2.0

/** The key under which an object holds a table as data (`clearway/records`). Structured clone keeps this key and drops the class. */
export const brand = "clearway:records";

/** Exists only for the compiler. The key names the type of a value on the other side. */
export declare const crossesAs: unique symbol;

/** A value that arrives on the other side as another type. */
export interface CrossesAs<T> {
  readonly [crossesAs]: T;
}
