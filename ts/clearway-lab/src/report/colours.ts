// SPDX-License-Identifier: MIT OR Apache-2.0
import process from "node:process";
import pc from "picocolors";

/**
 * Returns whether text for `stream` should have colours. `NO_COLOR` switches them off and `FORCE_COLOR` (not 0) on, if they are not
 * empty; otherwise a terminal that is not "dumb" has colours and a pipe or file has none. `CI` changes nothing: a log that is kept
 * as text must not contain escape sequences.
 */
export function wantsColours(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== "0";
  return stream.isTTY === true && env.TERM !== "dumb";
}

/** The colours of what this process prints to its standard output: functions that return their text unchanged if it has none. */
export const colours = pc.createColors(wantsColours(process.stdout, process.env));
