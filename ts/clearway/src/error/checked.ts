// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, caused, invalid } from "./clearway-error.js";

/**
 * The requirement for the value of an option, in one of five forms:
 *
 * - A number is the minimum.
 * - A string contains the allowed types, as `typeof` names them.
 * - An array lists the allowed values.
 * - An object has the rules for the options of a nested object.
 * - A function tests the value.
 */
export type Rule = number | string | readonly unknown[] | Rules | Test;
/** Checks a value. Returns true for a valid value. For an invalid one, returns the requirement as text. */
export type Test = (value: unknown) => true | string;
/** The rules for an object of options, by name. */
export type Rules = { readonly [option: string]: Rule };

/** Returns a test for an integer that is at least `least`. */
export const whole =
  (least: number): Test =>
  (value) =>
    (Number.isInteger(value) && (value as number) >= least) || `a whole number, ${least} or more`;

/** Tests whether a value is an integer from `min` to `max`. */
export function wholeFrom(value: unknown, min: number, max: number): true | string {
  return (
    (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) ||
    `a whole number from ${min} to ${max}`
  );
}

/** Tests whether a value is a number above 0. Infinity is one. */
export const aboveZero: Test = (value) => (typeof value === "number" && value > 0) || "a number above 0";

/** Tests whether a value is an AbortSignal of any realm. */
export const abortSignal: Test = (value) =>
  typeof (value as AbortSignal | null)?.addEventListener === "function" || "an AbortSignal";

/** Returns the value. Throws `invalid-argument` if it is not a function. */
export function callable<Value>(name: string, value: Value): Value {
  if (typeof value === "function") return value;
  throw invalid(name, "a function", value);
}

/** Returns the value. Throws `invalid-argument` if it is not an object, or if it is an array. */
export function object<Value>(name: string, value: Value): Value & object {
  if (typeof value === "object" && value && !Array.isArray(value)) return value;
  throw invalid(name, "an object", value);
}

/**
 * Reads each option once, checks it and fills in the defaults. An option with the value `undefined` counts as missing.
 *
 * Throws `invalid-argument`. For an invalid option, the error names the option and its value. For an unknown option, it names the most
 * similar known option. If reading an option throws, the error's cause is the thrown value.
 */
export function checked<Options extends object>(options: Options, rules: Rules, defaults?: object, path = ""): Options {
  const complete: Record<string, unknown> = { ...defaults };
  const names = Object.keys(rules);
  let full = path || "options";
  try {
    for (const name of new Set([...names, ...Object.keys(object(full, options))])) {
      full = path ? `${path}.${name}` : name;
      let value = (options as Record<string, unknown>)[name];
      if (value === undefined) continue;
      const rule = rules[name] as Rule;
      let must: true | string = true;
      if (!names.includes(name)) {
        must = `a known option (the nearest is ${names.sort((a, b) => distance(name, a) - distance(name, b))[0]})`;
      } else if (typeof rule === "function") must = rule(value);
      else if (typeof rule === "string") must = rule.includes(typeof value) || `of type ${rule}`;
      else if (Array.isArray(rule)) must = rule.includes(value) || `one of ${rule.join(", ")}`;
      else if (typeof rule === "number")
        must = (typeof value === "number" && value >= rule) || `a number, ${rule} or more`;
      else value = checked(value as object, rule as Rules, complete[name] as object, full);
      if (must !== true) throw invalid(full, must, value);
      complete[name] = value;
    }
  } catch (thrown) {
    throw thrown instanceof ClearwayError ? thrown : caused("invalid-argument", `${full} cannot be read`, thrown);
  }
  return complete as Options;
}

// Returns the number of letters that only one of the two names contains.
function distance(a: string, b: string): number {
  return [...(a + b)].filter((letter) => a.includes(letter) !== b.includes(letter)).length;
}

// A caller's signal may be any object. Its getters and methods may throw, call back into the library, or return wrong values.

/** Returns the reason of an aborted signal. Never throws. If reading the reason throws, returns the thrown value. */
export function reasonOf(signal: AbortSignal): unknown {
  try {
    return signal.reason;
  } catch (thrown) {
    return thrown;
  }
}

/** Returns the reason if the signal has aborted, otherwise undefined. A signal whose properties throw counts as aborted. Never throws. */
export function abortOf(signal: AbortSignal | undefined): { reason: unknown } | undefined {
  try {
    return signal?.aborted ? { reason: reasonOf(signal) } : undefined;
  } catch (reason) {
    return { reason };
  }
}

/** Calls `failed` if the value is a promise that rejects, which nothing else would handle. */
export function onRejected(value: unknown, failed: (reason: unknown) => void): void {
  if (isThenable(value)) value.then(undefined, failed);
}

/** Returns whether `await` would call the value's `then`. Reads it, which may throw. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return Object(value) === value && typeof (value as { then?: unknown }).then === "function";
}
