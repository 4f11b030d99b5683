// SPDX-License-Identifier: MIT OR Apache-2.0

/** Describes a value that does not match its type. Each level of the validator adds its key in front of the path. */
export class ValidationIssue {
  readonly path: (string | number)[] = [];

  constructor(
    /** The expected type, in English. */
    readonly expected: string,
    readonly value: unknown,
  ) {}

  /** Adds, in front of the path, the key at which an outer value contains this one. Returns this issue. */
  inside(key: string | number): this {
    this.path.unshift(key);
    return this;
  }

  /** Returns the value's path from `root`, for example `args.places[3].city`. */
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

/** Returns a value as a short text in one line, for an error message. */
export function shown(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > shownMax ? `${value.slice(0, shownMax)}…` : value);
  if (typeof value === "bigint") return `${String(value).slice(0, shownMax)}n`;
  if (value === null || typeof value !== "object") return String(value).slice(0, shownMax);
  return Object.prototype.toString.call(value).slice(8, -1);
}
