// SPDX-License-Identifier: MIT OR Apache-2.0

/** A value that does not match its type. Each level of the validator adds its part of the path in front. */
export class ValidationIssue {
  readonly path: (string | number)[] = [];

  constructor(
    /** The expected type, in words. */
    readonly expected: string,
    readonly value: unknown,
  ) {}

  /** Adds the key of the value that contains this one. Returns itself. */
  inside(key: string | number): this {
    this.path.unshift(key);
    return this;
  }

  /** Returns the value's path from `root`: `args.places[3].city`. */
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

/** Returns a value as a short text in one line, for a message. */
export function shown(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > shownMax ? `${value.slice(0, shownMax)}…` : value);
  if (typeof value === "bigint") return `${String(value).slice(0, shownMax)}n`;
  if (value === null || typeof value !== "object") return String(value).slice(0, shownMax);
  return Object.prototype.toString.call(value).slice(8, -1);
}
