// SPDX-License-Identifier: MIT OR Apache-2.0
// One table of a report: its type, the grouping of cells into rows, and the text of a metric.
import type { HostName } from "../protocol/message.js";
import { sameParams } from "../run/floor.js";
import type { RecordedCell, RunRecord } from "../run/record.js";
import type { Metric, Results } from "../run/results.js";
import type { Role } from "../scenario/scenario.js";
import type { Column } from "./columns.js";
import { shown, shownTime } from "./number.js";

export interface TableCell {
  text: string;
  /** Whether there are too few samples. The report shows the cell in grey, and the terminal puts it in brackets. */
  doubtful?: boolean;
}

export interface TableRow {
  mechanism: string;
  title: string;
  role: Role;
  /** The texts that replace the title: one per heading in the table's `lead`. */
  lead?: string[];
  cells: TableCell[];
}

export interface Table {
  scenario: string;
  host: HostName;
  /** The load or the size in words. Empty if the scenario has only one load. */
  load: string;
  /** What a row is. Default: mechanism. */
  rowNoun?: string;
  /** The headings of the texts that begin each row. Without headings, a row begins with its mechanism. */
  lead?: string[];
  /** `title` and `role` are set if the column is a mechanism. */
  columns: { label: string; unit: string; title?: string; role?: Role }[];
  rows: TableRow[];
  /** Whether the table only adds detail to others. The report collapses such a table, and a terminal does not show it. */
  folded?: boolean;
  /** Whether a terminal does not show the table, because it prints sentences with the same information. */
  quiet?: boolean;
}

/** Groups the cells that have the same parameters. Leaves out the cells that only measure a mechanism again. */
export function byLoad(cells: RecordedCell[]): RecordedCell[][] {
  return grouped(
    cells.filter(({ control }) => !control),
    (a, b) => sameParams(a.params, b.params),
  );
}

/** Groups the cells of a channel scenario that send the same payload. */
export function sameRow(cells: RecordedCell[]): RecordedCell[][] {
  return grouped(cells, (a, b) => ["channel", "codec", "payload"].every((name) => a.params[name] === b.params[name]));
}

function grouped(cells: RecordedCell[], alike: (a: RecordedCell, b: RecordedCell) => boolean): RecordedCell[][] {
  const groups: RecordedCell[][] = [];
  for (const cell of cells) {
    const group = groups.find(([first]) => alike(first!, cell));
    if (group === undefined) groups.push([cell]);
    else group.push(cell);
  }
  return groups;
}

/** Returns the summarised metrics of a recorded cell. */
export function metricsFor(results: Results, record: RunRecord, cell: RecordedCell): Record<string, Metric> {
  // `results.cells` has one entry for each of `record.cells`, in the same order.
  return results.cells[record.cells.indexOf(cell)]!.metrics;
}

/** Returns the effect of a clock step on a sample, in microseconds: the step divided by the number of calls in a batch. */
export function clockStepUsOf(record: RunRecord, cell: RecordedCell, metric: string): number {
  const { batch = 1 } = cell.rounds[0]?.measurement.samples[metric] ?? {};
  return (record.hosts[cell.host]?.clockStepUs ?? 0) / batch;
}

/** Formats a metric. A time below the clock's step is shown as "<step". */
export function tableCell(metric: Metric | undefined, quantile: Column["quantile"], clockStepUs = 0): TableCell {
  if (metric === undefined) return { text: "–" };
  if ("value" in metric) return { text: shown(metric.value) };
  const name = quantile ?? "p50";
  const doubtful = (metric.unsupported as string[] | undefined)?.includes(name) ?? false;
  const text = metric.unit === "us" ? shownTime(metric[name], clockStepUs) : shown(metric[name]);
  return { text, ...(doubtful ? { doubtful } : {}) };
}
