// SPDX-License-Identifier: MIT OR Apache-2.0
// Suggests the name that the user may have meant.
import leven, { closestMatch } from "leven";

/** Maximum share of a name's characters that a suggestion may change. Other names have nothing to do with the mistake. */
const CHANGED_MAX = 0.5;

/** Returns the name that needs the fewest changes of a character, or undefined if none is near. Case does not count. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const wanted = name.toLowerCase().slice(0, 100);
  const lower = new Map(names.map((each) => [each.toLowerCase(), each]));
  const starting = [...lower.keys()].filter((each) => wanted.length > 2 && each.startsWith(wanted));
  const found = starting[0] ?? closestMatch(wanted, [...lower.keys()]);
  if (found === undefined) return undefined;
  const changes = starting.length > 0 ? 0 : leven(wanted, found);
  return changes <= Math.max(wanted.length, found.length) * CHANGED_MAX ? lower.get(found) : undefined;
}

/** Returns ` Did you mean "NAME"?`, or an empty text. */
export function didYouMean(name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  return near === undefined ? "" : ` Did you mean "${near}"?`;
}

/** Returns `; did you mean "NAME"?`, for the end of a sentence, or an empty text. */
export function orMeant(name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  return near === undefined || near === name ? "" : `; did you mean "${near}"?`;
}
