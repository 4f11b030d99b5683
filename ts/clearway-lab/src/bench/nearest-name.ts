// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the name that a user probably meant.

/** Returns the number of single changes (insert, remove, replace a character) between two texts. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** Returns the known name that differs least from `name`, if at most a third of its characters differ. Ignores case. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  let best: { name: string; distance: number } | undefined;
  for (const each of known) {
    const distance = editDistance(lower, each.toLowerCase());
    if (distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { name: each, distance };
  }
  return best !== undefined && best.distance <= Math.max(1, Math.floor(name.length / 3)) ? best.name : undefined;
}

/** Returns `; did you mean NAME?`, or an empty text if no known name is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined || near === name ? "" : `; did you mean "${near}"?`;
}
