// SPDX-License-Identifier: MIT OR Apache-2.0
// The published experiments of a run as texts: tables with the authors' figures and ours, and what agrees. The HTML report
// and the page docs/experiments.md show the same view.
import {
  clockStepUsOf,
  type Metric,
  metricsFor,
  type RecordedCell,
  type Results,
  type RunRecord,
} from "../../run/record.js";
import {
  type AuthorsRow,
  type Experiment,
  type ExperimentChart,
  type ExperimentColumn,
  type ExperimentTable,
  includes,
} from "../../scenario/experiment.js";
import { type Distribution, decodeHistogram, mergeHistograms } from "../../statistics/distribution.js";
import { jankLine } from "../../statistics/stalls.js";
import { hostTitle } from "../host-titles.js";
import { bytes, shown, unitText } from "../number.js";
import { distributionsSvg, linesSvg } from "./charts.js";
import { type FindingLine, findingLines } from "./findings-text.js";
import { budgetOf, wholeFrames } from "./frames.js";
import { heatSvg } from "./heat.js";
import { withMarks } from "./marks.js";
import { NO_FIGURE, type RowView, type TableView } from "./table.js";
import { waysTable } from "./ways.js";

export interface ExperimentView {
  experiment: Experiment;
  tables: TableView[];
  /** What agrees with the authors, what differs, and why. */
  findings: FindingLine[];
  leftOut: string[];
}

export function experimentViews(results: Results, record: RunRecord): ExperimentView[] {
  return (record.experiments ?? []).map((experiment) => {
    return {
      experiment,
      // A run of some scenarios, or of some hosts, has no cells for the other tables.
      tables: [
        ...(experiment.name === "live-stream" ? waysTable(results, record) : []),
        ...experiment.tables
          .map((table) => tableView(results, record, table))
          .filter(({ rows }) => rows.some((row) => !row.authors)),
      ],
      findings: findingLines(experiment, record),
      leftOut: experiment.leftOut.map(({ what, why }) => `${what}: ${why}`),
    };
  });
}

interface OwnRow {
  title: string;
  clearway: boolean;
  cells: RecordedCell[];
}

/** Returns one table of an experiment with the figures of a run. */
export function tableView(results: Results, record: RunRecord, table: ExperimentTable): TableView {
  const own = record.cells.filter(
    (cell) =>
      cell.scenario === table.scenario &&
      cell.host === table.host &&
      (table.mechanisms?.includes(cell.mechanism) ?? true) &&
      includes(cell.params, table.params),
  );
  const { rows, note } = withMarks(rowsOf(own, table));
  // The measurements name their units. Those of the scenario are for columns without a measurement.
  const columns = columnsOf(own, table).map((column) => ({ ...column, unit: unitOf(results, record, own, column) }));
  // A row that could not be measured is named in the notes instead, unless none could.
  const measurable = rows.some((row) => !isEmpty(row)) ? rows.filter((row) => !isEmpty(row)) : rows;
  const ranked = table.order === undefined ? measurable : ordered(results, record, measurable, table.order);
  const shownRows = ranked.map((row): RowView => {
    const cells = columns.map((column) => figureText(results, record, cellIn(row, column), column.metric));
    const more = [...framesOf(results, record, row, table), ...jankOf(results, record, row, table)];
    return { title: row.title, authors: false, clearway: row.clearway, cells: [...cells, ...more] };
  });
  const more = [
    ...(table.frames === true ? ["fits a frame, 60 Hz", "fits a frame, 120 Hz"] : []),
    ...(table.jank === true ? ["verdict"] : []),
  ];
  const authors = (table.authors ?? []).map((row) => authorsRow(row, columns, more.length));
  const chart = chartOf(results, record, table, ranked, columns);
  return {
    title: `${table.title}, ${hostTitle(table.host)}`,
    ...(table.text !== undefined && { text: table.text }),
    ...(chart !== undefined && { chart }),
    head: [
      "mechanism",
      ...columns.map(({ label, unit }) => `${label}${unit === "" ? "" : ` (${unitText(unit)})`}`),
      ...more,
    ],
    rows: [...authors, ...shownRows],
    notes: [...note, ...notesOf(own, ranked), ...authorsNotes(table.authors ?? [])],
  };
}

