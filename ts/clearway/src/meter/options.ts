// SPDX-License-Identifier: MIT OR Apache-2.0

/** A quarter of a frame at 60 Hz: a shorter stall costs no frame even at 240 Hz, and hitches up to 250 Hz stay exact. */
export const floorMsDefault = 4;
export const hzDefault = 60;
/** Some 3 MB of explained stalls at most, and at one stall a second almost three hours. */
export const stallsMaxDefault = 10_000;

/** What `measure` and `watch` take alike. */
export interface MeterOptions {
  /** Frame rate that hitches and estimated frames are computed for; 60 unless told. */
  readonly hz?: number;
  /** Stalls shorter than this are not recorded; 4 ms unless told. */
  readonly floorMs?: number;
  readonly label?: string;
  /** Sample the stacks of a held thread (Node); true unless told. */
  readonly stacks?: boolean;
  /** Count the display's real frames (browser); true unless told. Keeps the page rendering: see docs/meter.md. */
  readonly frames?: boolean;
  /** Time between heartbeats; see docs/meter.md for what each host needs it for. */
  readonly beatMs?: number;
}

/** Throws `RangeError` that names the option and its value. */
export function checkMeterOptions(options: {
  hz?: number;
  floorMs?: number;
  stallsMax?: number;
  beatMs?: number;
}): void {
  const { hz, floorMs, stallsMax, beatMs } = options;
  if (hz !== undefined && !(hz > 0 && hz <= 1000)) throw new RangeError(`hz must be over 0, at most 1000: hz=${hz}`);
  if (floorMs !== undefined && !(floorMs >= 1 && Number.isFinite(floorMs)))
    throw new RangeError(`floorMs must be 1 or more: floorMs=${floorMs}`);
  if (stallsMax !== undefined && !(Number.isInteger(stallsMax) && stallsMax >= 1))
    throw new RangeError(`stallsMax must be a whole number of 1 or more: stallsMax=${stallsMax}`);
  if (beatMs !== undefined && !(beatMs >= 1 && beatMs <= 1000))
    throw new RangeError(`beatMs must be 1 to 1000: beatMs=${beatMs}`);
}
