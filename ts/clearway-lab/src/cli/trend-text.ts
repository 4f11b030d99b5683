// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints a trend: for each machine the changes, then the newest ratio of each comparison with its interval.
import type { Trend, TrendMachine } from "../records/trend-data.js";
import { rangeText } from "../report/answer-text.js";
import { colours as pc } from "../report/colours.js";
import { times } from "../report/number.js";
import {
  byQuestion,
  changeText,
  counted,
  headline,
  machineTitle,
  names,
  nextSteps,
  runsText,
} from "../report/trend/words.js";
import { columned, fitted } from "./width.js";

/** Widths of the columns for the ratio, its interval and the number of runs. */
const WIDTHS = { ratio: 13, interval: 24, runs: 9 };
/** In narrower terminals, the interval is left out. */
const WIDE = 80;

/** Returns the trend as lines of at most `width` columns. */
export function trendLines(trend: Trend, width: number | undefined): string[] {
  const lines = fitted(headline(trend), width).map((line) => pc.bold(line));
  lines.push(...nextSteps(trend).flatMap((step) => fitted(`- ${step}`, width, 2)));
  for (const { folder, problem } of trend.problems) {
    const text = problem.startsWith(folder) ? problem : `${folder}: ${problem}`;
    lines.push(...fitted(`- left out: ${text}`, width, 2).map((line) => pc.yellow(line)));
  }
  for (const machine of trend.machines) lines.push("", ...machineLines(machine, width));
  return lines.map(ascii);
}

function machineLines(machine: TrendMachine, width: number | undefined): string[] {
  const lines = [
    ...fitted(machineTitle(machine), width).map((line) => pc.bold(line)),
    ...fitted(runsText(machine), width),
  ];
  const groups = byQuestion(machine).map(([question, own]) => ({ question, named: names(own) }));
  const changed = groups.flatMap(({ question, named }) =>
    [...named].flatMap(([series, name]) => series.changes.map((change) => ({ question, series, name, change }))),
  );
  changed.sort((a, b) => b.change.run - a.change.run);
  if (machine.runs.length > 1) lines.push("", pc.bold("What changed"));
  if (machine.runs.length > 1 && changed.length === 0) lines.push("  No comparison changed with evidence.");
  for (const { question, series, name, change } of changed) {
    const { what, differs } = changeText(change, series, machine.runs);
    const colour = change.verdict === "worse" ? pc.red : pc.green;
    lines.push(...fitted(`- ${question} ${name}: ${what}. ${differs}.`, width, 2).map((line) => colour(line)));
  }
  lines.push("", pc.bold("The newest ratios"));
  for (const { question, named } of groups) {
    lines.push(...fitted(question, width));
    for (const [series, name] of named) {
      const last = series.points.at(-1)!;
      const interval = width === undefined || width >= WIDE ? rangeText(last).padEnd(WIDTHS.interval) : "";
      const runs = counted(series.points.length, "run").padEnd(WIDTHS.runs);
      const head = `  ${times(last.ratio).padEnd(WIDTHS.ratio)}${interval}${runs}`;
      lines.push(
        ...columned(head, `${name}${last.verdict === "decided" ? "" : ` (${last.verdict})`}`, head.length, width),
      );
    }
  }
  return lines;
}

/** Terminals may lack the thin space of large numbers. */
function ascii(text: string): string {
  return text.replaceAll("\u202f", " ");
}
