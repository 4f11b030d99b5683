// SPDX-License-Identifier: MIT OR Apache-2.0
// Another device's time, for budgets: `--device 3.1`, or `--device FILE` with a file of `clearway ratio`.
import { existsSync } from "node:fs";
import { assertRatio, RatioError, readRatioFile } from "./ratio-file.js";

export interface DeviceTime {
  /** How many times as long the other device takes. */
  readonly ratio: number;
  /** The interval of the ratio. Undefined if the user gave the ratio as a number. */
  readonly ratioMin?: number;
  readonly ratioMax?: number;
  /** The other device, as text: `the other device` if the user gave the ratio as a number. */
  readonly name: string;
  /** What was measured as "here". Undefined if the user gave the ratio as a number. */
  readonly here?: { readonly host: "node" | "chromium" | "page"; readonly name: string; readonly cpu: string };
}

const NUMBER = /^\s*[-+]?(\d+\.?\d*|\.\d+|Infinity|NaN)(e[-+]?\d+)?\s*$/i;

/** Parses a ratio, or reads the file of one. Throws a RatioError that names the wrong value. */
export function parseDevice(text: string): DeviceTime {
  if (NUMBER.test(text)) {
    const ratio = Number(text);
    assertRatio(ratio);
    return { ratio, name: "the other device" };
  }
  if (!existsSync(text))
    throw new RatioError(
      `"${text}" is neither a ratio nor a file: write a number over 0, such as 3.1, or name a file that clearway ratio wrote`,
    );
  const { ratio, ratioMin, ratioMax, here, there } = readRatioFile(text);
  assertRatio(ratio);
  return {
    ratio,
    ratioMin,
    ratioMax,
    name: there.name,
    here: { host: here.host, name: here.name, cpu: here.cpu ?? "" },
  };
}

/** Leaves out what a terminal may not show. */
export function printable(text: string): string {
  return text.replace(/[^ -~]/g, "").slice(0, 400);
}

/** Returns a ratio with three digits. */
export function ratioText(ratio: number): string {
  return String(Number(ratio.toPrecision(3)));
}

/** Names a device's ratio: `Chrome 141 on Android takes 3.1 times as long as here (2.7 to 3.6)`. */
export function deviceText({ ratio, ratioMin, ratioMax, name }: DeviceTime): string {
  const spread =
    ratioMin === undefined || ratioMax === undefined ? "" : ` (${ratioText(ratioMin)} to ${ratioText(ratioMax)})`;
  return `${name} takes ${ratioText(ratio)} times as long as here${spread}`;
}

/** The meter's default floor, in milliseconds: shorter stalls are not recorded. */
const FLOOR_MS = 4;

/** Returns the meter's floor for a run that is converted: a slower device turns shorter stalls into noticeable ones. At least 1 ms. */
export function floorFor(device: DeviceTime | undefined): number {
  return device === undefined ? FLOOR_MS : Math.max(1, Math.min(FLOOR_MS, FLOOR_MS / device.ratio));
}

/** Returns the reasons to doubt a ratio for work of this kind on the machine with the processor `cpu`, one sentence each. */
export function deviceNotes({ here }: DeviceTime, kind: "page" | "script", cpu: string): string[] {
  if (here === undefined) return [];
  const notes: string[] = [];
  if (kind === "page" && here.host === "node")
    notes.push("the device was compared with Node here; for pages, measure it with clearway ratio --here chromium");
  if (kind === "script" && here.host === "chromium")
    notes.push("the device was compared with Chromium here; for scripts, measure it with clearway ratio --here node");
  if (here.cpu !== "" && here.cpu !== printable(cpu))
    notes.push(`the device was compared with another machine than this one: ${here.cpu}`);
  return notes;
}

/**
 * Converts the stalls of a run to the other device's time. The thread's idle time is the same there: it waits for timers, input and the
 * network. So the run gets longer only by its stalls. Returns lengths and durations in milliseconds.
 */
export function stallsThere(
  lengthsMs: readonly number[],
  durationMs: number,
  ratio: number,
): { lengthsMs: number[]; durationMs: number } {
  assertRatio(ratio);
  const stalledMs = lengthsMs.reduce((sum, ms) => sum + ms, 0);
  return {
    lengthsMs: lengthsMs.map((ms) => ms * ratio),
    durationMs: Math.max(0, durationMs + (ratio - 1) * stalledMs),
  };
}
