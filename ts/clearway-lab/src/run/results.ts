// SPDX-License-Identifier: MIT OR Apache-2.0
// The figures of a run of scenarios: medians and distributions over its rounds.
import type { BuildFacts, MachineFacts } from "../machine/facts.js";
import type { ByHost, HostName, Params, Value } from "../protocol/message.js";
import type { Role } from "../scenario/scenario.js";
import { median } from "../statistics/compare.js";
import { type Distribution, distributionOf, significant } from "../statistics/distribution.js";
import { decodeHistogram, mergeHistograms } from "../statistics/histogram.js";
import { type Floor, floorsOf } from "./floor.js";
import type { RecordedCell, RunRecord } from "./record.js";

export const RESULTS_VERSION = 1;

export type Metric = Distribution | Value;

export interface ResultCell {
  family: string;
  scenario: string;
  host: HostName;
  mechanism: string;
  role: Role;
  params: Params;
  status: "ok" | "unavailable" | "failed";
  why?: string;
  metrics: Record<string, Metric>;
}

export interface Results {
  version: number;
  run: {
    profile: string;
    seed: number;
    startedAt: string;
    durationMs: number;
    measurementsPlanned: number;
    measurementsDone: number;
    interrupted: boolean;
    runtimes: ByHost<string>;
  };
  cells: ResultCell[];
  machine: MachineFacts;
  build: BuildFacts;
  noiseFloor: Floor[];
}

export function resultsOf(record: RunRecord): Results {
  const noiseFloor = floorsOf(record);
  const runtimes = Object.fromEntries(Object.entries(record.hosts).map(([host, facts]) => [host, facts.runtime]));
  return {
    version: RESULTS_VERSION,
    run: {
      profile: record.profile,
      seed: record.seed,
      startedAt: record.startedAt,
      durationMs: Math.round(record.durationMs),
      measurementsPlanned: record.planned,
      measurementsDone: record.done,
      interrupted: record.interrupted,
      runtimes,
    },
    cells: record.cells.map(resultCell),
    machine: record.machine,
    build: record.build,
    noiseFloor,
  };
}

function resultCell(cell: RecordedCell): ResultCell {
  const { family, scenario, host, mechanism, role, params } = cell;
  const why = cell.failure ?? cell.unavailable;
  const status = cell.failure !== undefined ? "failed" : cell.unavailable !== undefined ? "unavailable" : "ok";
  return {
    family,
    scenario,
    host,
    mechanism,
    role,
    params,
    status,
    ...(why === undefined ? {} : { why }),
    metrics: metricsOf(cell),
  };
}

/** Summarises a cell. A value becomes the median of the rounds. Samples become one histogram of all rounds. */
export function metricsOf(cell: RecordedCell): Record<string, Metric> {
  const metrics: Record<string, Metric> = {};
  const measurements = cell.rounds.map(({ measurement }) => measurement);
  for (const name of new Set(measurements.flatMap(({ values }) => Object.keys(values)))) {
    const found = measurements.flatMap(({ values }) => values[name] ?? []);
    metrics[name] = { unit: found[0]!.unit, value: significant(median(found.map(({ value }) => value))) };
  }
  for (const name of new Set(measurements.flatMap(({ samples }) => Object.keys(samples)))) {
    const found = measurements.flatMap(({ samples }) => samples[name] ?? []);
    const whole = mergeHistograms(found.map(({ hdr }) => decodeHistogram(hdr)));
    metrics[name] = distributionOf(whole, found[0]!.unit);
  }
  return metrics;
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
