// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Form } from "./coded.js";
import type { LedgerSide } from "./ledger.js";

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
