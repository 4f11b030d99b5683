// SPDX-License-Identifier: MIT OR Apache-2.0
// Shortens the warnings of a run to a few lines. The report and the terminal show them with the results; the report has the whole text.
import type { Warning } from "../run/warning.js";

/** Maximum number of lines. */
export const DOUBT_LINES_MAX = 5;

/** The kinds whose details a reader needs at once: they name what is missing from the results. */
const WHOLE = new Set<Warning["code"]>(["interrupted", "cell-failed", "host-unavailable"]);

/**
 * Returns one short line per kind of warning, at most five. The warnings are in the order of their importance. If there are more kinds,
 * the last line counts the others.
 */
export function doubtLines(warnings: readonly Warning[]): string[] {
  const kinds = new Map<string, Warning[]>();
  for (const warning of warnings) kinds.set(warning.code, [...(kinds.get(warning.code) ?? []), warning]);
  const lines = [...kinds.values()].map(lineOf);
  if (lines.length <= DOUBT_LINES_MAX) return lines;
  const left = lines.length - DOUBT_LINES_MAX + 1;
  return [...lines.slice(0, DOUBT_LINES_MAX - 1), `${left} more kinds of doubt, listed in report.html.`];
}

/** Returns the part of a message before its details. A message with details has a colon before them. */
function lineOf(warnings: readonly Warning[]): string {
  const [first] = warnings as readonly [Warning, ...Warning[]];
  if (first.code === "mechanism-note")
    return warnings.length === 1 ? "1 note about a mechanism." : `${warnings.length} notes about mechanisms.`;
  const short = WHOLE.has(first.code) ? first.message : (first.message.split(": ")[0] ?? "");
  const more = warnings.length > 1 ? ` (and ${warnings.length - 1} more like this)` : "";
  return `${short.replace(/\.$/, "")}${more}.`;
}
