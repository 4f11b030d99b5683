// SPDX-License-Identifier: MIT OR Apache-2.0

import type { Moved } from "./move.js";

/** The key under which an object holds a table as data (`clearway/records`). Structured clone keeps this key and drops the class. */
export const brand = "clearway:records";

/** Exists only for the compiler. The key names the type of a value on the other side. */
export declare const crossesAs: unique symbol;

/** A value that arrives on the other side as another type. */
export interface CrossesAs<T> {
  readonly [crossesAs]: T;
}

/**
 * The type of a value as the other side receives it. A value under `move()` arrives as the value itself, and a table's writer arrives as a
 * table.
 */
export type Unmoved<T> = T extends Moved<infer Inner> ? Unmoved<Inner> : T extends CrossesAs<infer Other> ? Other : T;
