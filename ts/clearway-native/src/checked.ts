// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks options as `ts/clearway/src/error/checked.ts` does. A copy, because this package works without `clearway`.
import { invalid, NativeError, textOf } from "./error.js";

/** Checks a value. Returns true for a valid value. For an invalid one, returns the requirement as text. */
export type Test = (value: unknown) => true | string;
/** The requirement for the value of each option: a test, the list of allowed values, or the type as `typeof` names it. */
export type Rules = { readonly [option: string]: Test | readonly unknown[] | string };

export const abortSignal: Test = (value) =>
  typeof (value as AbortSignal | null)?.addEventListener === "function" || "an AbortSignal";

export const strings: Test = (value) =>
  (Array.isArray(value) && value.every((each) => typeof each === "string")) || "an array of strings";

export const list: Test = (value) => Array.isArray(value) || "an array";

/** Returns the value. Throws `invalid-argument` if it is not of the type, as `typeof` names it. */
export function typed<Value>(name: string, type: string, value: Value): Value {
  if (typeof value === type) return value;
  throw invalid(name, `a ${type}`, value);
}

/**
 * Reads each option once, checks it and fills in the defaults. An option with the value `undefined` counts as missing.
 *
 * Throws `invalid-argument`. For an invalid option, the error names the option and its value. For an unknown option, it names the most
 * similar known option. If reading an option throws, the error's cause is the thrown value.
 */
export function checked<Options extends object>(options: Options, rules: Rules, defaults?: object): Options {
  const complete: Record<string, unknown> = { ...defaults };
  const names = Object.keys(rules);
  let reading = "options";
  try {
    if (typeof options !== "object" || options === null || Array.isArray(options))
      throw invalid("options", "an object", options);
    for (const name of new Set([...names, ...Object.keys(options)])) {
      reading = name;
      const value = (options as Record<string, unknown>)[name];
      if (value === undefined) continue;
      const must = names.includes(name) ? requirement(rules[name]!, value) : unknown(name, names);
      if (must !== true) throw invalid(name, must, value);
      complete[name] = value;
    }
  } catch (cause) {
    if (cause instanceof NativeError) throw cause;
    throw new NativeError("invalid-argument", `${reading} cannot be read: ${textOf(cause)}`, { cause });
  }
  return complete as Options;
}

function requirement(rule: Rules[string], value: unknown): true | string {
  if (typeof rule === "function") return rule(value);
  if (typeof rule === "string") return typeof value === rule || `of type ${rule}`;
  return rule.includes(value) || `one of ${rule.join(", ")}`;
}

function unknown(name: string, names: readonly string[]): string {
  const [nearest] = [...names].sort((a, b) => distance(name, a) - distance(name, b));
  return `a known option (the nearest is ${nearest})`;
}

// Returns the number of letters that only one of the two names contains.
function distance(a: string, b: string): number {
  return [...(a + b)].filter((letter) => a.includes(letter) !== b.includes(letter)).length;
}
