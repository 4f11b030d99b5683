// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "./clearway-error.js";

/** What an option must be: at least a number, of one of the types that a text names, one of some words, a group with rules of its own, or else. */
export type Rule = number | string | readonly unknown[] | Rules | Test;
/** Whether a value will do; if not, what it must be. */
export type Test = (value: unknown) => true | string;
export type Rules = { readonly [option: string]: Rule };

/** A finite number without a fraction. */
export const whole =
  (least: number): Test =>
  (value) =>
    (Number.isInteger(value) && (value as number) >= least) || `a whole number, ${least} or more`;

/** The value, which must be an object. */
export function object<Value>(name: string, value: Value): Value & object {
  if (typeof value === "object" && value) return value;
  throw invalid(name, "an object", value);
}

/**
 * The options that are given, each read once and checked, and the defaults of the others; `undefined` is not given. Throws
 * `invalid-argument` that names a bad one with its value, and for an unknown one the nearest that there is.
 */
export function checked<Options extends object>(options: Options, rules: Rules, defaults?: object, path = ""): Options {
  const complete: Record<string, unknown> = { ...defaults };
  const names = Object.keys(rules);
  for (const name of new Set([...names, ...Object.keys(object(path || "options", options))])) {
    let value = (options as Record<string, unknown>)[name];
    if (value === undefined) continue;
    const rule = rules[name] as Rule;
    const full = path ? `${path}.${name}` : name;
    let must: true | string = true;
    if (!names.includes(name)) {
      must = `a known option (the nearest is ${names.sort((a, b) => distance(name, a) - distance(name, b))[0]})`;
    } else if (typeof rule === "function") must = rule(value);
    else if (typeof rule === "string") must = rule.includes(typeof value) || `of type ${rule}`;
    else if (typeof rule === "number")
      must = (typeof value === "number" && value >= rule) || `a number, ${rule} or more`;
    else if (Array.isArray(rule)) must = rule.includes(value) || `one of ${rule.join(", ")}`;
    else value = checked(value as object, rule as Rules, complete[name] as object, full);
    if (must !== true) throw invalid(full, must, value);
    complete[name] = value;
  }
  return complete as Options;
}

// How many letters are in one of them only.
function distance(a: string, b: string): number {
  return [...(a + b)].filter((letter) => !a.includes(letter) || !b.includes(letter)).length;
}
