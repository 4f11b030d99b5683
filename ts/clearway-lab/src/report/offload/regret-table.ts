// SPDX-License-Identifier: MIT OR Apache-2.0
// The table of regrets: strategies by kind of work, and the worst regret of each strategy. A regret is a time as a multiple of the best
// strategy's time.
import type { HostName } from "../../protocol/message.js";
import type { RunRecord } from "../../run/record.js";
import type { Regret } from "../../statistics/regret.js";
import { shown } from "../number.js";
import type { Table, TableCell } from "../table.js";
import { regretGrid, type Temperature } from "./columns.js";

/**
 * Returns the table, or undefined if the run has no such cells. The page shows the table collapsed. The terminal prints one sentence per
 * kind of work instead of the table.
 */
export function regretTable(record: RunRecord, host: HostName, temperature: Temperature): Table | undefined {
  const { columns, rows } = regretGrid(record, host, temperature);
  if (columns.length === 0) return undefined;
  return {
    scenario: "works",
    host,
    load: `regret, ${temperature} pool: time as a multiple of the best strategy's for that kind of work`,
    columns: [...columns.map(({ label }) => ({ label, unit: "regret" })), { label: "worst", unit: "regret" }],
    rows: rows.map(({ cell, regrets, worst }) => ({
      mechanism: cell.mechanism,
      title: cell.title,
      role: cell.role,
      cells: [...regrets.map(regretCell), regretCell(worst)],
    })),
    folded: true,
  };
}

/**
 * Formats a regret. A dash means that the work was not measured. A regret is doubtful if the round that it was calculated from also
 * chose the best strategy.
 */
export function regretCell(regret: Regret | undefined): TableCell {
  if (regret === undefined) return { text: "–" };
  return { text: regretText(regret.ratio), ...(regret.chosenElsewhere ? {} : { doubtful: true }) };
}

/** Formats a regret in at most four characters, for a crowded chart: "1.0", "48", "1.4k". */
export function shortRegret(ratio: number): string {
  if (ratio < 9.95) return ratio.toFixed(1);
  if (ratio < 999.5) return String(Math.round(ratio));
  return ratio < 9950 ? `${(ratio / 1000).toFixed(1)}k` : `${Math.round(ratio / 1000)}k`;
}

/** Formats a regret: "1.04", "3.4", "48". Readers need the decimals of small regrets only. */
export function regretText(ratio: number): string {
  if (ratio < 2) return ratio.toFixed(2);
  return ratio < 10 ? ratio.toFixed(1) : shown(Math.round(ratio));
}
