// SPDX-License-Identifier: MIT OR Apache-2.0
// The kinds of work of a run on one host, and the regret of each strategy in each of them. A regret is the strategy's time as a multiple
// of the best strategy's time.
import type { HostName } from "../../protocol/message.js";
import { byRound } from "../../run/floor.js";
import type { RecordedCell, RunRecord } from "../../run/record.js";
import { type Regret, type Regrets, regretsOf, withoutCutRound } from "../../statistics/regret.js";
import { loadText } from "../load-text.js";
import { byLoad } from "../table.js";

/** `cold`: the time from making the pool to the end of its first batch. `warm`: the time of a later batch. */
export type Temperature = "warm" | "cold";
const METRIC: Record<Temperature, string> = { warm: "batch", cold: "coldBatch" };

export interface WorkColumn {
  label: string;
  cells: RecordedCell[];
  /** The regrets by mechanism. */
  regrets: Map<string, Regret>;
}

export interface StrategyRow {
  cell: RecordedCell;
  regrets: (Regret | undefined)[];
  /** The largest regret. Undefined if the strategy was not measured in every kind of work. */
  worst: Regret | undefined;
}

export interface RegretGrid {
  columns: WorkColumn[];
  rows: StrategyRow[];
}

export function workCells(record: RunRecord, host: HostName): RecordedCell[] {
  return record.cells.filter(
    (cell) => cell.scenario === "works" && cell.host === host && !cell.control && cell.rounds.length > 0,
  );
}

/** Returns the strategies in ascending order of their worst regret. Strategies without a figure for some work come last. */
export function regretGrid(record: RunRecord, host: HostName, temperature: Temperature): RegretGrid {
  const cells = workCells(record, host);
  const columns = byLoad(cells).map((group): WorkColumn => {
    const { of } = regretsIn(record, group, METRIC[temperature]);
    return { label: loadText(group[0]?.params ?? {}), cells: group, regrets: of };
  });
  const strategies = [...new Map(cells.map((cell) => [cell.mechanism, cell])).values()];
  const rows = strategies.map((cell): StrategyRow => {
    const regrets = columns.map(({ regrets }) => regrets.get(cell.mechanism));
    return { cell, regrets, worst: worstOf(regrets) };
  });
  const key = ({ worst }: StrategyRow) => worst?.ratio ?? Number.POSITIVE_INFINITY;
  return { columns, rows: rows.sort((a, b) => key(a) - key(b) || 0) };
}

/** Returns the regrets within the cells of one kind of work. If the run was cut short, its last, incomplete round does not count. */
export function regretsIn(record: RunRecord, cells: readonly RecordedCell[], metric: string): Regrets {
  const times = new Map(cells.map((cell) => [cell.mechanism, byRound(record, cell, metric)]));
  return regretsOf(record.interrupted || record.budgetEnded ? withoutCutRound(times) : times);
}

function worstOf(regrets: readonly (Regret | undefined)[]): Regret | undefined {
  if (regrets.length === 0 || regrets.some((regret) => regret === undefined)) return undefined;
  return regrets.reduce((worst, each) => (worst === undefined || (each?.ratio ?? 0) > worst.ratio ? each : worst));
}
