// SPDX-License-Identifier: MIT OR Apache-2.0
import { brand } from "./crossing.js";

/** Whether a value that has crossed is a table. */
export function isTable(value: unknown): boolean {
  return typeof value === "object" && value !== null && brand in value;
}

/** Makes a table that has crossed a `Table` again: a promise, as the code is loaded when first needed. Copies nothing. */
export function revive(value: unknown): unknown {
  return isTable(value) ? import("../records.js").then(({ tableFrom }) => tableFrom(value)) : value;
}
