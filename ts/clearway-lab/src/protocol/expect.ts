// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares a mechanism's result with the scenario file. `expected` is a pattern. Objects match if the keys that the pattern names
// match; all other values must be equal. The string "$NAME" stands for the parameter NAME with its type. In a longer string, $NAME
// is replaced by the parameter's text.
import type { Json, Params } from "./message.js";

/** Returns undefined on a match. Otherwise returns a sentence that names the first difference. */
export function mismatch(expected: Json, actual: Json, params: Params, path = "result"): string | undefined {
  if (typeof expected === "string" && expected.includes("$")) {
    const missing = [...expected.matchAll(/\$(\w+)/g)]
      .map((match) => match[1]!)
      .find((name) => !Object.hasOwn(params, name));
    if (missing !== undefined) {
      return `${path}: the scenario expects the parameter ${missing}, which this cell does not have`;
    }
    const whole = /^\$(\w+)$/.exec(expected);
    const wanted = whole ? params[whole[1]!]! : expected.replace(/\$(\w+)/g, (_, name: string) => String(params[name]));
    return Object.is(wanted, actual)
      ? undefined
      : `${path}: expected ${JSON.stringify(wanted)}, got ${JSON.stringify(actual)}`;
  }
  if (expected === null || typeof expected !== "object") {
    return Object.is(expected, actual)
      ? undefined
      : `${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;
  }
  if (actual === null || typeof actual !== "object" || Array.isArray(actual) !== Array.isArray(expected)) {
    return `${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;
  }
  const pattern = expected as Record<string, Json>;
  const found = actual as Record<string, Json>;
  for (const key of Object.keys(pattern)) {
    const wrong = mismatch(pattern[key]!, found[key] ?? null, params, `${path}.${key}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
