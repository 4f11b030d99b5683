// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes one sentence per kind of work: the recommended strategy, and the costs of Clearway, of the second choice and of the worst.
import type { HostName } from "../../protocol/message.js";
import { compareCells } from "../../run/floor.js";
import type { RecordedCell, RunRecord } from "../../run/record.js";
import type { Metric, Results } from "../../run/results.js";
import { shown } from "../number.js";
import { metricsFor } from "../table.js";
import { regretGrid, type WorkColumn } from "./columns.js";
import { regretText } from "./regret-table.js";

export interface Advice {
  work: string;
  sentence: string;
}

/** Length of a frame at 60 Hz, in milliseconds. A longer batch on the calling thread costs a frame. */
const FRAME_MS = 1000 / 60;

export function adviceOf(results: Results, record: RunRecord, host: HostName): Advice[] {
  const warm = regretGrid(record, host, "warm");
  const cold = regretGrid(record, host, "cold");
  return warm.columns.flatMap((column, at) => {
    const coldColumn = cold.columns[at];
    const sentence = coldColumn && adviceFor(results, record, column, coldColumn);
    return sentence === undefined ? [] : [{ work: column.label, sentence }];
  });
}

/** Returns the sentence of one kind of work. Without `cold`, it does not say which strategy is best on a cold pool. */
export function adviceFor(
  results: Results,
  record: RunRecord,
  column: WorkColumn,
  cold?: WorkColumn,
): string | undefined {
  const [best, ...others] = byRegret(column);
  if (best === undefined) return undefined;
  const ms = (cell: RecordedCell, metric = "batch") => numberOf(metricsFor(results, record, cell)[metric]);
  const compared = (cell: RecordedCell) => compareCells(record, cell, best, "batch", results.noiseFloor);
  const ratio = (cell: RecordedCell) => compared(cell)?.ratio ?? Number.NaN;
  const took = `${best.title} took ${shown(ms(best))} ms for ${shown(Number(best.params["actions"]))} actions`;
  if (others.length === 0) return `${took}; no other strategy was measured.`;
  const alike = others.filter((other) => compared(other)?.verdict !== "higher" && ratio(other) < ALIKE_RATIO);
  const parts = [
    `${took}${alike.length === 0 ? "" : `, no difference seen to ${listed(alike.map(({ title }) => title))}`}`,
  ];
  const ours = others.find((cell) => cell.role === "clearway" && !alike.includes(cell));
  const next = others.find((cell) => !alike.includes(cell) && cell !== ours);
  const worst = others.at(-1);
  const times = (cell: RecordedCell) => `${cell.title} ${regretText(ratio(cell))} times as long`;
  const more = [ours, next, worst].filter(
    (cell, at, all): cell is RecordedCell => cell !== undefined && !alike.includes(cell) && all.indexOf(cell) === at,
  );
  if (more.length > 0) parts.push(listed(more.sort((a, b) => ratio(a) - ratio(b)).map(times)));
  const held = ms(best, "held");
  if (held > FRAME_MS) parts.push(`it blocks the calling thread for ${shown(held)} ms`);
  const [coldBest] = cold === undefined ? [] : byRegret(cold);
  const coldRegret = cold?.regrets.get(best.mechanism)?.ratio ?? 1;
  if (coldBest !== undefined && coldRegret > COLD_WORTH_RATIO)
    parts.push(`on a cold pool ${coldBest.title} is fastest with ${shown(ms(coldBest, "coldBatch"))} ms`);
  // If a plain strategy is as good, an adaptive strategy is not needed.
  const plain = [best, ...alike].find(({ place }) => place !== "adaptive") ?? best;
  return `${placeText(plain)}: ${parts.join("; ")}.`;
}

/** From this ratio on, two strategies are not called alike, even if the noise is too large for a verdict. */
const ALIKE_RATIO = 2;

/** From this regret (time / the best strategy's time) on a cold pool, the sentence also names the best strategy on a cold pool. */
const COLD_WORTH_RATIO = 1.5;

/** Returns advice that follows from the place where the best strategy runs its actions. */
function placeText({ place, params }: RecordedCell): string {
  if (place === "caller")
    return params["waits"] === "async"
      ? "run it on the calling thread and await all actions together"
      : "run it on the calling thread";
  if (place === "one") return "run it on one other thread";
  if (place === "cpu") return "run it on as many threads as cores";
  if (place === "many") return "run it on more threads than cores";
  if (place === "adaptive") return "use an adaptive strategy";
  return "run it in a pool";
}

/** Returns the strategies of a kind of work, in ascending order of regret. */
export function byRegret({ cells, regrets }: WorkColumn): RecordedCell[] {
  const key = (cell: RecordedCell) => regrets.get(cell.mechanism)?.ratio ?? Number.POSITIVE_INFINITY;
  return cells.filter((cell) => regrets.has(cell.mechanism)).sort((a, b) => key(a) - key(b));
}

function listed(parts: string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

function numberOf(metric: Metric | undefined): number {
  return metric !== undefined && "value" in metric ? metric.value : Number.NaN;
}
