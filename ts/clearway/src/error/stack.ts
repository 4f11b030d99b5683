// SPDX-License-Identifier: MIT OR Apache-2.0

/** Returns the caller's stack in the form that is appended to a worker's stack. Returns an empty string for an empty stack. */
export function calledFrom(callerStack: string): string {
  return callerStack && `\n    --- called from ---\n${callerStack}`;
}

/** Defines a property that can be changed later. Even a property named `__proto__` becomes an ordinary property. */
export function define(target: object, key: PropertyKey, value: unknown, enumerable = false): void {
  try {
    Object.defineProperty(target, key, { value, enumerable, configurable: true, writable: true });
  } catch {
    // Some objects reject a property. A DOMException, for example, rejects `code`. The DOMException's own `code` has the same value.
  }
}
