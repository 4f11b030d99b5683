// SPDX-License-Identifier: MIT OR Apache-2.0

/** A value that is not of its type, on its way out of the validator: every level adds its part of the path in front. */
export class ValidationIssue {
  readonly path: (string | number)[] = [];

  constructor(
    /** What must stand there, in words. */
    readonly expected: string,
    readonly value: unknown,
  ) {}

  /** The same, seen from the value that holds it. */
  inside(key: string | number): this {
    this.path.unshift(key);
    return this;
  }

  /** Where, from `root` on: `args.places[3].city`. */
  at(root: string): string {
    return this.path.reduce<string>((path, key) => path + step(key), root);
  }
}

const plain = /^[A-Za-z_$][\w$]*$/;
const keyLengthMax = 40;

function step(key: string | number): string {
  if (typeof key === "number") return `[${key}]`;
  if (plain.test(key) && key.length <= keyLengthMax) return `.${key}`;
  return `[${JSON.stringify(key.length > keyLengthMax ? `${key.slice(0, keyLengthMax)}…` : key)}]`;
}

const shownMax = 40;

/** A value for a message: short, in one line. */
export function shown(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > shownMax ? `${value.slice(0, shownMax)}…` : value);
  if (typeof value === "bigint") return `${String(value).slice(0, shownMax)}n`;
  if (value === null || typeof value !== "object") return String(value).slice(0, shownMax);
  return Object.prototype.toString.call(value).slice(8, -1);
}
