// SPDX-License-Identifier: MIT OR Apache-2.0
import { caused } from "../error/clearway-error.js";
import { lazyModule } from "../lazy/lazy-module.js";
import { brand } from "./crossing.js";
import { movedKey, scope } from "./hooks.js";
import { unknownHandler } from "./unknown-handler.js";

const loadRecords = /* @__PURE__ */ lazyModule(
  async () => import("../records.js"),
  (cause) => caused("missing-package", "the table reader could not be loaded", cause),
);

/**
 * Passes the value of a message to `use`: a `Table`, or a value with the instances that transfer handlers return. The first table loads the
 * code for tables. Throws `unknown-handler` if this thread has registered no handlers, and what a handler throws.
 */
export async function revived<T>(message: object, use: (value: unknown) => T): Promise<T> {
  const inner: unknown = (message as Record<string, unknown>)[brand];
  if (inner === null || typeof inner !== "object" || !("handled" in inner))
    return use((await loadRecords()).tableFrom(message));
  const hooks = scope[movedKey];
  if (hooks) return use(hooks.decoded(message));
  const { parts } = inner as { parts?: unknown };
  const first: unknown = Array.isArray(parts) ? parts[0] : undefined;
  throw unknownHandler(Array.isArray(first) ? String(first[1]) : "", []);
}
