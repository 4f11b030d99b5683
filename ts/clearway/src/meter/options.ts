// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * What an option must be, as text for the error message, and a test. The meter has its own rules, because it does not depend on the
 * library's other parts.
 */
type Rule = readonly [must: string, test: (value: never) => boolean];
export type Rules = { readonly [option: string]: Rule };

const flag: Rule = ["true or false", (value: unknown) => typeof value === "boolean"];
const text: Rule = ["a string", (value: unknown) => typeof value === "string"];
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

/**
 * Default minimum length of a stall, in milliseconds: a quarter of a frame at 60 Hz. A shorter stall costs no frame even at 240 Hz, and
 * hitches at up to 250 Hz stay exact.
 */
export const floorMsDefault = 4;
export const hzDefault = 60;
/** Default maximum number of kept stalls, which take about 3 MB. At one stall per second they cover almost three hours. */
export const stallsMaxDefault = 10_000;

/** Options of both `measure` and `watch`. */
export interface MeterOptions {
  /** Frame rate for hitches and for estimated frames, in hertz. Default: 60. */
  readonly hz?: number | undefined;
  /** Minimum length of a recorded stall, in milliseconds. Default: 4. */
  readonly floorMs?: number | undefined;
  readonly label?: string | undefined;
  /** Whether to sample the stacks of a blocked thread (Node). Default: true. */
  readonly stacks?: boolean | undefined;
  /** Whether to count the display's real frames (browser). Default: true. Counting keeps the page rendering: see docs/meter.md. */
  readonly frames?: boolean | undefined;
  /** Time between heartbeats, in milliseconds. docs/meter.md describes how each host uses this time. */
  readonly beatMs?: number | undefined;
}

/** The rules of {@link MeterOptions}. */
export const meterRules: Rules = {
  hz: ["over 0, at most 1000", (value: number) => typeof value === "number" && value > 0 && value <= 1000],
  floorMs: ["1 or more", (value: number) => Number.isFinite(value) && value >= 1],
  label: text,
  stacks: flag,
  frames: flag,
  beatMs: ["1 to 1000", (value: number) => typeof value === "number" && value >= 1 && value <= 1000],
};