/** Whether no cell of the row could be measured, and each says why. */
function isEmpty({ cells }: OwnRow): boolean {
  return cells.every((cell) => cell.rounds.length === 0 && reasonOf(cell) !== undefined);
}

function reasonOf({ failure, unavailable }: RecordedCell): string | undefined {
  return failure === undefined ? unavailable : `failed: ${failure}`;
}

/** Returns the chart of a table, whose rows are in the table's order. A row without figures is not in it. */
function chartOf(
  results: Results,
  record: RunRecord,
  { chart, title, host, by = "", metric = "" }: ExperimentTable,
  rows: readonly OwnRow[],
  columns: readonly ShownColumn[],
): TableView["chart"] {
  if (chart === undefined) return undefined;
  const label = `${title}, ${hostTitle(host)}`;
  const { file, axis, sample, pairs, isHeat } = chart;
  if (isHeat === true) {
    const heats = columns.map((column) => ({
      title: column.label,
      cells: rows.flatMap((row) => {
        const cell = cellIn(row, column);
        const found = cell === undefined ? undefined : figureOf(metricsFor(results, record, cell), column.metric);
        if (found === undefined || !(cell?.published === true || row.clearway)) return [];
        const text = `${figureText(results, record, cell, column.metric)} ${unitText(column.unit)}`;
        return [{ title: row.title, clearway: row.clearway, number: found.number, text }];
      }),
    }));
    return heats.every(({ cells }) => cells.length === 0)
      ? undefined
      : { file, label, svg: heatSvg(label, axis, heats) };
  }
  if (sample !== undefined) {
    const drawn = rows.flatMap(({ cells: [cell], ...row }) => {
      const found = (cell?.rounds ?? []).flatMap(({ measurement }) => measurement.samples[sample]?.hdr ?? []);
      if (cell === undefined || found.length === 0) return [];
      const stepUs = clockStepUsOf(record, cell, sample);
      return [{ ...row, histogram: mergeHistograms(found.map(decodeHistogram)), stepUs }];
    });
    return drawn.length === 0 ? undefined : { file, label, svg: distributionsSvg(label, axis, drawn) };
  }
  const lines = pairedRows(rows, pairs).map(({ title: name, cells, ...style }) => ({
    ...style,
    title: name,
    points: cells.flatMap((cell) => {
      const found = figureOf(metricsFor(results, record, cell), metric);
      return found === undefined ? [] : [{ bytes: Number(cell.params[by]), us: found.number }];
    }),
  }));
  const drawn = lines.filter(({ points }) => points.length > 0);
  const measured = rows.flatMap(({ cells }) => cells.map((cell) => metricsFor(results, record, cell)));
  const marks = [2, 3].flatMap((level) => {
    const size = measured.flatMap((metrics) => figureOf(metrics, `l${level}Cache`)?.number ?? [])[0];
    return size === undefined ? [] : [{ title: `L${level}`, bytes: size }];
  });
  return drawn.length === 0 ? undefined : { file, label, svg: linesSvg(label, axis, drawn, marks) };
}

/** Returns the rows that a chart of lines draws: those of the pairs, a colour a pair, the second one dashed; or all, a colour each. */
function pairedRows(rows: readonly OwnRow[], pairs: ExperimentChart["pairs"]) {
  if (pairs === undefined) return rows.map((row, colour) => ({ ...row, colour, isDashed: false }));
  return pairs.flatMap((pair, colour) =>
    pair.flatMap((name, at) =>
      rows
        .filter(({ cells: [cell] }) => cell?.mechanism === name)
        .map((row) => ({ ...row, colour, isDashed: at === 1 })),
    ),
  );
}

interface ShownColumn extends ExperimentColumn {
  /** The key of the authors' figures. */
  key: string;
  /** The value of the parameter `by`. */
  value?: string | number;
  by?: string;
}

function columnsOf(
  own: readonly RecordedCell[],
  { columns, by, metric = "", unit = "" }: ExperimentTable,
): ShownColumn[] {
  if (columns !== undefined) return columns.map((column) => ({ ...column, key: column.metric }));
  const values = [...new Set(own.map(({ params }) => params[by!]!))].filter((value) => value !== undefined);
  return values.map((value) => ({
    label: typeof value === "number" && /bytes/i.test(by!) ? bytes(value) : String(value),
    metric,
    unit,
    key: String(value),
    value,
    by: by!,
  }));
}

