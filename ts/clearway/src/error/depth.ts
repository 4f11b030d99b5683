// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "./clearway-error.js";

/**
 * Maximum nesting depth of a value that is sent to another thread.
 *
 * Structured clone is recursive. Chromium's workers cannot read objects nested 1,294 deep, and Node's main thread cannot read 2,011 levels
 * (measured). The sender can still post such an object, but the receiver loses the whole message. The limit is less than half of these
 * depths, because stack sizes differ between platforms and with `stackSizeMb`.
 */
export const depthMax = 500;

/** Throws `not-cloneable` for a value that is nested deeper than `depthMax`. Visits every object in the value once. */
export function checkDepth(root: unknown): void {
  if (isDeep(root)) throw tooDeep();
}

/** Returns the error of a value that is nested too deep. */
export function tooDeep(): ClearwayError {
  return new ClearwayError(
    "not-cloneable",
    `a value nested more than ${depthMax} deep cannot cross a thread: send it flat`,
  );
}

/**
 * Returns whether structured clone would recurse deeper than `depthMax` into this value. Visits the same objects, but without recursion.
 */
export function isDeep(root: unknown): boolean {
  const seen = new Set<unknown>();
  const path = [[root].values()];
  for (let inner = path[0]; inner; inner = path.at(-1)) {
    const { value, done } = inner.next();
    if (done) path.pop();
    else if (value !== null && typeof value === "object" && !seen.has(value)) {
      if (path.length > depthMax) return true;
      seen.add(value);
      path.push(inside(value).values());
    }
  }
  return false;
}

// Returns the values that structured clone visits in an object. Does not call custom iterators, because a custom iterator might never end.
export function inside(node: object): unknown[] {
  if (ArrayBuffer.isView(node)) return [];
  if (node instanceof Error) return [node.cause];
  const entries = node instanceof Map ? Map : node instanceof Set ? Set : undefined;
  if (!entries) return Object.values(node);
  const all: unknown[] = [];
  entries.prototype.forEach.call(node as never, (value: unknown, key: unknown) => void all.push(key, value));
  return all;
}
