// SPDX-License-Identifier: MIT OR Apache-2.0
// The record of a run: all measurements, round by round, with raw histograms and the order of the measurements. It is written as
// DIR/record.json. docs/experiments.md is made from it.
import type { BuildFacts, MachineFacts } from "../machine/facts.js";
import type { ByHost, Description, HostName, Measurement, Params, Value } from "../protocol/message.js";
import type { Experiment } from "../scenario/experiment.js";
import type { PlannedCell } from "../scenario/plan.js";
import type { Place, Role } from "../scenario/scenario.js";
import {
  type Distribution,
  decodeHistogram,
  distributionOf,
  type Histogram,
  mergeHistograms,
  QUANTILES,
  type QuantileName,
  significant,
} from "../statistics/distribution.js";
import { median } from "../statistics/rounds.js";

export const RECORD_VERSION = 1;

export interface RecordedRound {
  round: number;
  /** Position in the order of the run. */
  position: number;
  /** Duration of the whole measurement in milliseconds, including the start of the runner. */
  tookMs: number;
  measurement: Measurement;
  /** Longest delay with which the idle watcher woke during the measurement, in milliseconds. */
  machineStallMs: number;
}

export interface RecordedCell {
  family: string;
  scenario: string;
  host: HostName;
  mechanism: string;
  title: string;
  role: Role;
  settings: string;
  /** Where a strategy of the family `offload` runs its actions. */
  place?: Place;
  /** Whether the mechanism follows the text of a published experiment to the letter. Absent for all others. */
  published?: true;
  params: Params;
  plannedRounds: number;
  rounds: RecordedRound[];
  /** Why the cell could not run here. */
  unavailable?: string;
  /** The error of a failed measurement. */
  failure?: string;
  /** The letter of the added run that measured the cell: B for the first one. Absent for a cell of the kept run itself, which is A. */
  added?: string;
}

export interface RunRecord {
  version: number;
  profile: "published";
  /** The seed of the order of the measurements. */
  seed: number;
  startedAt: string;
  durationMs: number;
  /** Numbers of planned and of finished measurements. */
  planned: number;
  done: number;
  interrupted: boolean;
  /** Whether the time ended before all rounds were done. */
  budgetEnded: boolean;
  machine: MachineFacts;
  build: BuildFacts;
  hosts: ByHost<Omit<Description, "mechanisms">>;
  /** The published experiments that the run repeats. Absent in other profiles. */
  experiments?: Experiment[];
  cells: RecordedCell[];
  /** The later runs whose cells were added to this one. Their own cells are among `cells`. */
  added?: Omit<RunRecord, "added">[];
}

export function recordedCell(cell: PlannedCell): RecordedCell {
  const { scenario, mechanism, host, params, rounds, unavailable } = cell;
  return {
    family: scenario.family,
    scenario: scenario.name,
    host,
    mechanism: mechanism.name,
    title: mechanism.title,
    role: mechanism.role,
    settings: mechanism.settings,
    ...(mechanism.place === undefined ? {} : { place: mechanism.place }),
    ...(mechanism.published === undefined ? {} : { published: mechanism.published }),
    params,
    plannedRounds: rounds,
    rounds: [],
    ...(unavailable === undefined ? {} : { unavailable }),
  };
}

/**
 * Returns the record without hops that mean nothing, and without the shares that were calculated from them: on the calling thread, where nothing
 * hops, and in a cell of which a round has a hop longer than its round trip. One of the two was measured wrongly there, with a cold start
 * or beside other work, so that the other rounds are no better.
 */
export function withoutImpossibleParts(record: RunRecord): RunRecord {
  const cells = record.cells.map((cell) => {
    const wrong = cell.rounds.flatMap(({ measurement }) => longerHopIn(measurement) ?? [])[0];
    if (wrong === undefined && !cell.mechanism.startsWith("calling-thread")) return cell;
    const rounds = cell.rounds.map((round) => {
      const { hop: _, hopShare: __, copyShare: ___, ...values } = round.measurement.values;
      const notes = wrong === undefined ? round.measurement.notes : [...round.measurement.notes, wrong];
      return { ...round, measurement: { ...round.measurement, values, notes } };
    });
    return { ...cell, rounds };
  });
  return { ...record, cells };
}

/** Returns a note if the measurement has a hop that is longer than its round trip. */
function longerHopIn({ samples, values: { hop } }: Measurement): string | undefined {
  const trip = samples["roundTrip"];
  if (hop === undefined || trip === undefined) return undefined;
  const tripUs = decodeHistogram(trip.hdr).getValueAtPercentile(50) / 1000;
  if (hop.value <= tripUs) return undefined;
  return `a hop of ${hop.value.toFixed(1)} us in a round trip of ${tripUs.toFixed(1)} us was measured wrongly: the hops are left out`;
}

/**
 * Returns one number per round for `metric`, which is the name of a value, SAMPLE.QUANTILE, SAMPLE.mean, SAMPLE.min or SAMPLE.max. A time
 * below a clock step counts as one step, because its exact length is unknown.
 */
export function byRound(record: Pick<RunRecord, "hosts">, cell: RecordedCell, metric: string): Map<number, number> {
  const [name, figure] = metric.split(".") as [string, string | undefined];
  const found = new Map<number, number>();
  const stepNs = (record.hosts[cell.host]?.clockStepUs ?? 0) * 1000;
  for (const { round, measurement } of cell.rounds) {
    if (figure === undefined) {
      const value = measurement.values[name];
      if (value !== undefined) found.set(round, value.value);
    } else {
      const sample = measurement.samples[name];
      if (sample !== undefined) {
        const ns = figureOf(decodeHistogram(sample.hdr), figure);
        found.set(round, Math.max(stepNs / (sample.batch ?? 1), ns));
      }
    }
  }
  return found;
}

/** The figures of samples besides the quantiles. */
const EXTREMES: Record<string, number> = { min: 0, max: 1 };

function figureOf(histogram: Histogram, figure: string): number {
  if (figure === "mean") return histogram.mean;
  const quantile = QUANTILES[figure as QuantileName] ?? EXTREMES[figure];
  if (quantile === undefined) throw new RangeError(`no such figure of samples: figure=${figure}`);
  return histogram.getValueAtPercentile(quantile * 100);
}

// The figures of a run: medians and distributions over its rounds.

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
}

export function resultsOf(record: RunRecord): Results {
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
    const { unit } = found[0]!;
    const value = median(found.map((each) => each.value));
    metrics[name] = { unit, value: unit === "bytes" ? value : significant(value) };
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
  const run = record.added?.find((_, at) => runLetter(at + 1) === cell.added) ?? record;
  return (run.hosts[cell.host]?.clockStepUs ?? 0) / batch;
}

/** Returns the letter of a run: A for the kept run, B for the first that was added to it. */
export function runLetter(at: number): string {
  return String.fromCharCode("A".charCodeAt(0) + at);
}
