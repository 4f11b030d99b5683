// SPDX-License-Identifier: MIT OR Apache-2.0

/** A bar that wants a label, in CSS pixels. It may extend beyond the strip. */
export interface Bar {
  readonly left: number;
  readonly right: number;
  /** The bar with the greatest weight gets its label first. */
  readonly weight: number;
  readonly text: string;
}

/** A label. Its text takes the pixels from `left` to `right`. */
export interface Label {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  /** Whether the label is on its own bar. Otherwise it is beside the bar. */
  readonly inside: boolean;
}

/** Minimum distance of a label from its bar's edge, the strip's edge and other labels, in CSS pixels. */
const gap = 5;

/**
 * Places the labels of bars in one line. No two labels overlap, and each is completely on the strip. A bar without room has no label, so
 * that the longest stalls have theirs.
 */
export function placeLabels(bars: readonly Bar[], width: number, widthOf: (text: string) => number): Label[] {
  const placed: Label[] = [];
  for (const { left, right, text } of [...bars].sort((a, b) => b.weight - a.weight)) {
    const room = widthOf(text);
    const [from, to] = [Math.max(0, left), Math.min(width, right)];
    const inside = to - from >= room + 2 * gap;
    const places = inside ? [(from + to - room) / 2] : [right + gap, left - gap - room];
    const at = places.find(
      (start) =>
        start >= gap &&
        start + room <= width - gap &&
        placed.every((other) => start >= other.right + gap || start + room <= other.left - gap),
    );
    if (at !== undefined) placed.push({ text, left: at, right: at + room, inside });
  }
  return placed;
}
