// SPDX-License-Identifier: MIT OR Apache-2.0
import { notLoaded } from "../error/not-loaded.js";
import { lazyModule } from "../lazy/lazy-module.js";
import { type CodedValue, Form, isCoded } from "./coded.js";
import { movedKey, scope } from "./hooks.js";
import { unknownHandler } from "./unknown-handler.js";

const loadRecords = /* @__PURE__ */ lazyModule(
  async () => import("../records.js"),
  (cause) => notLoaded("the table reader", cause),
);

const same = (value: unknown): unknown => value;

/**
 * Passes a received value to `use` and returns the result. A value that is not read yet first becomes a `Table`, or a value with instances
 * of classes. The first table loads the entry `clearway/records`, so the result is then a promise. It rejects with `unknown-handler` if this
 * thread has registered no handlers, and with what a handler throws.
 */
export function revive<T>(value: unknown, use: (value: unknown) => T): T | Promise<T>;
export function revive(value: unknown): unknown;
export function revive(value: unknown, use = same): unknown {
  return isCoded(value) ? revived(value, use) : use(value);
}

async function revived<T>({ form, content }: CodedValue, use: (value: unknown) => T): Promise<T> {
  if (form === Form.table) return use((await loadRecords()).tableFrom(content));
  const hooks = scope[movedKey];
  if (hooks) return use(hooks.decoded(content));
  const parts: unknown = (content as { parts?: unknown } | null)?.parts;
  const first: unknown = Array.isArray(parts) ? parts[0] : undefined;
  throw unknownHandler(Array.isArray(first) ? String(first[1]) : "", []);
}