/** Groups the cells into rows. Cells of one mechanism that differ in other parameters than `by` have rows of their own. */
function rowsOf(own: readonly RecordedCell[], { by, params }: ExperimentTable): OwnRow[] {
  const rows = new Map<string, OwnRow & { rest: string }>();
  const varying = varyingOf(own, [...Object.keys(params), ...(by === undefined ? [] : [by])]);
  for (const cell of own) {
    const rest = varying.map((name) => `${name} ${paramText(name, cell.params[name])}`).join(", ");
    const key = JSON.stringify([cell.mechanism, rest]);
    const row = rows.get(key) ?? { title: cell.title, clearway: cell.role === "clearway", cells: [], rest };
    row.cells.push(cell);
    rows.set(key, row);
  }
  return [...rows.values()].map(({ rest, title, ...row }) => ({
    ...row,
    title: rest === "" ? title : `${title}; ${rest}`,
  }));
}

/** Parameters that say how long to measure, or what the result must be. They do not distinguish rows. */
const SAME_ROW = [
  "checksum",
  "estimateMs",
  "repetitions",
  "timeMsMax",
  "warmUpMs",
  "messages",
  "crossings",
  "batches",
  "batchesMs",
  "warmMs",
  "runs",
  "runsMs",
  "countMs",
];

/** Returns the parameters in which the cells of one mechanism differ. */
function varyingOf(own: readonly RecordedCell[], fixed: readonly string[]): string[] {
  const names = [...new Set(own.flatMap(({ params }) => Object.keys(params)))];
  return names.filter((name) => {
    if (fixed.includes(name) || SAME_ROW.includes(name)) return false;
    const values = new Map<string, Set<unknown>>();
    for (const { mechanism, params } of own)
      values.set(mechanism, (values.get(mechanism) ?? new Set()).add(params[name]));
    return [...values.values()].some((each) => each.size > 1);
  });
}

function paramText(name: string, value: string | number | undefined): string {
  if (value === undefined) return "not given";
  if (typeof value === "string") return value;
  return /bytes/i.test(name) ? bytes(value) : shown(value);
}

function cellIn({ cells }: OwnRow, { by, value }: ShownColumn): RecordedCell | undefined {
  return by === undefined ? cells[0] : cells.find(({ params }) => params[by] === value);
}

/** Returns the text of a figure. Brackets mark a quantile with fewer than 20 samples beyond it. */
function figureText(results: Results, record: RunRecord, cell: RecordedCell | undefined, metric: string): string {
  const found = cell === undefined ? undefined : figureOf(metricsFor(results, record, cell), metric);
  if (found === undefined) return NO_FIGURE;
  const stepUs = clockStepUsOf(record, cell!, metric.split(".")[0]!);
  const text =
    found.isTime && found.number < stepUs ? `<${shown(stepUs)}` : shown(wholeFrames(found.unit, found.number));
  return found.doubtful ? `(${text})` : text;
}

function figureOf(metrics: Record<string, Metric>, metric: string) {
  const [name = "", figure] = metric.split(".");
  const found = metrics[name];
  if (found === undefined) return undefined;
  const { unit } = found;
  if ("value" in found) return { number: found.value, unit, isTime: false, doubtful: false };
  const number = (found as unknown as Record<string, number>)[figure ?? "p50"];
  if (number === undefined) return undefined;
  const doubtful = (found.unsupported as string[] | undefined)?.includes(figure ?? "p50") ?? false;
  return { number, unit, isTime: unit === "us", doubtful };
}

/** Returns the unit of a column's first measurement. Throws an Error if others have another unit, because a column has one. */
function unitOf(results: Results, record: RunRecord, own: readonly RecordedCell[], column: ShownColumn): string {
  const cells = own.filter(({ params }) => column.by === undefined || params[column.by] === column.value);
  const found = cells.flatMap((cell) => metricsFor(results, record, cell)[column.metric.split(".")[0]!]?.unit ?? []);
  const units = [...new Set(found)];
  if (units.length > 1) throw new Error(`the column ${column.label} has several units: ${units.join(", ")}`);
  return units[0] === "count" ? "" : (units[0] ?? column.unit);
}

