// SPDX-License-Identifier: MIT OR Apache-2.0
import { caused } from "../error/clearway-error.js";
import { lazyModule } from "../lazy/lazy-module.js";
import { brand } from "./crossing.js";

const loadRevival = /* @__PURE__ */ lazyModule(
  async () => import("./revival.js"),
  (cause) => caused("missing-package", "a part of the library could not be loaded", cause),
);

/** Returns whether a received value is a table, or has instances of transfer handlers. */
export function isTable(value: unknown): boolean {
  return value !== null && typeof value === "object" && brand in value;
}

const same = (value: unknown): unknown => value;

/**
 * Passes a received value to `use` and returns the result. A table message first becomes a `Table`, and a message with instances of
 * classes the value with these instances. The code for both loads with the first of them, so the result is then a promise.
 */
export function revive<T>(value: unknown, use: (value: unknown) => T): T | Promise<T>;
export function revive(value: unknown): unknown;
export function revive(value: unknown, use = same): unknown {
  return isTable(value) ? loadRevival().then(({ revived }) => revived(value as object, use)) : use(value);
}
