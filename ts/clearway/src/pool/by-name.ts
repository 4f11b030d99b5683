// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Names that no task and no method of a proxy has, because JavaScript itself calls such methods: an `await` calls `then`, JSON `toJSON`, and a text
 * or a number made of an object `toString` and `valueOf`.
 */
export const calledByLanguage: readonly string[] = ["then", "toJSON", "toString", "valueOf"];

/**
 * Returns an object that has a function for any name, except for names that JavaScript itself calls: `then`, `toJSON`, `toString`, `valueOf`.
 * Only the types know the names of the tasks. Makes one function per name.
 */
export function byName<Functions>(make: (name: string) => (...args: unknown[]) => unknown): Functions {
  const known = new Map<string, unknown>();
  return new Proxy(Object.freeze(Object.create(null)), {
    get: (_target, name) => {
      if (typeof name !== "string" || calledByLanguage.includes(name)) return undefined;
      let caller = known.get(name);
      if (!caller) {
        caller = make(name);
        known.set(name, caller);
      }
      return caller;
    },
  });
}