function ordered(results: Results, record: RunRecord, rows: readonly OwnRow[], metric: string): OwnRow[] {
  const rank = ({ cells: [cell] }: OwnRow) =>
    cell === undefined
      ? Number.POSITIVE_INFINITY
      : (figureOf(metricsFor(results, record, cell), metric)?.number ?? Number.POSITIVE_INFINITY);
  const ranks = new Map(rows.map((row) => [row, rank(row)]));
  // Two unmeasured rows keep their order: the difference of two infinities is no number.
  return [...rows].sort((a, b) => ranks.get(a)! - ranks.get(b)! || 0);
}

const FRAMES_MS = [1000 / 60, 1000 / 120];

/** Returns the sizes that fit a frame, interpolated between measured sizes. */
function framesOf(
  results: Results,
  record: RunRecord,
  row: OwnRow,
  { frames, by, metric = "" }: ExperimentTable,
): string[] {
  if (frames !== true || by === undefined) return [];
  const points = row.cells.flatMap((cell) => {
    const [name = "", figure = "p50"] = metric.split(".");
    const found = metricsFor(results, record, cell)[name] as Distribution | undefined;
    const size = cell.params[by];
    if (found === undefined || typeof size !== "number") return [];
    const time = (found as unknown as Record<string, number>)["value" in found ? "value" : figure];
    return time === undefined ? [] : [{ size, ms: found.unit === "us" ? time / 1000 : time }];
  });
  return FRAMES_MS.map((limitMs) => {
    const budget = budgetOf(points, limitMs);
    if (budget === undefined) return NO_FIGURE;
    const sign = { about: "~ ", "at least": ">= ", "less than": "< " }[budget.kind];
    return sign + bytes(budget.size);
  });
}

/** Returns the published verdict on a row. */
function jankOf(results: Results, record: RunRecord, { cells: [cell] }: OwnRow, { jank }: ExperimentTable): string[] {
  if (jank !== true) return [];
  const metrics = cell === undefined ? {} : metricsFor(results, record, cell);
  const [dropped60, lagMaxMs, lagMeanMs, probes] = ["droppedFrames60", "longestStall", "lagMean", "probes"].map(
    (name) => figureOf(metrics, name)?.number,
  );
  if (dropped60 === undefined || lagMaxMs === undefined || lagMeanMs === undefined || probes === undefined)
    return [NO_FIGURE];
  return [jankLine({ dropped60: wholeFrames("frames", dropped60), lagMaxMs, lagMeanMs, probes: Math.round(probes) })];
}

function authorsRow({ title, figures }: AuthorsRow, columns: readonly ShownColumn[], frames: number): RowView {
  const cells = columns.map(({ key }) => (figures[key] === undefined ? NO_FIGURE : shown(figures[key])));
  return {
    title: `authors: ${title}`,
    authors: true,
    clearway: false,
    cells: [...cells, ...Array(frames).fill(NO_FIGURE)],
  };
}

/** Lists the reasons of the authors' rows, each with its rows. */
function authorsNotes(rows: readonly AuthorsRow[]): string[] {
  return [...new Set(rows.map(({ why }) => why))].map(
    (why) => `${rows.flatMap((row) => (row.why === why ? [row.title] : [])).join("; ")}: ${why}`,
  );
}

/** Lists the reasons of cells without a figure. Each reason appears once, with its mechanisms, and says whether these have a row. */
function notesOf(own: readonly RecordedCell[], rows: readonly OwnRow[]): string[] {
  const shownCells = new Set(rows.flatMap(({ cells }) => cells));
  const reasons = new Map<string, { why: string; isShown: boolean; titles: Set<string> }>();
  for (const cell of own) {
    const why = reasonOf(cell);
    if (why === undefined) continue;
    const isShown = shownCells.has(cell);
    const key = JSON.stringify([why, isShown]);
    const reason = reasons.get(key) ?? { why, isShown, titles: new Set() };
    reason.titles.add(cell.title);
    reasons.set(key, reason);
  }
  return [...reasons.values()].map(
    ({ why, isShown, titles }) => `${isShown ? "" : "no row for "}${[...titles].join("; ")}: ${why}`,
  );
}
