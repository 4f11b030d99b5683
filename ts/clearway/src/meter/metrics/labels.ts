// SPDX-License-Identifier: MIT OR Apache-2.0
import { causeAttribute, markAttribute } from "./instruments.js";

/** The labels that the metrics themselves have, or that Prometheus computes with. */
const reserved = new Set<string>([causeAttribute.prometheus, markAttribute.prometheus, "le", "quantile"]);

/**
 * Returns a copy of the labels in the order of their names, without empty ones: Prometheus takes an empty label for none. Throws `RangeError`
 * for a name that is reserved, that is among the metrics' `own`, or that Prometheus does not allow, and `TypeError` for a value that is not a string.
 */
export function checkedLabels(
  labels: Readonly<Record<string, string>>,
  own: readonly string[] = [],
): [name: string, value: string][] {
  const taken = new Set([...reserved, ...own]);
  if (typeof labels !== "object" || !labels) throw new TypeError(`labels must be an object: labels=${String(labels)}`);
  const entries = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, value] of entries) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name.startsWith("__") || taken.has(name)) {
      const none = `not __ at the start, not ${[...taken].join(", ")}`;
      throw new RangeError(`a label must have letters, digits and _ (${none}): label=${JSON.stringify(name)}`);
    }
    if (typeof value !== "string") throw new TypeError(`the label ${name} must be a string: ${name}=${typeof value}`);
  }
  return entries.filter(([, value]) => value !== "");
}

/** Returns labels as they are written between braces. */
export function labelText(labels: readonly (readonly [name: string, value: string])[]): string {
  return labels.map(([name, value]) => `${name}="${escapedValue(value)}"`).join(",");
}

/**
 * Escapes the characters that end or change a label's value. Different values stay different.
 *
 * Half of a surrogate pair has no form in UTF-8, and Prometheus's parser takes a zero character for the end of the text. Each becomes the
 * replacement character and the code in four hexadecimal digits. So does the replacement character itself.
 */
export function escapedValue(value: string): string {
  return value
    .replace(/[\\"\n]/g, (found) => (found === "\n" ? "\\n" : `\\${found}`))
    .replace(/\p{Surrogate}|[\0\ufffd]/gu, (found) => `\ufffd${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
