// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the cost of using one strategy for all kinds of work: the worst regret of the best single strategy. A regret is a time as a
// multiple of the best strategy's time.
import type { HostName } from "../../protocol/message.js";
import { type RunRecord, wasWarmUpCut } from "../../run/record.js";
import { inHost } from "../host-titles.js";
import { regretGrid, type StrategyRow, type Temperature } from "./columns.js";
import { regretText } from "./regret-table.js";

/** Returns the sentence, or [] for fewer than two works, or if no strategy that is not adaptive was measured in all works. */
export function worstSentence(record: RunRecord, host: HostName, temperature: Temperature): string[] {
  const { columns, rows } = regretGrid(record, host, temperature);
  const whole = rows.filter(({ worst }) => worst !== undefined);
  const fixed = whole.find(({ cell }) => cell.place !== "adaptive");
  if (columns.length < 2 || fixed === undefined) return [];
  const at = (row: StrategyRow) => {
    const column = columns[row.regrets.indexOf(row.worst)];
    const cell = column?.cells.find(({ mechanism }) => mechanism === row.cell.mechanism);
    const isWarming = temperature === "warm" && cell !== undefined && wasWarmUpCut(cell);
    return `${column?.label ?? ""}${isWarming ? ", still getting faster" : ""}`;
  };
  const ratio = (row: StrategyRow) => regretText(row.worst?.ratio ?? Number.NaN);
  const single = `the best strategy that is not adaptive, ${fixed.cell.title}, took up to ${ratio(fixed)} times as long as the best choice for each kind (${at(fixed)})`;
  const adaptive = whole
    .filter(({ cell }) => cell.place === "adaptive")
    .map((row) => `; ${row.cell.title} took up to ${ratio(row)} times as long (${at(row)})`);
  const pools = temperature === "warm" ? "warm pools" : "cold pools";
  return [`For ${columns.length} kinds of work ${inHost(host)}, on ${pools}, ${single}${adaptive.join("")}.`];
}
