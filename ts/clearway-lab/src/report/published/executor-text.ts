// SPDX-License-Identifier: MIT OR Apache-2.0
// The published experiment "Which executor" as sentences and as a table, for terminals, the report and the docs.
import type { ExecutorFinding, FindingPart } from "../../published/executor-findings.js";
import { EXECUTOR_WORKS, executorCells, type MeasuredRun } from "../../published/executors.js";
import { ROUNDS_MIN } from "../../statistics/decide.js";
import { shown } from "../number.js";

/** Returns whether a run has cells of the experiment. */
export function hasExecutors(record: MeasuredRun): boolean {
  return EXECUTOR_WORKS.some((work) => executorCells(record, work).length > 0);
}

/** Returns the sentences of one finding: the claim, our ratios with their intervals, and the reason. */
export function executorFindingText({ claim, measured, parts, verdict, whyDiffers }: ExecutorFinding): string {
  const known = parts.filter(({ rounds }) => rounds > 0);
  if (known.length === 0) return `${claim}. This run did not measure it.`;
  const because = verdict === "differs" && whyDiffers !== undefined ? ` ${whyDiffers}.` : "";
  const missing = parts.length - known.length;
  const rest = missing === 0 ? "" : `; ${missing} not measured`;
  return `${claim}. Here, ${measured}: ${known.map(partText).join("; ")}${rest}.${because}`;
}

/** Returns the ratio with its interval, and what it says about the finding. */
function partText({
  label,
  ratio = Number.NaN,
  low = Number.NaN,
  high = Number.NaN,
  rounds,
  verdict,
}: FindingPart): string {
  const few = rounds < ROUNDS_MIN ? `, only ${rounds} round${rounds === 1 ? "" : "s"}` : "";
  return `${label} ${shown(ratio)} (${shown(low)} to ${shown(high)}${few}), ${verdict}`;
}
