// SPDX-License-Identifier: MIT OR Apache-2.0
// The findings of an experiment as text: which of the authors' findings this run confirms, which it does not, and why.

import type { FindingPart } from "../../run/executor-ratios.js";
import {
  EXECUTOR_WORKS,
  type ExecutorFinding,
  executorCells,
  executorFindings,
  type MeasuredRun,
} from "../../run/executors.js";
import { type FindingOutcome, type TestedFinding, testFinding } from "../../run/findings.js";
import { type RunRecord, runLetter } from "../../run/record.js";
import type { Experiment } from "../../scenario/experiment.js";
import { inHost } from "../host-titles.js";
import { shown, unitText } from "../number.js";
import { wholeFrames } from "./frames.js";

const LEAD: Record<FindingOutcome, string> = {
  agrees: "Agrees",
  differs: "Differs",
  open: "Open, because the rounds disagree or one round is too close to a bound",
  "not measured": "Not measured",
};

/** The leads of the findings that the authors did not publish. */
const OWN_LEAD: Record<FindingOutcome, string> = {
  agrees: "Our own expectation, confirmed",
  differs: "Our own expectation, refuted",
  open: "Our own expectation, open, because the rounds disagree or one round is too close to a bound",
  "not measured": "Our own expectation, not measured",
};

/** A finding that was tested, as sentences. */
export interface FindingLine {
  outcome: FindingOutcome;
  text: string;
  /** Whether the authors published the finding. Otherwise, it is what this lab expected. */
  ofAuthors: boolean;
}

/**
 * Returns how many of the authors' findings agree, differ, are open, or were not measured. A second sentence counts what this lab expected
 * beyond them.
 */
export function outcomeCounts(experimentCount: number, findings: readonly FindingLine[]): string {
  const experiments = experimentCount === 1 ? "1 published experiment" : `${experimentCount} published experiments`;
  const authors = findings.filter(({ ofAuthors }) => ofAuthors);
  const own = findings.filter(({ ofAuthors }) => !ofAuthors);
  const found = authors.length === 1 ? "1 test" : `${authors.length} tests`;
  const first = `${experiments}, ${found} of the authors' findings: ${counted(authors, "agree", "differ")}.`;
  if (own.length === 0) return first;
  const expected = own.length === 1 ? "1 expectation" : `${own.length} expectations`;
  return `${first} Beside them, ${expected} of our own: ${counted(own, "confirmed", "refuted")}.`;
}

function counted(findings: readonly FindingLine[], agrees: string, differs: string): string {
  const count = (wanted: FindingOutcome) => findings.filter(({ outcome }) => outcome === wanted).length;
  return `${count("agrees")} ${agrees}, ${count("differs")} ${differs}, ${count("open")} open, ${count("not measured")} not measured`;
}

/** Tests the findings of an experiment. Those on executors compare all ways of a kind of work at once, so they have code of their own. */
export function findingLines(experiment: Experiment, record: RunRecord): FindingLine[] {
  if (experiment.name === "executors" && hasExecutors(record))
    return executorFindings(record).map((finding) => ({
      outcome: executorOutcome(finding),
      text: executorFindingText(finding),
      ofAuthors: finding.isOurs !== true,
    }));
  return experiment.findings.map((finding) => {
    const tested = testFinding(record, finding);
    return { outcome: tested.outcome, text: findingText(tested), ofAuthors: finding.authors !== undefined };
  });
}

function executorOutcome({ outcome, parts }: ExecutorFinding): FindingOutcome {
  if (outcome !== "open") return outcome;
  return parts.some(({ rounds }) => rounds > 0) ? "open" : "not measured";
}

/** Groups the findings by outcome, those of the authors first. The lead names the outcome; it is empty if there is no finding. */
export function findingGroups(findings: readonly FindingLine[]): { lead: string; sentences: string[] }[] {
  if (findings.length === 0)
    return [{ lead: "", sentences: ["The authors published no finding that this run could test."] }];
  return [LEAD, OWN_LEAD].flatMap((leads) =>
    (Object.keys(leads) as FindingOutcome[]).flatMap((outcome) => {
      const own = findings.filter((tested) => tested.ofAuthors === (leads === LEAD) && tested.outcome === outcome);
      return own.length === 0 ? [] : [{ lead: leads[outcome], sentences: own.map(({ text }) => text) }];
    }),
  );
}

const CAUSE_UNKNOWN = "The cause is not known.";

