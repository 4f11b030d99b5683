// SPDX-License-Identifier: MIT OR Apache-2.0
// The output of `clearway compare --json`, without and with `--max`. Within a version, fields are only added.
import type { RunsCompared } from "../compare/compare-kept-runs.js";
import type { Gate } from "../compare/gate.js";
import type { CellName } from "../compare/match.js";
import { FALSE_ALARMS_MAX, LEVEL } from "../compare/verdict.js";

export const COMPARISON_VERSION = 1;

export function compareJson(compared: RunsCompared): object {
  return {
    version: COMPARISON_VERSION,
    ...headOf(compared),
    level: LEVEL,
    falseAlarmsMax: FALSE_ALARMS_MAX,
    cells: compared.cells.map((cell) => {
      const { unchanged, metric, unit, a, b, rounds, effectiveRounds, verdict, why, ratio, low, high, p, floor } = cell;
      return {
        ...nameOf(cell),
        ...{ unchanged, metric, unit, a, b, rounds, effectiveRounds, verdict, why, ratio, low, high, p, floor },
        ...(cell.estimate && { standardError: cell.estimate.error, degreesOfFreedom: cell.estimate.degrees }),
      };
    }),
    notCompared: compared.others.map((cell) => ({ ...nameOf(cell), why: cell.why, onlyIn: cell.onlyIn })),
  };
}

export function gateJson(compared: RunsCompared, { max, verdict, failUndecided, cells }: Gate): object {
  const gated = cells.map((cell) => {
    const { status, why, ratio, low, high, rounds, effectiveRounds } = cell;
    return { ...nameOf(cell), status, why, ratio, low, high, rounds, effectiveRounds };
  });
  return {
    ...{ version: COMPARISON_VERSION, verdict, max, failUndecided, falseAlarmsMax: FALSE_ALARMS_MAX },
    ...headOf(compared),
    cells: gated,
  };
}

function headOf({ a, b, sameRun, paired, differences, noise }: RunsCompared): object {
  const run = ({ file, record }: RunsCompared["a"]) => {
    const { startedAt, seed, profile, build } = record;
    return { file, startedAt, seed, profile, lab: build.lab, clearway: build.clearway, commit: build.commit };
  };
  return { a: run(a), b: run(b), sameRun, paired, differences, noise };
}

function nameOf({ family, scenario, host, mechanism, role, params }: CellName): CellName {
  return { family, scenario, host, mechanism, role, params };
}
