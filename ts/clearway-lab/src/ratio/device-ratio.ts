// SPDX-License-Identifier: MIT OR Apache-2.0
// The ratio of two devices, from the times of the same pieces of work on both.

import {
  bootstrapError,
  estimateUnpaired,
  intervalOf,
  REDRAWS,
  type RoundFigure,
  sharedCorrelation,
} from "../statistics/compare-runs.js";
import { randomFrom } from "../statistics/random.js";
import type { DeviceSamples, PieceSamples } from "./device/measure-device.js";

/** How many times as long the other device takes. The interval contains the true ratio with a probability of 95 %. */
export interface Ratio {
  readonly ratio: number;
  readonly ratioMin: number;
  readonly ratioMax: number;
}

export interface PieceRatio extends Ratio {
  readonly name: string;
}

export interface RatioOfPieces extends Ratio {
  readonly pieces: readonly PieceRatio[];
}

/** Pieces whose ratios differ by more than this factor are not one ratio: the text then says so. */
export const DIFFERENT_MIN = 1.5;
/** A device whose later rounds took this much longer than its earlier ones got slower: it was hot, or saved power. */
export const SLOWER_MIN = 1.1;

const LEVEL = 0.95;

/** Where the ends of an interval stop. A few rounds on a busy machine give wider ones, which say no more than these do. */
const END_MIN = 1e-6;
const END_MAX = 1e6;

/**
 * Returns the geometric mean of the pieces' ratios, with its interval. The bootstrap draws the pieces and, in each, the rounds of both
 * devices, so the interval also covers how much one kind of work differs from another. The same samples always give the same interval.
 * Its ends stop at 1e-6 and 1e6.
 */
export function ratioOf(here: DeviceSamples, there: DeviceSamples): RatioOfPieces {
  const shared = [here, there].map(({ pieces }) => sharedCorrelation(pieces.map(logsOf))) as [number, number];
  const random = randomFrom(1);
  const figures: RoundFigure[] = [];
  const pieces = here.pieces.map((piece): PieceRatio => {
    const sides = [piece, pieceOf(there, piece.name)].map(logsOf) as [number[], number[]];
    const [a, b] = sides.map((logs) => logs.map((log): RoundFigure => ({ log, redrawn: [] })));
    const estimate = estimateUnpaired(a!, b!, shared, [randomFrom(2), randomFrom(3)]);
    const redrawn = Array.from({ length: REDRAWS }, () => redraw(sides[1], random) - redraw(sides[0], random));
    figures.push({ log: estimate.log, redrawn });
    return { name: piece.name, ...expOf(estimate.log, intervalOf(estimate, LEVEL)) };
  });
  const log = mean(figures.map((figure) => figure.log));
  const estimate = {
    log,
    error: bootstrapError(figures, random),
    degrees: figures.length - 1,
    effectiveRounds: figures.length,
  };
  return { ...expOf(log, intervalOf(estimate, LEVEL)), pieces };
}

/** Returns the pieces with the smallest and the largest ratio if they differ widely. */
export function extremes(pieces: readonly PieceRatio[]): { least: PieceRatio; most: PieceRatio } | undefined {
  const sorted = [...pieces].sort((a, b) => a.ratio - b.ratio);
  const [least, most] = [sorted[0], sorted.at(-1)];
  return least !== undefined && most !== undefined && most.ratio / least.ratio > DIFFERENT_MIN
    ? { least, most }
    : undefined;
}

/** Returns how much longer the last third of the rounds took than the first third: 1.2 if 20 % longer. */
export function slowdown({ pieces }: DeviceSamples): number {
  const changes = pieces.map((piece) => {
    const logs = logsOf(piece);
    const third = Math.max(1, Math.floor(logs.length / 3));
    return mean(logs.slice(-third)) - mean(logs.slice(0, third));
  });
  return Math.exp(mean(changes));
}

function pieceOf({ pieces }: DeviceSamples, name: string): PieceSamples {
  const found = pieces.find((piece) => piece.name === name);
  if (found === undefined) throw new RangeError(`the other device has no times of the piece ${name}`);
  return found;
}

const logsOf = ({ callMs }: PieceSamples) => callMs.map(Math.log);

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns the mean of as many numbers, drawn with replacement. */
function redraw(logs: readonly number[], random: () => number): number {
  return mean(logs.map(() => logs[Math.floor(random() * logs.length)]!));
}

function expOf(log: number, { low, high }: { low: number; high: number }): Ratio {
  const ratio = Math.exp(log);
  // An end never passes the ratio, even if that is beyond the limit itself.
  const ratioMin = Math.min(ratio, Math.max(END_MIN, Math.exp(low)));
  const ratioMax = Math.max(ratio, Math.min(END_MAX, Math.exp(high)));
  return { ratio, ratioMin, ratioMax };
}
