// SPDX-License-Identifier: MIT OR Apache-2.0
// The ratio of two devices, from the times of the same pieces of work on both.

import { intervalOf } from "../engine/estimate.js";
import type { DeviceSamples, PieceSamples } from "./device/measure-device.js";

/** How many times as long the other device takes. The interval contains the true ratio with a probability of 99 %. */
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

/** Where the ends of an interval stop. A few rounds on a busy machine give wider ones, which say no more than these do. */
const END_MIN = 1e-6;
const END_MAX = 1e6;

/**
 * Returns the geometric mean of the pieces' ratios, with the engine's interval over the pieces: it covers how much one kind of work differs
 * from another. A piece's own interval is over its rounds. The ends of intervals stop at 1e-6 and 1e6.
 */
export function ratioOf(here: DeviceSamples, there: DeviceSamples): RatioOfPieces {
  const logs = here.pieces.map((piece) => {
    const [own, other] = [logsOf(piece), logsOf(pieceOf(there, piece.name))];
    return own.slice(0, other.length).map((log, round) => other[round]! - log);
  });
  const pieces = here.pieces.map(({ name }, at): PieceRatio => ({ name, ...ratioFrom(logs[at]!) }));
  return { ...ratioFrom(logs.map(mean)), pieces };
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

function ratioFrom(logs: readonly number[]): Ratio {
  const { ratio, low, high } = intervalOf(logs);
  // An end never passes the ratio, even if that is beyond the limit itself.
  return {
    ratio,
    ratioMin: Math.min(ratio, Math.max(END_MIN, low)),
    ratioMax: Math.max(ratio, Math.min(END_MAX, high)),
  };
}
