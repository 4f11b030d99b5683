// SPDX-License-Identifier: MIT OR Apache-2.0
import { randomInt } from "node:crypto";
import process from "node:process";
import { visible } from "../../../../scripts/terminal-text.mjs";

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

const isOn = wantsColours(process.stdout, process.env);

/** Marks the lab's own codes until they are printed, so that a text of a page or a record cannot have any. */
const MARK = randomInt(2 ** 47);
const MARKED = new RegExp(`\\u001b\\[(\\d+);${MARK}m`);

const painted = (open: number, close: number) => (text: string) =>
  isOn ? `\u001b[${open};${MARK}m${text}\u001b[${close};${MARK}m` : text;

/** The colours of what this process prints to its standard output: functions that return their text unchanged if it has none. */
export const colours = {
  bold: painted(1, 22),
  dim: painted(2, 22),
  red: painted(31, 39),
  green: painted(32, 39),
  yellow: painted(33, 39),
};

/** Returns a text as a terminal may have it: the codes of `colours` work, and all other control characters are visible. */
export function terminalText(text: string): string {
  const parts = text.split(MARKED);
  return parts.map((part, at) => (at % 2 === 0 ? visible(part) : `\u001b[${part}m`)).join("");
}
