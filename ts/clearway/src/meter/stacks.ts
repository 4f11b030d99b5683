// SPDX-License-Identifier: MIT OR Apache-2.0
import type { StackSample } from "./stall.js";

/**
 * Returns the app's frames of an error's `stack`, innermost first. Omits the probe's own frames, anonymous built-ins and Node's internals.
 */
export function appFrames(stack: string): string[] {
  return stack
    .split("\n")
    .slice(1)
    .map((line) => line.trim().replace(/^at /, ""))
    .filter((frame) => frame !== "" && !/(^|\()(<anonymous>|node:)/.test(frame));
}

/** Counts equal stacks and returns each stack once, most frequent first. */
export function gatherStacks(samples: readonly (readonly string[])[]): StackSample[] {
  const byText = new Map<string, { frames: readonly string[]; seen: number }>();
  for (const frames of samples) {
    const text = frames.join("\n");
    const known = byText.get(text);
    if (known) known.seen++;
    else byText.set(text, { frames, seen: 1 });
  }
  return [...byText.values()].sort((a, b) => b.seen - a.seen);
}
