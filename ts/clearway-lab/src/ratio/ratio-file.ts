// SPDX-License-Identifier: MIT OR Apache-2.0
// The ratio of two devices, from the times of the same pieces of work on both, and the file that keeps it.
import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import schema from "../../../../spec/device-ratio.schema.json" with { type: "json" };
import { intervalOf } from "../engine/estimate.js";
import type { DeviceSamples, PageResult, PieceSamples } from "./device/measure-device.js";
import { WORKS, WORKS_VERSION } from "./device/works.js";

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
const DIFFERENT_MIN = 1.5;
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

// The file of a measured ratio: both devices' facts and times. Checked when it is read, and so is what a page sends.

export interface Device {
  /** Node or Chromium of the lab's machine, or a page on another device. */
  readonly host: "node" | "chromium" | "page";
  /** `Node 20` or `Safari 18 on iPhone`. */
  readonly name: string;
  readonly agent: string;
  /** 0 if the device does not say. */
  readonly cores: number;
  /** The processor, if the lab's machine is the device. */
  readonly cpu?: string;
  readonly samples: DeviceSamples;
}

export interface RatioFile extends RatioOfPieces {
  readonly kind: "clearway-device-ratio";
  readonly version: 1;
  readonly measuredAt: string;
  readonly here: Device;
  readonly there: Device;
}

/** Returns the content of the file. Throws a RatioError if the times are too odd for a ratio. */
export function ratioFile(here: Device, there: Device, measuredAt: string): RatioFile {
  const ratios = ratioOf(here.samples, there.samples);
  assertRatio(ratios.ratio);
  const file: RatioFile = { kind: "clearway-device-ratio", version: 1, measuredAt, ...ratios, here, there };
  const problem = problemOf("", file);
  if (problem !== undefined) throw new RatioError(`the times give no ratio: ${problem}`);
  return file;
}

/** Reads a file of `clearway ratio`. Throws a RatioError that says what is wrong with it. */
export function readRatioFile(file: string): RatioFile {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? "it does not exist" : (error as Error).message;
    throw new RatioError(
      `${file} cannot be read: ${why}. Name a ratio, such as 3.1, or a file that clearway ratio wrote`,
    );
  }
  const { kind, version } = (value ?? {}) as Partial<RatioFile>;
  if (kind !== "clearway-device-ratio")
    throw new RatioError(`${file} is not a file of clearway ratio: kind=${shown(kind)}`);
  if (version !== 1)
    throw new RatioError(`${file} has a version that this clearway does not know: version=${shown(version)}, known=1`);
  const problem = problemOf("", value);
  if (problem !== undefined)
    throw new RatioError(`${file} is damaged: ${problem}. Measure it again with clearway ratio`);
  const read = value as RatioFile;
  const wrong = samplesProblem(read.here.samples) ?? samplesProblem(read.there.samples) ?? ratioProblem(read);
  if (wrong !== undefined) throw new RatioError(`${file} is damaged: ${wrong}. Measure it again with clearway ratio`);
  return read;
}

/** Parses what the lab's page sends. Throws a RatioError, or a SyntaxError if it is not JSON. */
export function parseResult(text: string): PageResult {
  const value = JSON.parse(text) as PageResult;
  const problem = problemOf("#/$defs/result", value) ?? samplesProblem(value.samples);
  if (problem !== undefined) throw new RatioError(`not a result of the page: ${problem}`);
  return { ...value, samples: known(value.samples) };
}

/** Leaves out unknown fields: the file must not have what a peer adds. */
function known({ worksVersion, clockStepMs, repeated, pieces }: DeviceSamples): DeviceSamples {
  return {
    worksVersion,
    clockStepMs,
    repeated,
    pieces: pieces.map(({ name, warm, callMs }) => ({ name, warm, callMs })),
  };
}

/** Checks the times of this machine. Throws a RatioError if they are wrong. */
export function samplesOf(value: unknown): DeviceSamples {
  const problem = problemOf("#/$defs/samples", value) ?? samplesProblem(value as DeviceSamples);
  if (problem !== undefined) throw new RatioError(`not the times of a device: ${problem}`);
  return value as DeviceSamples;
}

/** Returns what is wrong with a device's times beyond their form. */
function samplesProblem({ worksVersion, pieces }: DeviceSamples): string | undefined {
  if (worksVersion !== WORKS_VERSION)
    return `its pieces of work are of another version: worksVersion=${worksVersion}, known=${WORKS_VERSION}`;
  const names = pieces.map(({ name }) => name).join(", ");
  const known = WORKS.map(({ name }) => name).join(", ");
  if (names !== known) return `it has other pieces of work: ${names} instead of ${known}`;
  const rounds = pieces[0]!.callMs.length;
  const uneven = pieces.find(({ callMs }) => callMs.length !== rounds);
  return uneven === undefined ? undefined : `its pieces have different numbers of rounds: ${uneven.name}`;
}

/** Relative difference that is left by writing numbers as text and by other engines' logarithms. */
const DIGITS = 1e-6;

function ratioProblem(file: RatioFile): string | undefined {
  const { ratio } = ratioOf(file.here.samples, file.there.samples);
  if (Math.abs(file.ratio / ratio - 1) > DIGITS)
    return `ratio=${file.ratio} does not follow from its times, which give ${ratio}`;
  if (file.ratioMin > file.ratio || file.ratioMax < file.ratio)
    return `its interval does not contain the ratio: ${file.ratioMin} to ${file.ratioMax}, ratio=${file.ratio}`;
  return undefined;
}

let ajv: Ajv2020 | undefined;

function problemOf(part: string, value: unknown): string | undefined {
  ajv ??= new Ajv2020().addSchema(schema);
  const validate = ajv.getSchema(schema.$id + part) as ValidateFunction;
  if (validate(value)) return undefined;
  const [first] = validate.errors ?? [];
  return `${first?.instancePath || "/"} ${first?.message ?? "is wrong"}`;
}

function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 60) ?? "undefined";
}

/** A ratio, or a file of one, cannot be used. The message says what is wrong with which value, and what to do. */
export class RatioError extends RangeError {}

/** The largest accepted ratio. A wrong unit is likelier than such a device. */
export const RATIO_MAX = 1000;

/** Throws a RatioError unless `ratio` is a finite number over 0, at most `RATIO_MAX`. */
export function assertRatio(ratio: number): void {
  if (!(ratio > 0 && ratio <= RATIO_MAX))
    throw new RatioError(`a device's ratio must be a number over 0, at most ${RATIO_MAX}: ratio=${ratio}`);
}
