// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes one sentence about the call site that changes its behaviour, with the cost of the change for each strategy.
import type { HostName } from "../../protocol/message.js";
import { byRound } from "../../run/floor.js";
import type { RecordedCell, RunRecord } from "../../run/record.js";
import { median } from "../../statistics/compare.js";
import { inHost } from "../host-titles.js";
import { shown } from "../number.js";
import { regretsIn } from "./columns.js";
import { regretText } from "./regret-table.js";

/** Returns the sentence, or undefined if no strategy was measured. */
export function changingSentence(record: RunRecord, host: HostName): string | undefined {
  const cells = record.cells.filter(
    (cell) => cell.scenario === "changing-site" && cell.host === host && !cell.control && cell.rounds.length > 0,
  );
  const { of } = regretsIn(record, cells, "total");
  const ratio = (cell: RecordedCell) => of.get(cell.mechanism)?.ratio ?? Number.POSITIVE_INFINITY;
  const [best, ...others] = cells.filter(({ mechanism }) => of.has(mechanism)).sort((a, b) => ratio(a) - ratio(b));
  if (best === undefined) return undefined;
  const value = (cell: RecordedCell, metric: string) => median([...byRound(record, cell, metric).values()]);
  const parts = [`${best.title} finished all batches first, in ${shown(value(best, "total"))} ms`];
  const ours = cells.find(({ place }) => place === "adaptive");
  if (ours !== undefined && value(ours, "recover") >= 0) {
    const recovered = `after ${batchesText(value(ours, "recover"))} when the site began to wait and after ${batchesText(value(ours, "recoverBack"))} when it computed again`;
    const who = ours === best ? "it" : `${ours.title} took ${regretText(ratio(ours))} times as long and`;
    parts.push(`${who} adapted ${recovered}`);
  }
  const worst = others.at(-1);
  if (worst !== undefined && worst !== ours)
    parts.push(`${worst.title} took ${regretText(ratio(worst))} times as long`);
  return `A site that computes, then waits, then computes again ${inHost(host)}: ${parts.join("; ")}.`;
}

function batchesText(count: number): string {
  return count === 1 ? "1 batch" : `${shown(count)} batches`;
}
