// SPDX-License-Identifier: MIT OR Apache-2.0
import { check, wholeNumber } from "./options.js";
import type { PingReport } from "./ping.js";
import type { Stall, StallReport } from "./report.js";

const ms = (value: number): string => `${value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2)} ms`;
const percent = (share: number): string => `${(share * 100).toFixed(share >= 0.1 ? 0 : 2)} %`;

/** Formats a report for a terminal: a sentence, the figures, and the longest stalls with their causes. Adds no newline at the end. */
export function formatReport(report: StallReport, options: { readonly stallsMax?: number } = {}): string {
  check(options, { stallsMax: wholeNumber(0) });
  const { frames, hitch } = report;
  const rows: [string, string][] = [
    ["total time", ms(report.durationMs)],
    ["longest stall", longest(report)],
    ["mean lag", `${ms(report.lagMeanMs)} for an event at a random moment`],
    [
      `hitches at ${hitch.hz} Hz`,
      `${hitch.msPerSecond.toFixed(1)} ms/s: ${hitch.verdicts.strict} (newer scale: ${hitch.verdicts.lenient})`,
    ],
    [
      "dropped frames",
      `${frames.dropped} of ${frames.expected} at ${frames.hz} Hz${frames.estimated ? ", estimated" : ""}`,
    ],
    [
      "waits",
      report.waits
        .filter((wait) => wait.share > 0)
        .map((wait) => `${percent(wait.share)} over ${ms(wait.overMs)}`)
        .join(", ") || "none over 8.33 ms",
    ],
    ["worst second", `${ms(report.worstSecond.stalledMs)} stalled, from ${ms(report.worstSecond.startMs)} on`],
    ["stalls", stallsLine(report)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = [headline(report), ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)];
  const shown = [...report.stalls].sort((a, b) => b.lengthMs - a.lengthMs).slice(0, options.stallsMax ?? 5);
  for (const stall of shown) lines.push(`    ${stallLine(stall)}`);
  for (const source of report.sources)
    if (!source.available) lines.push(`  not seen: ${source.name} (${source.why ?? "no reason known"})`);
  if (report.droppedStalls > 0)
    lines.push(`  ${report.droppedStalls} older stalls were dropped; all figures are of the time after them`);
  return lines.join("\n");
}

// The machine's stalls say nothing about the app, so a longer one of theirs comes second.
function longest({ ownLongestMs, longestMs }: StallReport): string {
  return longestMs > ownLongestMs
    ? `${ms(ownLongestMs)} (with delays by the machine: ${ms(longestMs)})`
    : ms(ownLongestMs);
}

function headline(report: StallReport): string {
  const name = report.label === undefined ? "This thread" : report.label;
  if (report.stalls.length === 0) return `${name}: never held for ${ms(report.floorMs)} or longer.`;
  const times = report.stalls.length === 1 ? "once" : `${report.stalls.length} times`;
  return `${name}: held ${times}, ${ms(report.stalledMs)} of ${ms(report.durationMs)}, at most ${longest(report)} at a time.`;
}

function stallsLine(report: StallReport): string {
  const parts = [`${report.stalls.length} of ${ms(report.floorMs)} or longer`];
  for (const share of report.causes) parts.push(`${share.cause} ${share.stalls} (${ms(share.totalMs)})`);
  for (const { quantile, lengthMs } of report.tail)
    if (lengthMs !== null) parts.push(`p${quantile * 100} ${ms(lengthMs)}`);
  return parts.join(", ");
}

function stallLine(stall: Stall): string {
  const marks = stall.marks.length === 0 ? "" : ` [${stall.marks.map((mark) => mark.label).join(", ")}]`;
  return `${ms(stall.lengthMs).padStart(8)} at ${ms(stall.startMs)}: ${stall.cause}: ${stall.because}${marks}`;
}

/** Formats the figures of a ping in one or two lines. */
export function formatPing(report: PingReport): string {
  const { n, min, mean, max, p50, p90, p99 } = report.roundTripMs;
  if (n === 0) return "no ping came back";
  const quantiles = Object.entries({ p50, p90, p99 }).flatMap(([name, value]) =>
    value === null ? [] : [`${name} ${ms(value)}`],
  );
  const lines = [
    `round trip over ${n}: min ${ms(min)}, mean ${ms(mean)}, max ${ms(max)}${["", ...quantiles].join(", ")}`,
  ];
  const { oneWay } = report;
  if (oneWay)
    lines.push(
      `one way: there ${ms(oneWay.thereMsMean)}, back ${ms(oneWay.backMsMean)}, each within ${ms(oneWay.errorMs)}`,
    );
  return lines.join("\n");
}
