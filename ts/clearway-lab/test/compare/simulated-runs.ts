// SPDX-License-Identifier: MIT OR Apache-2.0
// Simulates kept runs with the noise of real machines, from a seed. The sizes come from five kept runs of the quick profile on a virtual
// machine with two cores (docs/lab/compare.md).
import type { KeptRun } from "../../src/compare/kept-run.js";
import type { Params } from "../../src/protocol/message.js";
import type { RecordedCell, RunRecord } from "../../src/run/record.js";
import { randomFrom } from "../../src/statistics/random.js";
import { normalFrom } from "../../src/statistics/resample.js";
import { record } from "../record.js";

/** The noise of a machine. Sizes are standard deviations of logarithms: 0.05 is about 5 %. */
export interface Noise {
  /** How much the whole machine differs between two runs, and how much each cell does beyond that (with long tails). */
  run: number;
  cellInRun: number;
  /** How far the machine drifts from the first round to the last. */
  drift: number;
  /** The slow waves of the machine that all cells share, and the correlation of two neighbouring rounds in them. */
  wave: number;
  waveCorrelation: number;
  /** The noise of a round; each cell has one of these. */
  round: readonly number[];
  /** The share of cells with two humps, and the probability that a round stays in the hump of the round before. */
  humps: number;
  humpStays: number;
  /** The share of rounds in which something disturbs the measurement, by a factor of 2 to 30. */
  disturbed: number;
}

/** The sizes of the kept runs, rounded up. */
export const REAL_NOISE: Noise = {
  run: 0.04,
  cellInRun: 0.012,
  drift: 0.02,
  wave: 0.015,
  waveCorrelation: 0.6,
  round: [0.012, 0.02, 0.02, 0.03, 0.04, 0.04, 0.05, 0.05, 0.06, 0.08, 0.1, 0.15],
  humps: 0.12,
  humpStays: 0.3,
  disturbed: 0.01,
};

/** About twice as noisy, and cells often stay in a hump for a whole run. */
export const HARD_NOISE: Noise = {
  ...REAL_NOISE,
  run: 0.08,
  cellInRun: 0.03,
  drift: 0.06,
  wave: 0.04,
  waveCorrelation: 0.8,
  humps: 0.3,
  humpStays: 0.7,
  disturbed: 0.02,
};

export interface Simulation {
  noise: Noise;
  /** Numbers of cells of Clearway, and of cells with unchanged code. */
  changedCells: number;
  unchangedCells: number;
  /** Rounds of each cell: one of these. */
  rounds: readonly number[];
}

/** Sizes of a quick run. */
export const QUICK: Simulation = { noise: REAL_NOISE, changedCells: 33, unchangedCells: 43, rounds: [5, 5, 9] };

interface Machine {
  cells: { name: string; us: number; sigma: number; rounds: number; hump: number; highShare: number; load: number }[];
}

/**
 * Simulates pairs of runs of one machine. `factors` multiply the times of the first cells of Clearway in B. The cells are the same in all
 * pairs of one seed, and the noise is new in every run.
 */
export function simulator(seed: number, simulation: Simulation = QUICK) {
  const random = randomFrom(seed);
  const machine = machineOf(simulation, random);
  let run = 0;
  return (factors: readonly number[] = []): { a: KeptRun; b: KeptRun } => ({
    a: runOf(machine, simulation, [], ++run, random),
    b: runOf(machine, simulation, factors, ++run, random),
  });
}

function machineOf({ noise, changedCells, unchangedCells, rounds }: Simulation, random: () => number): Machine {
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  const cells = Array.from({ length: changedCells + unchangedCells }, (_, at) => ({
    name: at < changedCells ? `clearway-${at}` : `reference-${at}`,
    us: Math.exp(random() * 10),
    sigma: pick(noise.round),
    rounds: pick(rounds),
    hump: random() < noise.humps ? Math.log(1.2 + random() * 1.8) : 0,
    highShare: 0.1 + random() * 0.4,
    // How much of the machine's state reaches the cell: work that waits is hardly affected.
    load: 0.2 + random() * 0.8,
  }));
  return { cells };
}

function runOf(
  machine: Machine,
  { noise }: Simulation,
  factors: readonly number[],
  number: number,
  random: () => number,
): KeptRun {
  const normal = () => normalFrom(random);
  const shift = noise.run * normal();
  const drift = noise.drift * normal();
  const waves = wavesOf(Math.max(...machine.cells.map(({ rounds }) => rounds)), noise, random);
  const cells = machine.cells.map((cell, at): RecordedCell => {
    // A number from Student's distribution with four degrees of freedom: the tails between runs are long.
    const square = Array.from({ length: 4 }, normal).reduce((sum, each) => sum + each ** 2, 0);
    const own = (noise.cellInRun * normal()) / Math.sqrt(square / 4);
    let high = random() < cell.highShare;
    const logs = Array.from({ length: cell.rounds }, (_, round) => {
      if (random() > noise.humpStays) high = random() < cell.highShare;
      const disturbed = random() < noise.disturbed ? Math.log(2 + 28 * random()) : 0;
      const state = shift + (drift * round) / cell.rounds + waves[round]!;
      return cell.load * state + own + cell.sigma * normal() + (high ? cell.hump : 0) + disturbed;
    });
    const us = cell.us * (factors[at] ?? 1);
    return cellOf(
      cell.name,
      { size: at },
      logs.map((log) => us * Math.exp(log)),
    );
  });
  return keptRun({ seed: number, startedAt: `run ${number}`, cells });
}

function wavesOf(rounds: number, { wave, waveCorrelation }: Noise, random: () => number): number[] {
  const waves = [wave * normalFrom(random)];
  const innovation = wave * Math.sqrt(1 - waveCorrelation ** 2);
  while (waves.length < rounds) waves.push(waveCorrelation * waves.at(-1)! + innovation * normalFrom(random));
  return waves;
}

/** Returns a cell with one value per round. Its role follows from its name. */
export function cellOf(name: string, params: Params, us: readonly number[], unit = "us"): RecordedCell {
  return {
    family: "codec",
    scenario: "simulated",
    host: "node",
    mechanism: name,
    title: name,
    role: name.startsWith("clearway") ? "clearway" : "reference",
    settings: "none",
    params,
    control: "control" in params,
    plannedRounds: us.length,
    rounds: us.map((value, round) => ({
      round,
      position: round,
      tookMs: 1,
      machineStallMs: 0,
      measurement: { samples: {}, values: { both: { unit: unit as "us", value } }, result: null, notes: [] },
    })),
  };
}

/** Returns a kept run with these cells of the scenario `simulated`, whose compared figure is `both`. */
export function keptRun(more: Partial<RunRecord>): KeptRun {
  const base = record();
  const scenario = { ...base.scenarios[0]!, name: "simulated", compare: "both" };
  return { file: "record.json", record: { ...base, scenarios: [scenario], cells: [], ...more } };
}
