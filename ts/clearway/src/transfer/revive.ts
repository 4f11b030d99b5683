// SPDX-License-Identifier: MIT OR Apache-2.0
import { caused } from "../error/clearway-error.js";
import { lazyModule } from "../lazy/lazy-module.js";
import { brand } from "./crossing.js";

const loadRecords = /* @__PURE__ */ lazyModule(
  async () => import("../records.js"),
  (cause) => caused("missing-package", "what reads tables could not be loaded", cause),
);

/** Returns whether a received value is a table. */
export function isTable(value: unknown): boolean {
  return typeof value === "object" && value !== null && brand in value;
}

const same = (value: unknown): unknown => value;

/**
 * Passes a received value to `use` and returns the result. A table message first becomes a `Table`. The first table loads the code for
 * tables, so the result for any table is a promise.
 */
export function revive<T>(value: unknown, use: (value: unknown) => T): T | Promise<T>;
export function revive(value: unknown): unknown;
export function revive(value: unknown, use = same): unknown {
  return isTable(value) ? loadRecords().then((records) => use(records.tableFrom(value))) : use(value);
}
