// SPDX-License-Identifier: MIT OR Apache-2.0
// The record of a run: everything measured, round by round, with raw histograms and the order of the measurements. results.json
// is computed from it; the report reads both. Written as DIR/record.json.
import type { BuildFacts, MachineFacts } from "../machine/facts.js";
import { WARM_UP_CUT } from "../protocol/measured.js";
import type { Description, HostName, Measurement, Params } from "../protocol/message.js";
import { cellName, type PlannedCell } from "../scenario/plan.js";
import type { Place, ProfileName, Role } from "../scenario/scenario.js";

export const RECORD_VERSION = 1;

export interface RecordedRound {
  round: number;
  /** Position in the order of the run. */
  position: number;
  /** The duration of the whole measurement, including the runner's start. */
  tookMs: number;
  measurement: Measurement;
  /** The longest time that the idle watcher was kept from waking meanwhile. */
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
  /** Where a strategy of *offload* runs its actions. */
  place?: Place;
  params: Params;
  control: boolean;
  plannedRounds: number;
  rounds: RecordedRound[];
  /** Why it could not run here. */
  unavailable?: string;
  /** The error when it ran. */
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
  profile: ProfileName;
  /** Determines the order of the measurements. */
  seed: number;
  startedAt: string;
  durationMs: number;
  /** Measurements that were planned, and done. */
  planned: number;
  done: number;
  interrupted: boolean;
  /** The time budget ended before all rounds were done. */
  budgetEnded: boolean;
  machine: MachineFacts;
  build: BuildFacts;
  hosts: Partial<Record<HostName, Omit<Description, "mechanisms">>>;
  scenarios: RecordedScenario[];
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
    params,
    control,
    plannedRounds: rounds,
    rounds: [],
    ...(unavailable === undefined ? {} : { unavailable }),
  };
}

export { cellName };

/** Returns whether the cell still got faster, in some round, when its warm-up ended. */
export const wasWarmUpCut = ({ rounds }: RecordedCell): boolean =>
  rounds.some(({ measurement }) => WARM_UP_CUT in measurement.values);
