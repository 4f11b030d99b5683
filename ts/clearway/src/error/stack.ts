// SPDX-License-Identifier: MIT OR Apache-2.0

/** Formats the caller's stack, for appending to the worker's stack. */
export function underSeam(callerStack: string): string {
  return callerStack && `\n    --- called from ---\n${callerStack}`;
}

/** Sets a property that the caller may change later. A property named `__proto__` stays an ordinary property. */
export function define(target: object, key: string, value: unknown, enumerable = false): void {
  try {
    Object.defineProperty(target, key, { value, enumerable, configurable: true, writable: true });
  } catch {
    // A DOMException's own accessors (`code`) may reject the change. They compute the same value.
  }
}
