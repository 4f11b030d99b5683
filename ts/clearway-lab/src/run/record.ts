// SPDX-License-Identifier: MIT OR Apache-2.0
// The record of a run: all measurements, round by round, with raw histograms and the order of the measurements. It is written as
// DIR/record.json. docs/experiments.md is made from it.
import type { BuildFacts, MachineFacts } from "../machine/facts.js";
import type { ByHost, Description, HostName, Measurement, Params } from "../protocol/message.js";
import type { Experiment } from "../scenario/experiment.js";
import { cellName, type PlannedCell } from "../scenario/plan.js";
import type { Place, Role } from "../scenario/scenario.js";
import { decodeHistogram } from "../statistics/histogram.js";

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
  control: boolean;
  plannedRounds: number;
  rounds: RecordedRound[];
  /** Why the cell could not run here. */
  unavailable?: string;
  /** The error of a failed measurement. */
  failure?: string;
}

export interface RecordedScenario {
  name: string;
  family: string;
  question: string;
  shows: string;
  topology: string;
  control: string;
  reference: string;
  compare: string;
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
  scenarios: RecordedScenario[];
  /** The published experiments that the run repeats. Absent in other profiles. */
  experiments?: Experiment[];
  cells: RecordedCell[];
}

export function recordedCell(cell: PlannedCell): RecordedCell {
  const { scenario, mechanism, host, params, rounds, control, unavailable } = cell;
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
    control,
    plannedRounds: rounds,
    rounds: [],
    ...(unavailable === undefined ? {} : { unavailable }),
  };
}

/** Two medians of equal work differ by less than this factor. */
const SAME_WORK = 1.1;

/**
 * Returns the record without parts that are greater than their whole: a hop that is longer than its round trip, and the shares that were
 * calculated from it. One of the two was measured wrongly, so that the figures of the part mean nothing.
 */
export function withoutImpossibleParts(record: RunRecord): RunRecord {
  const checked = (measurement: Measurement): Measurement => {
    const { hop, hopShare: _, copyShare: __, ...values } = measurement.values;
    const trip = measurement.samples["roundTrip"];
    if (hop === undefined || trip === undefined) return measurement;
    const tripUs = decodeHistogram(trip.hdr).getValueAtPercentile(50) / 1000;
    if (hop.value <= tripUs * SAME_WORK) return measurement;
    const note = `a hop of ${hop.value.toFixed(1)} us in a round trip of ${tripUs.toFixed(1)} us was measured wrongly, and is left out`;
    return { ...measurement, values, notes: [...measurement.notes, note] };
  };
  const cells = record.cells.map((cell) => ({
    ...cell,
    rounds: cell.rounds.map((round) => ({ ...round, measurement: checked(round.measurement) })),
  }));
  return { ...record, cells };
}

export { cellName };
