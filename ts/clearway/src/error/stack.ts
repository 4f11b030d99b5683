// SPDX-License-Identifier: MIT OR Apache-2.0

/** Formats the caller's stack, so that the caller can append it to a worker's stack. Returns an empty string for an empty stack. */
export function underSeam(callerStack: string): string {
  return callerStack && `\n    --- called from ---\n${callerStack}`;
}

/** Defines a property that can be changed later. Even a property named `__proto__` becomes an ordinary property. */
export function define(target: object, key: string, value: unknown, enumerable = false): void {
  try {
    Object.defineProperty(target, key, { value, enumerable, configurable: true, writable: true });
  } catch {
    // The object may reject the change, for example a DOMException for `code`. The DOMException computes the same value for `code` itself.
  }
}
