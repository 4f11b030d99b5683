// SPDX-License-Identifier: MIT OR Apache-2.0
// What the main thread saw of each way of a user's scenario, in sentences.
import type { RecordedCell, RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";
import { byLoad, metricsFor } from "./table.js";

/** Returns a sentence for each input: how many frames one call of each way drops at 60 Hz. Empty for other runs. */
export function mainThreadLines(results: Results, record: RunRecord): string[] {
  if (record.profile !== "bench") return [];
  return byLoad(record.cells.filter(({ rounds }) => rounds.length > 0)).map((group) => {
    const input = group[0]?.params["input"];
    const dropped = group.map((cell) => [cell.mechanism, droppedOf(results, record, cell)] as const);
    const where = input === undefined ? "" : `Input ${input}: `;
    const some = dropped.filter(([, frames]) => frames > 0).map(([way, frames]) => `${framesText(frames)} with ${way}`);
    const none = dropped.filter(([, frames]) => frames === 0).map(([way]) => way);
    const sentence =
      some.length === 0
        ? `no way drops a frame at 60 Hz on the main thread.`
        : `one call drops ${listed([...some, ...(none.length === 0 ? [] : [`none with ${listed(none)}`])])} at 60 Hz.`;
    return where === "" ? sentence[0]!.toUpperCase() + sentence.slice(1) : where + sentence;
  });
}

/** Returns the verdict of a scenario that compares nothing. */
export function loneWayLines(record: RunRecord): string[] {
  const measured = record.cells.filter(({ rounds, control }) => rounds.length > 0 && !control);
  const ways = [...new Set(measured.map(({ mechanism }) => mechanism))];
  if (ways.length === 0) return ["Nothing was measured."];
  return [`${ways[0]} is the only way that was measured, so nothing is compared.`];
}

function droppedOf(results: Results, record: RunRecord, cell: RecordedCell): number {
  const metric = metricsFor(results, record, cell)["droppedFrames60"];
  return metric !== undefined && "value" in metric ? metric.value : 0;
}

function framesText(count: number): string {
  return `${count} ${count === 1 ? "frame" : "frames"}`;
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
