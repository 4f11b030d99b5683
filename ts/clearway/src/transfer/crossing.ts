// SPDX-License-Identifier: MIT OR Apache-2.0

/** Under this key an object carries a table as data (`clearway/records`). Structured clone keeps it, and drops the class. */
export const brand = "clearway:records";

/** Only for the compiler: what a value is on the other side. */
export declare const crossesAs: unique symbol;

/** A value that the other side gets as another type. */
export interface CrossesAs<T> {
  readonly [crossesAs]: T;
}
