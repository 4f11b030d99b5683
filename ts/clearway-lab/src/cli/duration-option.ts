// SPDX-License-Identifier: MIT OR Apache-2.0
import { InvalidArgumentError } from "commander";

/** Longest duration of a timer, in milliseconds. */
const MS_MAX = 2 ** 31 - 1;

/** Parses a duration: `500`, `500ms` or `2s`. Returns milliseconds. */
export function parseDuration(text: string): number {
  const found = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(text.trim());
  const ms = found === null ? Number.NaN : Number(found[1]) * (found[2] === "s" ? 1000 : 1);
  if (!(ms > 0 && ms <= MS_MAX))
    throw new InvalidArgumentError(`"${text}" is not a duration: write milliseconds (500 or 500ms) or seconds (2s)`);
  return ms;
}
