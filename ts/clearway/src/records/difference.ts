// SPDX-License-Identifier: MIT OR Apache-2.0
import { shown } from "./refusal.js";
import type { Shape } from "./shape.js";

/** Describes the first difference between a table's columns and the expected columns. Returns an empty text if they are equal. */
export function difference(have: readonly Shape[], want: readonly Shape[], path = ""): string {
  const named = ({ name }: Shape): string => clipped(path + name);
  for (let at = 0; at < Math.max(have.length, want.length); at++) {
    const [actual, expected] = [have[at], want[at]];
    if (!actual) return `there is no ${named(expected!)}`;
    if (!expected) return `there is a further ${named(actual)}`;
    if (actual.name !== expected.name) return `${named(actual)} stands where ${named(expected)} should`;
    const [actualType, expectedType] = [typeOf(actual), typeOf(expected)];
    if (actualType !== expectedType) return `${named(actual)} is ${actualType}, not ${expectedType}`;
    if (actual.kind === "struct" && expected.kind === "struct") {
      const inner = difference(actual.columns, expected.columns, `${path}${actual.name}.`);
      if (inner !== "") return inner;
    }
  }
  return "";
}

/** Returns a column's type in the form of a declaration. */
function typeOf(shape: Shape): string {
  return shape.nullable ? `nullable(${plainType(shape)})` : plainType(shape);
}

function plainType(shape: Shape): string {
  switch (shape.kind) {
    case "text":
      return shape.dictionary ? "text({ dictionary: true })" : "text()";
    case "timestamp":
      return `timestamp({ unit: "${shape.unit}" })`;
    case "list":
      return `list(${shape.of === "text" ? "text()" : shape.of})`;
    default:
      return shape.kind;
  }
}

// Clips a long name, because a peer chooses the names.
function clipped(name: string): string {
  return name.length > 40 ? shown(name) : name;
}
