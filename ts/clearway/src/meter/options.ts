// SPDX-License-Identifier: MIT OR Apache-2.0
import { flag, type Rules, text } from "./checked.js";

/**
 * Default minimum length of a stall, in milliseconds: a quarter of a frame at 60 Hz. A shorter stall costs no frame even at 240 Hz, and
 * hitches at up to 250 Hz stay exact.
 */
export const floorMsDefault = 4;
export const hzDefault = 60;
/** Default maximum number of kept stalls, which take about 3 MB. At one stall per second they cover almost three hours. */
export const stallsMaxDefault = 10_000;

/** Options of both `measure` and `watch`. */
export interface MeterOptions {
  /** Frame rate for hitches and for estimated frames, in hertz. Default: 60. */
  readonly hz?: number;
  /** Minimum length of a recorded stall, in milliseconds. Default: 4. */
  readonly floorMs?: number;
  readonly label?: string;
  /** Whether to sample the stacks of a blocked thread (Node). Default: true. */
  readonly stacks?: boolean;
  /** Whether to count the display's real frames (browser). Default: true. Counting keeps the page rendering: see docs/meter.md. */
  readonly frames?: boolean;
  /** Time between heartbeats, in milliseconds. docs/meter.md describes how each host uses this time. */
  readonly beatMs?: number;
}

/** The rules of {@link MeterOptions}. */
export const meterRules: Rules = {
  hz: ["over 0, at most 1000", (value: number) => typeof value === "number" && value > 0 && value <= 1000],
  floorMs: ["1 or more", (value: number) => Number.isFinite(value) && value >= 1],
  label: text,
  stacks: flag,
  frames: flag,
  beatMs: ["1 to 1000", (value: number) => typeof value === "number" && value >= 1 && value <= 1000],
};
