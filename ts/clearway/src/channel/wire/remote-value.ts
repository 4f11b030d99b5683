// SPDX-License-Identifier: MIT OR Apache-2.0

import { isWireError } from "../../error/wire-check.js";
import { MovedValue } from "../../transfer/move.js";
import { decodeError, encodeThrown } from "../../transfer/thrown.js";
import { codecError } from "../codec/codec-error.js";
import { plainError } from "./plain-error.js";

/**
 * Returns a thrown value as an object that the standard codec can encode: class name, message, stack, own properties, causes. Copies all
 * parts. Never throws. A part that the codec cannot encode becomes a text, such as `[not encodable: Function]`.
 */
export function errorToPlain(thrown: unknown): unknown {
  return plainError(encodeThrown(thrown), Number.POSITIVE_INFINITY);
}

/**
 * Rebuilds a thrown value from what {@link errorToPlain} returned at the other end. An error has the class of the thrown one if every host
 * has that class, or if it is a `ClearwayError`. The frames of `callerStack` follow its own stack. Throws a `CodecError` with the code
 * `malformed` for a value that is no such object.
 */
export function errorFromPlain(plain: unknown, callerStack = ""): unknown {
  if (!isWireError(plain)) throw codecError("malformed", "an error does not have the form of an error", 0);
  return decodeError(plain, callerStack);
}

/** Returns the value that `move()` has marked, and any other value as it is. */
export function unmoved(value: unknown): unknown {
  return value instanceof MovedValue ? value.value : value;
}
