// SPDX-License-Identifier: MIT OR Apache-2.0
// The tables of a run. The terminal and the report use the same tables.
import type { HostName } from "../protocol/message.js";
import { PUBLISHED_EXECUTORS } from "../published/executors.js";
import { compareCells, sameParams } from "../run/floor.js";
import type { RecordedCell, RecordedScenario, RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";
import type { Distribution } from "../statistics/distribution.js";
import { channelTables } from "./channel-tables.js";
import { BENCH_COLUMNS, COLUMNS, type Column, comparedLabel, figuresOf, UPLOAD_FIGURES } from "./columns.js";
import { loadText } from "./load-text.js";
import { bytes, shown, times } from "./number.js";
import { executorsTable } from "./published/executor-text.js";
import { byLoad, clockStepUsOf, metricsFor, type Table, type TableRow, tableCell } from "./table.js";

export function tablesOf(results: Results, record: RunRecord): Table[] {
  const tables: Table[] = [];
  for (const scenario of record.scenarios) {
    for (const host of new Set(
      record.cells.filter((cell) => cell.scenario === scenario.name).map((cell) => cell.host),
    )) {
      const cells = record.cells.filter(
        (cell) => cell.scenario === scenario.name && cell.host === host && cell.rounds.length > 0,
      );
      if (cells.length === 0) continue;
      // A user's scenario may have the name of one of the lab's.
      if (scenario.family === "bench")
        for (const group of byLoad(cells)) tables.push(loadTable(results, record, scenario, host, group));
      else if (scenario.family === "offload") tables.push(...offloadTables(results, record, scenario, host, cells));
      else if (scenario.name === "upload") tables.push(uploadTable(results, record, scenario, host, cells));
      else if (scenario.name.startsWith("channel-"))
        tables.push(...channelTables(results, record, scenario, host, cells));
      else for (const group of byLoad(cells)) tables.push(loadTable(results, record, scenario, host, group));
    }
  }
  return tables;
}

/**
 * Makes the offload tables. Sentences and heat maps show the same figures, so a terminal does not show these tables. The report collapses
 * them, except the table of changing-site.
 */
function offloadTables(
  results: Results,
  record: RunRecord,
  scenario: RecordedScenario,
  host: HostName,
  cells: RecordedCell[],
): Table[] {
  const loads = byLoad(cells).map((group) => loadTable(results, record, scenario, host, group));
  const overview = scenario.name === PUBLISHED_EXECUTORS ? executorsTable(record) : undefined;
  const detail = loads.map((table) => ({ ...table, quiet: true, folded: scenario.name !== "changing-site" }));
  return overview === undefined ? detail : [overview, ...detail];
}

function loadTable(
  results: Results,
  record: RunRecord,
  scenario: RecordedScenario,
  host: HostName,
  group: RecordedCell[],
): Table {
  const known =
    scenario.family === "bench"
      ? benchColumns(results, record, group)
      : (COLUMNS[figuresOf(scenario.name)] ?? unknownColumns(results, record, group));
  const columns = known.filter((column) => group.some((cell) => column.metric in metricsFor(results, record, cell)));
  const rows = ordered(results, record, scenario, group).map((cell): TableRow => {
    const metrics = metricsFor(results, record, cell);
    const cells = columns.map(({ metric, quantile }) =>
      tableCell(metrics[metric], quantile, clockStepUsOf(record, cell, metric)),
    );
    return {
      mechanism: cell.mechanism,
      title: cell.title,
      role: cell.role,
      cells: [...cells, { text: against(results, record, scenario, cell) }],
    };
  });
  const reference = record.cells.find(
    (cell) => cell.scenario === scenario.name && cell.mechanism === scenario.reference,
  );
  const load = loadText(group[0]!.params);
  const noun = scenario.family === "bench" ? { rowNoun: "way" } : {};
  const isCompared = rows.some(({ cells }) => !["–", "reference"].includes(cells.at(-1)?.text ?? "–"));
  if (!isCompared) {
    for (const { cells } of rows) cells.pop();
    return { scenario: scenario.name, host, load, ...noun, columns, rows };
  }
  const compared = { label: "against " + (reference?.mechanism ?? "the reference"), unit: comparedLabel(scenario) };
  return { scenario: scenario.name, host, load, ...noun, columns: [...columns, compared], rows };
}

/** Returns the columns of a user's scenario. The calls of one run have one unit, which depends on how long they take. */
function benchColumns(results: Results, record: RunRecord, group: RecordedCell[]): Column[] {
  const unit = group.map((cell) => metricsFor(results, record, cell)["call"]?.unit).find((each) => each !== undefined);
  return BENCH_COLUMNS.map((column) => (column.metric === "call" ? { ...column, unit: unit ?? "ms" } : column));
}

/** Returns the columns of a scenario that COLUMNS does not have: at most six of its metrics, with their own names. */
function unknownColumns(results: Results, record: RunRecord, group: RecordedCell[]): Column[] {
  const columns = new Map<string, Column>();
  for (const cell of group) {
    for (const [name, metric] of Object.entries(metricsFor(results, record, cell))) {
      if ("value" in metric) columns.set(name, { label: name, unit: metric.unit, metric: name });
      else
        for (const quantile of ["p50", "p99"] as const)
          columns.set(name + quantile, { label: `${name} ${quantile}`, unit: metric.unit, metric: name, quantile });
    }
  }
  return [...columns.values()].slice(0, 6);
}

/** Orders the mechanisms of a stream by p99, or by the largest quantile that the samples support. Orders a firehose by throughput. */
export function ordered(
  results: Results,
  record: RunRecord,
  scenario: RecordedScenario,
  group: RecordedCell[],
): RecordedCell[] {
  if (scenario.family === "bench") return group;
  if (figuresOf(scenario.name) === "stream") {
    const latency = (cell: RecordedCell) => metricsFor(results, record, cell)["latency"] as Distribution;
    const key = sortQuantile(group.map(latency));
    return [...group].sort((a, b) => latency(a)[key] - latency(b)[key]);
  }
  if (figuresOf(scenario.name) === "firehose") {
    const throughput = (cell: RecordedCell) =>
      (metricsFor(results, record, cell)["throughput"] as { value: number }).value;
    return [...group].sort((a, b) => throughput(b) - throughput(a));
  }
  return group;
}

/** Returns the largest quantile that every row supports. */
export function sortQuantile(rows: readonly Distribution[]): "p99" | "p90" | "p50" {
  const carried = (name: "p99" | "p90") => rows.every(({ unsupported }) => !unsupported?.includes(name));
  return carried("p99") ? "p99" : carried("p90") ? "p90" : "p50";
}

export function against(results: Results, record: RunRecord, scenario: RecordedScenario, cell: RecordedCell): string {
  if (cell.mechanism === scenario.reference) return "reference";
  const reference = record.cells.find(
    (other) =>
      !other.control &&
      other.scenario === cell.scenario &&
      other.host === cell.host &&
      other.mechanism === scenario.reference &&
      sameParams(other.params, cell.params),
  );
  const comparison = reference && compareCells(record, cell, reference, scenario.compare, results.noiseFloor);
  if (comparison === undefined) return "–";
  return comparison.verdict === "no difference seen" ? comparison.verdict : times(comparison.ratio);
}

function uploadTable(
  results: Results,
  record: RunRecord,
  scenario: RecordedScenario,
  host: HostName,
  cells: RecordedCell[],
): Table {
  const plain = cells.filter(({ control }) => !control);
  const chunks = [...new Set(plain.map(({ params }) => params["chunkBytes"] as number))].sort((a, b) => a - b);
  // A dozen chunk sizes do not fit into a table. The chart shows all of them.
  const some = chunks.length <= 5 ? chunks : chunks.filter((_, index) => index % Math.ceil(chunks.length / 5) === 0);
  const [time, ...rest] = UPLOAD_FIGURES;
  const columns = [...some.map((chunk) => ({ label: bytes(chunk), unit: time.unit })), ...rest];
  const rows = [...new Set(plain.map(({ mechanism }) => mechanism))].map((mechanism): TableRow => {
    const own = plain.filter((cell) => cell.mechanism === mechanism);
    const most = (name: string) =>
      Math.max(
        ...own.map((cell) => (metricsFor(results, record, cell)[name] as { value: number } | undefined)?.value ?? 0),
      );
    const at = (chunk: number) => own.find(({ params }) => params["chunkBytes"] === chunk);
    return {
      mechanism,
      title: own[0]!.title,
      role: own[0]!.role,
      cells: [
        ...some.map((chunk) => {
          const cell = at(chunk);
          return tableCell(cell && metricsFor(results, record, cell)[time.metric], undefined);
        }),
        ...rest.map(({ metric }) => ({ text: shown(most(metric)) })),
      ],
    };
  });
  return {
    scenario: scenario.name,
    host,
    load: "time per megabyte by chunk size; the stall is the longest at any size",
    columns,
    rows,
  };
}
