// SPDX-License-Identifier: MIT OR Apache-2.0
import { notLoaded } from "../error/not-loaded.js";
import { lazyModule } from "../lazy/lazy-module.js";
import { isCoded } from "./coded.js";

const loadRevival = /* @__PURE__ */ lazyModule(
  async () => import("./revival.js"),
  (cause) => notLoaded("a part of the library", cause),
);

const same = (value: unknown): unknown => value;

/**
 * Passes a received value to `use` and returns the result. A value that is not read yet first becomes a `Table`, or a value with instances
 * of classes. The code for both loads with the first of them, so the result is then a promise.
 */
export function revive<T>(value: unknown, use: (value: unknown) => T): T | Promise<T>;
export function revive(value: unknown): unknown;
export function revive(value: unknown, use = same): unknown {
  return isCoded(value) ? loadRevival().then(({ revived }) => revived(value, use)) : use(value);
}
