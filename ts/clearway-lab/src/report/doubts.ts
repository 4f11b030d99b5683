// SPDX-License-Identifier: MIT OR Apache-2.0
// Shortens the warnings of a run to a few lines. The report and the terminal show them with the results; the report has the whole text.
import type { Warning } from "../run/warning.js";

/** Maximum number of lines. */
export const DOUBT_LINES_MAX = 5;

/** The kinds whose details a reader needs at once: they name what is missing from the results. */
const WHOLE = new Set<Warning["code"]>(["interrupted", "cell-failed", "host-unavailable"]);

/** The kinds about single figures, which the tables also mark. */
const MINOR = new Set<Warning["code"]>(["quantile-unsupported", "mechanism-note"]);

/**
 * Returns one short line per kind of warning, at most five. Warnings about single figures come last. If there are more kinds, the last
 * line counts the others and says where they are.
 */
export function doubtLines(warnings: readonly Warning[], elsewhere = "listed in report.html"): string[] {
  const kinds = new Map<Warning["code"], Warning[]>();
  for (const warning of warnings) kinds.set(warning.code, [...(kinds.get(warning.code) ?? []), warning]);
  const isMinor = ([code]: [Warning["code"], Warning[]]) => MINOR.has(code);
  const sorted = [...kinds].sort((a, b) => Number(isMinor(a)) - Number(isMinor(b)));
  const lines = sorted.map(([, own]) => lineOf(own));
  if (lines.length <= DOUBT_LINES_MAX) return lines;
  const left = lines.length - DOUBT_LINES_MAX + 1;
  return [...lines.slice(0, DOUBT_LINES_MAX - 1), `${left} more kinds of doubt, ${elsewhere}.`];
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
