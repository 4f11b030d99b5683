// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a million students from a worker: by structured clone, as JSON, as hand-written columns, and as records.
import { median, ratio, shuffler } from "../../statistics/rounds.js";
import type { MeasuredMechanism } from "../collector.js";
import type { MeasurementContext } from "../run.js";

const rows = 1_000_000;
/** The data sets: few different names, as is usual for a text column with a dictionary, and names that all differ. */
const dataSets = [
  { names: 1000, text: "1000 names" },
  { names: rows, text: "every name another" },
];
const kinds = {
  clone: { role: "reference", settings: "an array of objects by postMessage" },
  json: { role: "reference", settings: "JSON.stringify in the worker, JSON.parse here" },
  columns: {
    role: "reference",
    settings: "hand-written typed arrays with a transfer list; numbered names if there are few",
  },
  records: {
    role: "clearway",
    settings: "record({ rollNum: u32, name: text() }), with a dictionary if there are few names",
  },
} satisfies Record<string, Omit<MeasuredMechanism, "name">>;
type Kind = keyof typeof kinds;

interface Cell {
  kind: Kind;
  names: number;
}

/** The milliseconds of every round. */
type Series = Record<"stall" | "any" | "total", number[]>;

/** The result of the probe `students`. */
export interface StudentsFigures {
  stallMs: number;
  anyStallMs: number;
  totalMs: number;
}

export async function students({ host, collector, amounts, seed }: MeasurementContext): Promise<void> {
  const cells = dataSets.flatMap(({ names }) => (Object.keys(kinds) as Kind[]).map((kind): Cell => ({ kind, names })));
  const key = ({ kind, names }: Cell) => `${kind} ${names}`;
  const figures = new Map(cells.map((cell) => [key(cell), { stall: [], any: [], total: [] } as Series]));
  const seriesOf = (cell: Cell) => figures.get(key(cell)) as Series;
  const shuffle = shuffler(seed);
  for (let round = 0; round < (amounts["rounds"] ?? 0); round++) {
    for (const cell of shuffle(cells)) {
      const { stallMs, anyStallMs, totalMs } = await host.probe<StudentsFigures>("students", { ...cell, rows });
      seriesOf(cell).stall.push(stallMs);
      seriesOf(cell).any.push(anyStallMs);
      seriesOf(cell).total.push(totalMs);
    }
  }
  for (const cell of cells) {
    const mechanism = { name: cell.kind === "records" ? "clearway records" : cell.kind, ...kinds[cell.kind] };
    const params = { rows, names: cell.names };
    const series = seriesOf(cell);
    collector.addMeasurement("students", host.name, mechanism, params, {
      longestStall: { unit: "ms", value: median(series.stall) },
      longestStallOfAny: { unit: "ms", value: median(series.any) },
      totalRuntime: { unit: "ms", value: median(series.total) },
    });
  }
  for (const { names, text } of dataSets) {
    const clone = seriesOf({ kind: "clone", names });
    const records = seriesOf({ kind: "records", names });
    for (const [id, metric] of [
      ["students-stall", "stall"],
      ["students-total", "total"],
    ] as const) {
      const labels = { mechanism: "clearway records", over: "structured clone", state: text };
      const detail = `${median(clone[metric]).toFixed(0)} ms over ${median(records[metric]).toFixed(1)}`;
      collector.addPromise(id, host.name, { ...labels, detail }, ratio(clone[metric], records[metric]));
    }
  }
}
