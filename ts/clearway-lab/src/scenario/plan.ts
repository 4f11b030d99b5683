// SPDX-License-Identifier: MIT OR Apache-2.0
// Plans the cells of a run and the order of their measurements. A cell is a mechanism with one set of parameters on one host.
import type { RunnerCores } from "../machine/cores.js";
import type { HostName, Params } from "../protocol/message.js";
import { randomFrom, shuffled } from "../statistics/random.js";
import { belongsOn, inOrder, listedAs, type MechanismInfo, type Scenario } from "./scenario.js";

export interface PlannedCell {
  scenario: Scenario;
  mechanism: MechanismInfo;
  host: HostName;
  params: Params;
  rounds: number;
  estimateMs: number;
  /** The cores of the runner's threads. Default: the scheduler decides. */
  cores?: RunnerCores;
  /** The reason why the cell cannot run here. Such a cell is reported but never measured. */
  unavailable?: string;
}

export interface PlannedMeasurement {
  cell: PlannedCell;
  round: number;
  /** The number of the measurement in the whole order, from 0. It stays when cells are left out. */
  position: number;
}

/** The parameter that names the cores of the runner's threads: `one` or `two`. */
export const CORES_PARAM = "cores";

export function planCells(
  scenarios: readonly Scenario[],
  hosts: readonly HostName[],
  /** The reasons why whole hosts cannot run, for example no browser. */
  hostProblems: Partial<Record<HostName, string>> = {},
  /** The number of rounds of every cell, instead of the profile's number. */
  askedRounds?: number,
): PlannedCell[] {
  const cells: PlannedCell[] = [];
  for (const scenario of scenarios) {
    const { rounds, sets } = scenario.profiles?.published ?? { rounds: 0, sets: [] };
    for (const host of inOrder(hosts)) {
      for (const set of sets) {
        if (set.hosts !== undefined && !set.hosts.includes(listedAs(host))) continue;
        for (const mechanism of scenario.mechanisms) {
          if (!belongsOn(host, scenario, mechanism)) continue;
          if (set.mechanisms !== undefined && !set.mechanisms.includes(mechanism.name)) continue;
          const unavailable =
            mechanism.unavailable?.[listedAs(host)] ?? set.unavailable?.[mechanism.name] ?? hostProblems[host];
          cells.push({
            scenario,
            mechanism,
            host,
            params: set.params,
            rounds: askedRounds ?? set.rounds ?? rounds,
            estimateMs: set.estimateMs,
            ...(unavailable === undefined ? {} : { unavailable }),
          });
        }
      }
    }
  }
  return cells;
}

/**
 * Orders the measurements round by round. Each round has every cell once, in a random order from `seed`. If the machine is slow for a
 * minute, all cells are affected alike. If a run ends early, the numbers of rounds of two cells differ by at most one.
 */
export function planOrder(cells: readonly PlannedCell[], seed: number): PlannedMeasurement[] {
  const random = randomFrom(seed);
  const order: PlannedMeasurement[] = [];
  const rounds = Math.max(0, ...cells.map((cell) => cell.rounds));
  for (let round = 0; round < rounds; round++) {
    const due = cells.filter((cell) => cell.unavailable === undefined && round < cell.rounds);
    for (const cell of shuffled(due, random)) order.push({ cell, round, position: order.length });
  }
  return order;
}

export function cellName(cell: PlannedCell): string {
  return `${cell.scenario.name}/${cell.mechanism.name}`;
}
