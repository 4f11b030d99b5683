// SPDX-License-Identifier: MIT OR Apache-2.0
// A record for the tests of the exports. Its figures are invented and small enough to check by head.
import type { ExportSource } from "../src/export/source.js";
import type { RunRecord } from "../src/run/record.js";
import { resultsOf } from "../src/run/results.js";
import { encodeHistogram, histogramOf } from "../src/statistics/histogram.js";
import { record } from "./record.js";

/**
 * Returns a record with one cell of a stream. Its first round has the single samples 1000, 2000 and 3000 ns. The second round has only the
 * histogram of 1000 ns, counted twice, and 1,000,000 ns.
 */
export function exportedRecord(more: Partial<RunRecord> = {}): RunRecord {
  const whole = record();
  const cell = whole.cells.find(({ mechanism }) => mechanism === "clearway-stream")!;
  const rounds = [
    { ns: [2000, 1000, 3000], raw: true },
    { ns: [1000, 1_000_000, 1000], raw: false },
  ].map(({ ns, raw }, round) => ({
    round,
    position: round,
    tookMs: 250,
    machineStallMs: 0.2,
    measurement: {
      samples: {
        latency: { unit: "us" as const, n: 3, hdr: encodeHistogram(histogramOf(ns)), ...(raw ? { raw: ns } : {}) },
      },
      values: { backlogMax: { unit: "events" as const, value: 4 + round } },
      result: null,
      notes: [],
    },
  }));
  const params = { perSecond: 60, payloadBytes: 8 };
  return { ...whole, cells: [{ ...cell, params, rounds }], ...more };
}

/** Returns what an export reads from a run's record. */
export function fromRecord(run: RunRecord): ExportSource {
  return { file: "run/record.json", record: run, results: resultsOf(run) };
}

/** Returns what an export reads from a run of which only the figures are kept. */
export function fromFigures(run: RunRecord): ExportSource {
  return { file: "run/results.json", results: resultsOf(run) };
}
