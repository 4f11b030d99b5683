// SPDX-License-Identifier: MIT OR Apache-2.0
// A small record of a run of the profile `published`, with one experiment, for the tests of its findings and pages.
import type { RunRecord } from "../src/run/record.js";
import type { CellFigure, Experiment, Finding } from "../src/scenario/experiment.js";
import { cell, measured, record } from "./record.js";

const rows = { rows: 1_000_000 };
export const STUDENTS: CellFigure = {
  scenario: "students",
  host: "node",
  mechanism: "direct",
  params: {},
  metric: "longestStall",
};

export const EXPERIMENT: Experiment = {
  number: 1,
  name: "students",
  title: "Students and jank",
  origin: "Dart on a desktop",
  question: "Does a worker save frames?",
  measures: [
    { scenario: "students", rounds: 3, sets: [{ params: rows, hosts: ["node"], estimateMs: 1000 }] },
    {
      scenario: "memset-published",
      rounds: 1,
      sets: [{ params: { memory: "warm" }, hosts: ["node"], estimateMs: 1000 }],
    },
  ],
  tables: [
    {
      title: "A million students",
      scenario: "students",
      host: "node",
      params: rows,
      columns: [
        { label: "total", metric: "totalRuntime", unit: "ms" },
        { label: "stall", metric: "longestStall", unit: "ms" },
      ],
      order: "longestStall",
      authors: [{ title: "Dart | isolate", figures: { totalRuntime: 1140 }, why: "Dart is not installed" }],
    },
  ],
  findings: [
    {
      claim: "Moved records block less than clones",
      authors: "not at all",
      kind: "ratio",
      subject: figure("clearway-records"),
      reference: { mechanism: "worker-clone" },
      min: 0,
      max: 0.1,
    },
  ],
  leftOut: [{ what: "One billion rows", why: "they need 21 GB" }],
};

export function figure(mechanism: string, more: Partial<CellFigure> = {}): CellFigure {
  return { ...STUDENTS, mechanism, ...more };
}

export function finding(more: Partial<Finding>): Finding {
  return { claim: "A claim", kind: "value", subject: STUDENTS, min: 0, max: 1, ...more };
}

/** Returns a record with the longest stalls 300, 310 and 320 ms (direct), 500, 520 and 480 ms (clone), and 2, 2.1 and 1.9 ms (records). */
export function experimentRecord(more: Partial<RunRecord> = {}): RunRecord {
  const { cells, ...rest } = record();
  const stalled = (ms: number) => measured({ longestStall: ms, totalRuntime: ms * 2 });
  return {
    ...rest,
    profile: "published",
    experiments: [EXPERIMENT],
    cells: [
      ...cells.filter(({ scenario }) => scenario === "students"),
      cell("students", "worker-json", rows, [], { unavailable: "too long a text: use fewer rows" }),
      cell("students", "comlink", rows, [stalled(5), stalled(500), stalled(5)]),
    ],
    ...more,
  };
}
