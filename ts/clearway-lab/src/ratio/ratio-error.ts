// SPDX-License-Identifier: MIT OR Apache-2.0
/** A ratio, or a file of one, cannot be used. The message says what is wrong with which value, and what to do. */
export class RatioError extends RangeError {}

/** The largest accepted ratio. A wrong unit is likelier than such a device. */
export const RATIO_MAX = 1000;

/** Throws a RatioError unless `ratio` is a finite number over 0, at most `RATIO_MAX`. */
export function assertRatio(ratio: number): void {
  if (!(ratio > 0 && ratio <= RATIO_MAX))
    throw new RatioError(`a device's ratio must be a number over 0, at most ${RATIO_MAX}: ratio=${ratio}`);
}
