// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the figures of a run as Markdown tables: one per scenario and host, for an issue, a pull request or a page.
import type { RunRecord } from "../run/record.js";
import type { Metric, ResultCell, Results } from "../run/results.js";
import type { QuantileName } from "../statistics/distribution.js";

const SHOWN = ["p50", "p90", "p99"] as const satisfies readonly QuantileName[];

interface Column {
  heading: string;
  metric: string;
  quantile?: (typeof SHOWN)[number];
}

/** Writes a run. A quantile with too few samples is in parentheses, as in the report. */
export function markdownText(results: Results, record?: RunRecord): string {
  const { run, machine } = results;
  const questions = new Map(record?.scenarios.map(({ name, question }) => [name, escaped(question)]));
  const runtimes = Object.values(run.runtimes).join(", ");
  const parts = [
    "# Clearway lab",
    escaped(
      `${run.startedAt}, profile ${run.profile}, ${run.measurementsDone} of ${run.measurementsPlanned} measurements` +
        `${run.interrupted ? ", interrupted" : ""}; ${machine.cpu}, ${machine.cores} cores; ${runtimes}.`,
    ),
    "Values are medians of the rounds. A quantile in parentheses rests on too few samples.",
    ...groups(results).flatMap((cells) => {
      const [first] = cells as [ResultCell, ...ResultCell[]];
      return [heading(first), questions.get(first.scenario) ?? "", sameParams(cells), table(cells)];
    }),
    ...(results.warnings.length === 0 ? [] : ["## Doubts", doubts(results)]),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/**
 * Returns the measured cells, without those that only measure a mechanism again, by scenario and host, and by family, because the profile
 * `promises` uses a name in two families.
 */
function groups(results: Results): ResultCell[][] {
  const found = new Map<string, ResultCell[]>();
  for (const cell of results.cells) {
    if (cell.status !== "ok" || cell.params["control"] !== undefined) continue;
    const key = [cell.family, cell.scenario, cell.host].join("\n");
    found.set(key, [...(found.get(key) ?? []), cell]);
  }
  return [...found.values()];
}

function heading({ family, scenario, host }: ResultCell): string {
  return `## ${escaped(`${family}: ${scenario} on ${host}`)}`;
}

/** Returns the parameters that differ between the cells. They have a column each. */
function differing(cells: ResultCell[]): string[] {
  const names = [...new Set(cells.flatMap((cell) => Object.keys(cell.params)))];
  return names.filter((name) => cells.some(({ params }) => params[name] !== cells[0]!.params[name]));
}

/** Returns the other parameters in one line. */
function sameParams(cells: ResultCell[]): string {
  const columns = differing(cells);
  const same = Object.entries(cells[0]!.params).filter(([name]) => !columns.includes(name));
  return same.length === 0 ? "" : escaped(`All with ${same.map(([name, value]) => `${name} ${value}`).join(", ")}.`);
}

function table(cells: ResultCell[]): string {
  const params = differing(cells);
  const columns = columnsOf(cells);
  const head = ["mechanism", ...params, ...columns.map((column) => column.heading)];
  const rows = cells.map((cell) => [
    cell.mechanism,
    ...params.map((name) => String(cell.params[name] ?? "")),
    ...columns.map((column) => figureText(cell.metrics[column.metric], column)),
  ]);
  const align = head.map((_, at) => (at <= params.length ? "---" : "---:"));
  return [head, align, ...rows].map((row) => `| ${row.map(escaped).join(" | ")} |`).join("\n");
}

function columnsOf(cells: ResultCell[]): Column[] {
  const columns = new Map<string, Column>();
  for (const [metric, figure] of cells.flatMap((cell) => Object.entries(cell.metrics))) {
    if ("value" in figure) {
      const heading = `${metric} (${figure.unit})`;
      columns.set(heading, { heading, metric });
      continue;
    }
    for (const quantile of SHOWN) {
      const heading = `${metric} ${quantile} (${figure.unit})`;
      columns.set(heading, { heading, metric, quantile });
    }
  }
  return [...columns.values()];
}

function figureText(figure: Metric | undefined, { heading, quantile }: Column): string {
  if (figure === undefined || !heading.endsWith(`(${figure.unit})`)) return "";
  if ("value" in figure) return quantile === undefined ? String(figure.value) : "";
  if (quantile === undefined) return "";
  const text = String(figure[quantile]);
  return figure.unsupported?.includes(quantile) ? `(${text})` : text;
}

function doubts({ warnings }: Results): string {
  return warnings.map(({ message, next }) => `- ${escaped(`${message} Next: ${next}.`)}`).join("\n");
}

/** Keeps a text in one cell or one line. Markdown and HTML in it are shown and not interpreted. */
function escaped(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.replace(/[\\`*_{}[\]<>|#]/g, (found) => `\\${found}`);
}
