// SPDX-License-Identifier: MIT OR Apache-2.0
import { notLoaded } from "../error/not-loaded.js";
import { lazyModule } from "../lazy/lazy-module.js";
import { type CodedValue, Form } from "./coded.js";
import { movedKey, scope } from "./hooks.js";
import { unknownHandler } from "./unknown-handler.js";

const loadRecords = /* @__PURE__ */ lazyModule(
  async () => import("../records.js"),
  (cause) => notLoaded("the table reader", cause),
);

/**
 * Passes a value that is not read yet to `use`: a `Table`, or a value with the instances that transfer handlers return. The first table loads
 * the code for tables. Throws `unknown-handler` if this thread has registered no handlers, and what a handler throws.
 */
export async function revived<T>({ form, content }: CodedValue, use: (value: unknown) => T): Promise<T> {
  if (form === Form.table) return use((await loadRecords()).tableFrom(content));
  const hooks = scope[movedKey];
  if (hooks) return use(hooks.decoded(content));
  const parts: unknown = (content as { parts?: unknown } | null)?.parts;
  const first: unknown = Array.isArray(parts) ? parts[0] : undefined;
  throw unknownHandler(Array.isArray(first) ? String(first[1]) : "", []);
}
