// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints what was found on a terminal.

import { countedRuns, type JankReport, type Subject } from "../../jank/record.js";
import { deviceText } from "../../ratio/device-time.js";
import { colours as pc } from "../colours.js";
import { folded } from "../html.js";
import {
  budgetText,
  causeDetails,
  causeTitle,
  comparedHeadline,
  comparedText,
  figureRows,
  headline,
  lastSeen,
  ms,
  NOTABLE_MS,
  notes,
  plural,
  problems,
  scaleOf,
  withSteps,
} from "./words.js";

const CAUSES_MAX = 8;

/** Returns the report as lines of at most `width` columns, if no word is longer. */
export function jankText(report: JankReport, width: number): string {
  const lines: string[] = [];
  for (const problem of problems(report)) lines.push(...folded(`stopped: ${problem}`, width, "  ").map(pc.red));
  for (const seen of lastSeen(report)) lines.push(...folded(`  ${seen}`, width, "  ").map(pc.red));
  const [subject, baseline] = report.subjects;
  if (report.device !== undefined) lines.push(...folded(`there: ${deviceText(report.device)}`, width, "  "));
  if (report.comparison.length > 0) lines.push(...comparisonLines(report, width), "");
  lines.push(...subjectLines(subject!, width));
  if (baseline !== undefined) lines.push("", ...subjectLines(baseline, width));
  const doubts = notes(report);
  if (doubts.length > 0)
    lines.push("", pc.bold("Notes"), ...doubts.flatMap((note) => folded(`- ${note}`, width, "  ")));
  if (report.budget.length > 0) lines.push("", ...budgetLines(report, width));
  return `${lines.join("\n")}\n`;
}

function subjectLines(subject: Subject, width: number): string[] {
  const lines = folded(headline(subject), width, "  ").map((line) => pc.bold(line));
  if (subject.runs.length === 0 || subject.figures.durationMs < 1) return lines;
  for (const [name, text] of figureRows(subject))
    lines.push(...folded(`  ${name.padEnd(16)}${text}`, width, " ".repeat(18)));
  const runs = countedRuns(subject.runs);
  if (runs.length > 1) {
    const longest = runs.map(({ figures }) => figures.longestMs);
    const spread = `  medians of ${runs.length} runs; longest stall ${ms(Math.min(...longest))} to ${ms(Math.max(...longest))}`;
    lines.push(...folded(spread, width, "  ").map((line) => pc.dim(line)));
  }
  const notable = subject.causes.filter(({ longestMs }) => longestMs * scaleOf(subject) >= NOTABLE_MS);
  if (notable.length === 0) return lines;
  lines.push("", pc.bold(subject.there === undefined ? "  Causes" : "  Causes (times here)"));
  for (const { group, step } of withSteps(notable.slice(0, CAUSES_MAX))) {
    const much = group.stalls === 1 ? "" : ` in ${plural(group.stalls, "stall")}`;
    lines.push(
      ...folded(`  ${ms(group.totalMs).padStart(9)}${much}  ${causeTitle(group.cause)}`, width, " ".repeat(13)),
    );
    for (const detail of causeDetails(group))
      lines.push(...folded(`             ${detail}`, width, " ".repeat(15)).map((line) => pc.dim(line)));
    if (group.cause.place === undefined || group.cause.kind === "machine")
      lines.push(...folded(`             ${group.cause.because}`, width, " ".repeat(15)).map((line) => pc.dim(line)));
    if (step !== undefined) lines.push(...folded(`             next: ${step}`, width, " ".repeat(15)));
  }
  if (notable.length > CAUSES_MAX) lines.push(`             and ${notable.length - CAUSES_MAX} more: --json lists all`);
  return lines;
}

function comparisonLines(report: JankReport, width: number): string[] {
  const { comparison } = report;
  const pairs = comparison[0]!.pairs;
  const lines = folded(comparedHeadline(report)!, width, "  ").map((line) => pc.bold(line));
  for (const figure of comparison)
    lines.push(...folded(`  ${figure.name.padEnd(25)}${comparedText(figure)}`, width, " ".repeat(27)));
  const hint =
    pairs === 1 ? "one pair of runs: --repeat 5 shows how much the ratio varies" : `${pairs} interleaved pairs of runs`;
  lines.push(...folded(`  ${hint}`, width, "  ").map((line) => pc.dim(line)));
  return lines;
}

function budgetLines({ budget, device }: JankReport, width: number): string[] {
  return budget.flatMap((result) => {
    const text = `${result.kept ? "within" : "over"} budget: ${budgetText(result, device?.ratio)}`;
    return folded(text, width, "  ").map(result.kept ? pc.green : pc.red);
  });
}
