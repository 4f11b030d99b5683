// SPDX-License-Identifier: MIT OR Apache-2.0
// A million students from a worker: by structured clone, as JSON, as hand-written columns, as records.
import { median, ratio, shuffler } from "../../statistics/rounds.ts";

const rows = 1_000_000;
/** Few different names, as a text column with a dictionary expects; and all names different. */
const data = [
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
};

export async function students({ host, collect, settings, seed }) {
  const cells = data.flatMap(({ names }) => Object.keys(kinds).map((kind) => ({ kind, names })));
  const key = ({ kind, names }) => `${kind} ${names}`;
  const figures = Object.fromEntries(cells.map((cell) => [key(cell), { stall: [], any: [], total: [] }]));
  const shuffle = shuffler(seed);
  for (let round = 0; round < settings.rounds; round++) {
    for (const cell of shuffle(cells)) {
      const { stallMs, anyStallMs, totalMs } = await host.probe("students", { ...cell, rows });
      figures[key(cell)].stall.push(stallMs);
      figures[key(cell)].any.push(anyStallMs);
      figures[key(cell)].total.push(totalMs);
    }
  }
  for (const cell of cells) {
    const subject = { name: cell.kind === "records" ? "clearway records" : cell.kind, ...kinds[cell.kind] };
    const params = { rows, names: cell.names };
    const found = figures[key(cell)];
    collect.measured("students", host.name, subject, params, {
      longestStall: { unit: "ms", value: median(found.stall) },
      longestStallOfAny: { unit: "ms", value: median(found.any) },
      totalRuntime: { unit: "ms", value: median(found.total) },
    });
  }
  for (const { names, text } of data) {
    const clone = figures[key({ kind: "clone", names })];
    const own = figures[key({ kind: "records", names })];
    for (const [id, metric] of [
      ["students-stall", "stall"],
      ["students-total", "total"],
    ]) {
      const about = { of: "clearway records", over: "structured clone", state: text };
      const detail = `${median(clone[metric]).toFixed(0)} ms over ${median(own[metric]).toFixed(1)}`;
      collect.promise(id, host.name, { ...about, detail }, ratio(clone[metric], own[metric]));
    }
  }
}
