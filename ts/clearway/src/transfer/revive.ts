// SPDX-License-Identifier: MIT OR Apache-2.0

import { lazyModule, notLoaded } from "../lazy/lazy.js";
import { type CodedValue, Form, isCoded } from "./crossing.js";
import type { LedgerSide } from "./ledger.js";
import { unknownHandler } from "./refusal.js";

/** A value that is ready to be posted. */
export interface PreparedValue {
  /** How the other side reads `value`. */
  form: Form;
  value: unknown;
  /** The objects that move with the value. */
  transfer: object[];
  /** The bytes of binary memory in the value, moved or copied. */
  bytes: number;
  /** Whether the value may be nested too deep for a worker to read. */
  deep: boolean;
}

/** What registered transfer handlers do with values. The entry `clearway/transfer` implements it. */
export interface TransferHooks {
  /** Prepares an argument that contains a handled instance. Returns undefined for any other value. */
  argument(value: unknown, strict: boolean, side: LedgerSide): PreparedValue | undefined;
  /** Returns the content in which a result is posted. Returns undefined for a value without a handled instance. */
  encoded(value: unknown): unknown;
  /** Returns the value of a content that has arrived, in which instances were encoded. */
  decoded(content: unknown): unknown;
}

/**
 * The key of the brand of moved values. The global object holds the hooks under the same key, because the entries of the package are
 * bundled separately, and each byte of the core entry counts.
 */
export const movedKey: unique symbol = Symbol.for("clearway.moved");

/** Holds the hooks of this thread's transfer handlers. Undefined while none is registered. */
export const scope = globalThis as { [movedKey]?: TransferHooks | undefined };

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
  if (form === Form.sliced) return use(await content);
  if (form === Form.table) return use((await loadRecords()).tableFrom(content));
  const hooks = scope[movedKey];
  if (hooks) return use(hooks.decoded(content));
  const parts: unknown = (content as { parts?: unknown } | null)?.parts;
  const first: unknown = Array.isArray(parts) ? parts[0] : undefined;
  throw unknownHandler(Array.isArray(first) ? String(first[1]) : "", []);
}
