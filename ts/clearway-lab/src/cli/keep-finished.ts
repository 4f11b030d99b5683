// SPDX-License-Identifier: MIT OR Apache-2.0
// Keeps the finished measurements of a run in its folder, so that `clearway lab resume` can go on after an interruption.
import { existsSync } from "node:fs";
import path from "node:path";
import { UNFINISHED_FOLDER, Unfinished, UnfinishedError, type UnfinishedPlan } from "../run/unfinished.js";
import { printError } from "./print.js";
import { UsageError } from "./select.js";

/** Begins to keep the finished measurements of a run, or goes on with those of an unfinished run. */
export function keepFinished(out: string, plan: UnfinishedPlan, goesOn: boolean): Unfinished {
  const say = (problem: string) => printError(`${problem}\n`);
  if (!goesOn && existsSync(path.join(out, UNFINISHED_FOLDER)))
    say(`the unfinished run in ${out} is replaced; clearway lab resume would have gone on with it`);
  const unfinished = asUsage(() => (goesOn ? Unfinished.goOn(out, plan, say) : Unfinished.begin(out, plan, say)));
  if (goesOn) say(`going on: ${unfinished.count} measurements are kept`);
  return unfinished;
}

/** Turns an UnfinishedError into a UsageError. */
export function asUsage<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (error instanceof UnfinishedError) throw new UsageError(error.message);
    throw error;
  }
}
