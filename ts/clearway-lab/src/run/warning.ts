// SPDX-License-Identifier: MIT OR Apache-2.0

/** All kinds of warnings. */
export const WARNING_CODES = [
  "interrupted",
  "budget-ended",
  "cell-failed",
  "host-unavailable",
  "few-rounds",
  "quantile-unsupported",
  "still-warming",
  "noise-high",
  "machine-stalled",
  "load-high",
  "steal-seen",
  "governor",
  "virtual-machine",
  "few-cores",
  "clock-coarse",
  "node-options",
  "mechanism-note",
] as const;
export type WarningCode = (typeof WARNING_CODES)[number];

/** A reason to doubt a run: an observation and the next step. */
export interface Warning {
  code: WarningCode;
  message: string;
  /** The next step for the reader. */
  next: string;
}
