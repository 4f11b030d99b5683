// SPDX-License-Identifier: MIT OR Apache-2.0
import type { WireError } from "./wire.js";

// Levels of causes that are read. The codec of errors has the same limit.
const depthMax = 256;

/**
 * Returns whether a value that has arrived is an encoded error. Checks every part, because the other side may be hostile. Refuses an error that
 * occurs twice: structured clone keeps that, and each level could name the next one twice. A few hundred bytes would then be more errors than
 * this thread could ever read.
 */
export function isWireError(wire: unknown, depth = 0, seen = new Set<object>()): wire is WireError {
  if (typeof wire !== "object" || wire === null || depth > depthMax || seen.has(wire)) return false;
  seen.add(wire);
  if (!("base" in wire)) return "value" in wire;
  const { base, name, message, stack, props, cause, errors } = wire as Record<string, unknown>;
  return (
    [base, name, message, stack].every((each) => typeof each === "string") &&
    isListOf(props, (each) => Array.isArray(each) && typeof each[0] === "string") &&
    (cause === undefined || isWireError(cause, depth + 1, seen)) &&
    (errors === undefined || isListOf(errors, (each) => isWireError(each, depth + 1, seen)))
  );
}

/**
 * Returns whether a value is an array of such elements and has nothing else: no holes, of which an array may have 2^32, and no properties
 * besides its elements. Structured clone keeps both, and a property named like a method would replace the method.
 */
export function isListOf(value: unknown, isElement: (element: unknown) => boolean): boolean {
  if (!Array.isArray(value)) return false;
  const { length } = value;
  for (let at = 0; at < length; at++) if (!Object.hasOwn(value, at) || !isElement(value[at])) return false;
  return Object.keys(value).length === length;
}
