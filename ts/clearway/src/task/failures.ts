// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import type { WireError } from "../error/wire.js";
import { errors } from "./lazy-modules.js";

/** Encodes an error without `transfer/thrown.ts`, which may not be loaded. Keeps the message, the stack, and the code of a Clearway error. */
export function plain(reason: unknown): WireError {
  try {
    if (!(reason instanceof Error)) return { value: String((reason as Partial<Error> | null)?.message ?? reason) };
    const { name, message, stack, cause } = reason;
    const own = reason instanceof ClearwayError;
    return {
      base: own ? name : "Error",
      name: String(name),
      message: String(message),
      stack: String(stack),
      props: own ? [["code", reason.code]] : [],
      ...(own && cause !== undefined && { cause: plain(cause) }),
    };
  } catch {
    return { value: "[not cloneable]" };
  }
}

// `transfer/thrown.ts` encodes and decodes errors. The file is loaded after the first call. If it cannot be loaded, errors arrive with less
// detail.

/** Encodes a thrown value, now or once `transfer/thrown.ts` is loaded. Calls `use` once. `use` must not throw. */
export function encoded(reason: unknown, use: (wire: WireError) => void): void {
  if (errors.exports !== undefined) return use(errors.exports.encodeThrown(reason));
  errors.load().then(
    ({ encodeThrown }) => use(encodeThrown(reason)),
    () => use(plain(reason)),
  );
}

/** Decodes a reason, now or once `transfer/thrown.ts` is loaded. Calls `use` once. `use` must not throw. */
export function decoded(wire: WireError, use: (reason: unknown) => void): void {
  if (errors.exports !== undefined) return use(errors.exports.decodeError(wire));
  errors.load().then(
    ({ decodeError }) => use(decodeError(wire)),
    (cause) => use("base" in wire ? new Error(wire.message, { cause }) : wire.value),
  );
}
