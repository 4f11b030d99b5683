// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import type { WireError } from "../error/wire.js";
import { errors } from "./parts.js";

/** Describes an error without the part that takes errors apart: message, stack, and the code that tells a Clearway error. */
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

// Errors are taken apart, and made again, by a part that is loaded behind the first call. Before that, and where it cannot be
// loaded, they cross with less.

/** Describes what was thrown, now or when the part is there. `use` is called once, and must not throw. */
export function encoded(reason: unknown, use: (wire: WireError) => void): void {
  if (errors.now !== undefined) return use(errors.now.encodeError(reason));
  errors.load().then(
    ({ encodeError }) => use(encodeError(reason)),
    () => use(plain(reason)),
  );
}

/** Makes a reason again, now or when the part is there. `use` is called once, and must not throw. */
export function decoded(wire: WireError, use: (reason: unknown) => void): void {
  if (errors.now !== undefined) return use(errors.now.decodeError(wire));
  errors.load().then(
    ({ decodeError }) => use(decodeError(wire)),
    (cause) => use("base" in wire ? new Error(wire.message, { cause }) : wire.value),
  );
}
