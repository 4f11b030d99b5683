// SPDX-License-Identifier: MIT OR Apache-2.0
import { flag, type Rules, text } from "./checked.js";

/** A quarter of a frame at 60 Hz. A shorter stall costs no frame even at 240 Hz, and hitches up to 250 Hz stay exact. */
export const floorMsDefault = 4;
export const hzDefault = 60;
/** At most some 3 MB of explained stalls. At one stall per second, they last almost three hours. */
export const stallsMaxDefault = 10_000;

/** Options of both `measure` and `watch`. */
export interface MeterOptions {
  /** Frame rate used for hitches and estimated frames; default 60. */
  readonly hz?: number;
  /** Stalls shorter than this are not recorded; default 4 ms. */
  readonly floorMs?: number;
  readonly label?: string;
  /** Sample the stacks of a held thread (Node); default true. */
  readonly stacks?: boolean;
  /** Count the display's real frames (browser); default true. Keeps the page rendering: see docs/meter.md. */
  readonly frames?: boolean;
  /** Time between heartbeats. docs/meter.md describes how each host uses it. */
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
