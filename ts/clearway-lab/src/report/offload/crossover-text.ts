// SPDX-License-Identifier: MIT OR Apache-2.0
// Calculates the size of a task from which each strategy is faster than the reference. Formats it as figures and as a sentence.
import type { HostName } from "../../protocol/message.js";
import { byRound } from "../../run/floor.js";
import type { RecordedCell, RunRecord } from "../../run/record.js";
import { geometricMean, median, pairedRatios } from "../../statistics/compare.js";
import { type Crossover, crossoverOf } from "../../statistics/crossover.js";
import { SIZES_NS } from "../../statistics/sizes.js";
import { inHost } from "../host-titles.js";
import { shown } from "../number.js";

export interface SizeLine {
  cell: RecordedCell;
  points: { ns: number; us: number }[];
  /** The crossover. Undefined for the reference itself, and if the reference was not measured. */
  crossover: Crossover | undefined;
}

export function sizeLines(record: RunRecord, host: HostName, reference: string): SizeLine[] {
  const cells = record.cells.filter(
    (cell) => cell.scenario === "sizes" && cell.host === host && !cell.control && cell.rounds.length > 0,
  );
  const base = cells.find(({ mechanism }) => mechanism === reference);
  return cells.map((cell) => {
    const sizes = Object.entries(SIZES_NS).map(([metric, ns]) => ({ ns, own: byRound(record, cell, metric), metric }));
    const points = sizes.flatMap(({ ns, own }) => (own.size === 0 ? [] : [{ ns, us: median([...own.values()]) }]));
    if (base === undefined || cell === base) return { cell, points, crossover: undefined };
    const ratios = sizes.flatMap(({ ns, own, metric }) => {
      const paired = pairedRatios(own, byRound(record, base, metric));
      return paired.length === 0 ? [] : [{ size: ns, ratio: geometricMean(paired) }];
    });
    return { cell, points, crossover: crossoverOf(ratios) };
  });
}

export function crossoverText(crossover: Crossover | undefined): string {
  if (crossover === undefined) return "–";
  if (crossover.kind === "from") return `from ${durationText(crossover.size)} on`;
  return crossover.kind === "everywhere" ? "at every size" : "at no size";
}

/** Returns the sentence, or undefined if no strategy has a crossover figure. */
export function crossoverSentence(lines: readonly SizeLine[], host: HostName): string | undefined {
  const told = lines.filter(({ crossover }) => crossover !== undefined);
  if (told.length === 0) return undefined;
  const parts = told.map(({ cell, crossover }) => `with ${cell.title} ${crossoverText(crossover)}`);
  return `A batch of computing tasks ${inHost(host)} is faster than on the calling thread ${parts.join(", ")}.`;
}

export function durationText(ns: number): string {
  if (ns < 1000) return `${shown(ns)} ns`;
  if (ns < 1e6) return `${shown(ns / 1000)} us`;
  return `${shown(ns / 1e6)} ms`;
}
