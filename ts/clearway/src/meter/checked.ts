// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * What an option must be, as text for the error message, and a test. The meter has its own rules, because it does not depend on the
 * library's other parts.
 */
export type Rule = readonly [must: string, test: (value: never) => boolean];
export type Rules = { readonly [option: string]: Rule };

export const flag: Rule = ["true or false", (value: unknown) => typeof value === "boolean"];
export const text: Rule = ["a string", (value: unknown) => typeof value === "string"];
export const listener: Rule = ["a function", (value: unknown) => typeof value === "function"];
export const wholeNumber = (min: number): Rule => [
  `a whole number of ${min} or more`,
  (value: number) => Number.isInteger(value) && value >= min,
];

/**
 * Checks options against rules. Each error names the option and its value.
 *
 * Throws `RangeError` for a bad value. Throws `TypeError` for an unknown option and names the most similar option. Also throws `TypeError`
 * if `options` is not an object.
 */
export function check(options: object, rules: Rules): void {
  if (typeof options !== "object" || !options)
    throw new TypeError(`options must be an object: options=${shown(options)}`);
  const names = Object.keys(rules);
  for (const name of new Set([...names, ...Object.keys(options)])) {
    const value = (options as Record<string, unknown>)[name];
    if (value === undefined) continue;
    if (!names.includes(name)) {
      const nearest = names.sort((a, b) => distance(name, a) - distance(name, b))[0];
      throw new TypeError(`${name} must be a known option (the nearest is ${nearest}): ${name}=${shown(value)}`);
    }
    const [must, test] = rules[name]!;
    if (!test(value as never)) throw new RangeError(`${name} must be ${must}: ${name}=${shown(value)}`);
  }
}

function shown(value: unknown): string {
  return typeof value === "string"
    ? JSON.stringify(value)
    : Object(value) === value
      ? `[${typeof value}]`
      : String(value);
}

// Returns the number of letters that only one of the two names contains.
function distance(a: string, b: string): number {
  return [...(a + b)].filter((letter) => !a.includes(letter) || !b.includes(letter)).length;
}