/** Returns the sentences of one finding: the claim, the authors' figure, the bounds and our figure, and the reason. */
export function findingText(tested: TestedFinding): string {
  const { finding, outcome, reason } = tested;
  const { authors, subject, why } = finding;
  const figures = [
    ...(authors === undefined ? [] : [`authors: ${authors}`]),
    boundsText(tested),
    ...(tested.number === undefined ? [] : [`here: ${numberText(tested)} ${inHost(subject.host)}`]),
    ...(reason === undefined ? [] : [reason]),
  ];
  const because =
    outcome === "agrees" ? why?.agrees : outcome === "differs" ? (why?.differs ?? CAUSE_UNKNOWN) : undefined;
  return `${finding.claim} (${figures.join("; ")}).${because === undefined ? "" : ` ${because}`}`;
}

/** Returns the bounds, in the unit of the number. */
function boundsText({ finding: { kind, min, max }, unit, number = 0 }: TestedFinding): string {
  const text = kind === "ratio" ? inverse : kind === "value" ? scaledBy(unit, number) : shown;
  const suffix = kind === "value" ? suffixOf(unit, number) : "";
  if (min === max) return `agrees at ${text(max)}${suffix}`;
  return min === 0 ? `agrees up to ${text(max)}${suffix}` : `agrees from ${text(min)} to ${text(max)}${suffix}`;
}

/** Long times are shown in milliseconds, as the authors give them. */
const isLong = (unit: string | undefined, number: number) => unit === "us" && number >= 10_000;

const scaledBy = (unit: string | undefined, number: number) => (each: number) =>
  shown(isLong(unit, number) ? each / 1000 : wholeFrames(unit, each));

const suffixOf = (unit: string | undefined, number: number): string =>
  unit === undefined || unit === "count" ? "" : ` ${unitText(isLong(unit, number) ? "ms" : unit)}`;

function numberText({ finding: { kind }, number = 0, numbers, unit, bestTitle, runs = [] }: TestedFinding): string {
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const isKept = runs.every((run) => run === runLetter(0));
  const run = isKept ? "" : ` of ${runs.length === 1 ? "run" : "runs"} ${runs.join(" and ")}`;
  const rangeOf = (text: (number: number) => string) =>
    `${numbers.length === 1 ? "one round" : `${text(low)} to ${text(high)} in ${numbers.length} rounds`}${run}`;
  if (kind === "value") {
    const scaled = scaledBy(unit, number);
    return `${scaled(number)}${suffixOf(unit, number)} (${rangeOf(scaled)})`;
  }
  const range = rangeOf(shown);
  if (kind === "spread")
    return `the slowest takes ${shown(number)} times as long as the fastest, ${bestTitle} (${range})`;
  if (kind === "first") return `${shown(number)} times the time of the fastest of the others, ${bestTitle} (${range})`;
  // A share below one reads better as its inverse: "70 times less", not "0.0143 times".
  if (number > 0 && number < 1) return `1/${shown(1 / number)} (${rangeOf(inverse)})`;
  return `${shown(number)} times (${range})`;
}

const inverse = (number: number): string => (number > 0 && number < 1 ? `1/${shown(1 / number)}` : shown(number));

// The published experiment "Which executor" as sentences, for the docs.

/** Returns whether a run has cells of the experiment. */
export function hasExecutors(record: MeasuredRun): boolean {
  return EXECUTOR_WORKS.some((work) => executorCells(record, work).length > 0);
}

/** The outcomes of the parts of a finding, in the order in which they are named. */
const PART_LEADS = { agrees: "Agrees", differs: "Differs", open: "Open" } as const;

/**
 * Returns the sentences of one finding: the claim, our ratios with their intervals, and the reason. If the parts have several outcomes, each
 * outcome has a sentence with its parts.
 */
export function executorFindingText({ claim, measured, parts, outcome, whyDiffers, note }: ExecutorFinding): string {
  const known = parts.filter(({ rounds }) => rounds > 0);
  if (known.length === 0) return `${claim}. This run did not measure it.`;
  const because = note !== undefined ? ` ${note}` : outcome === "differs" ? ` ${whyDiffers ?? CAUSE_UNKNOWN}` : "";
  const missing = parts.length - known.length;
  const rest = missing === 0 ? "" : ` Not measured: ${missing} of ${parts.length}.`;
  const isOne = known.every((part) => part.outcome === outcome);
  const list = (some: readonly FindingPart[]) => some.map(partText).join("; ");
  const figures = Object.entries(PART_LEADS).flatMap(([each, lead]) => {
    const some = known.filter((part) => part.outcome === each);
    return some.length === 0 ? [] : ` ${lead}: ${list(some)}.`;
  });
  return `${claim}. Here, ${measured}${isOne ? `: ${list(known)}.` : `.${figures.join("")}`}${rest}${because}`;
}

/** Returns the ratio with its interval. */
function partText({ label, interval, rounds }: FindingPart): string {
  if (interval === undefined) return `${label}, ${rounds} round`;
  const { ratio, low, high } = interval;
  return `${label} ${shown(ratio)} (${shown(low)} to ${shown(high)} in ${rounds} rounds)`;
}
