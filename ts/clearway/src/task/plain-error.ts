// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import type { WireError } from "../error/wire.js";

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
