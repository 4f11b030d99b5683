// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses what a run of `clearway lab` measures: questions, published experiments or scenarios. Plans its cells.
import { runnerPinningProblem } from "../machine/thread-pin.js";
import type { Limits } from "../run/execute.js";
import type { ForeignRunners } from "../runner/runners.js";
import { type Experiment, loadExperiments, withExperiments } from "../scenario/experiment.js";
import { loadScenarios } from "../scenario/load.js";
import { type PlannedCell, planCells } from "../scenario/plan.js";
import { loadQuestions, type Question, withoutPinning } from "../scenario/question.js";
import { planQuestions, ROUNDS_MIN } from "../scenario/question-plan.js";
import type { ProfileName, Scenario } from "../scenario/scenario.js";
import { UsageError } from "./errors.js";
import { withForeign } from "./foreign.js";
import { type Hosts, missingMechanism } from "./hosts.js";
import type { LabOptions } from "./lab-options.js";
import { leavesOut, selectScenarios } from "./select.js";

const MINUTE_MS = 60_000;

/**
 * The time limits of each profile. The quick profile ends within five minutes: after 265 s only first rounds start, and after
 * 288 s no measurement starts. No measurement of the quick profile takes ten seconds. The profile `published` ends within an hour, and
 * none of its measurements takes more than a minute.
 */
export const LIMITS: Record<ProfileName, Limits> = {
  quick: { budgetMs: 265_000, endMs: 288_000 },
  full: { budgetMs: Number.POSITIVE_INFINITY, endMs: Number.POSITIVE_INFINITY },
  published: { budgetMs: 56 * MINUTE_MS, endMs: 58.5 * MINUTE_MS },
};

/** What a run measures. At most one of `questions` and `experiments` is set. */
export interface Choice {
  scenarios: Scenario[];
  questions?: Question[];
  experiments?: Experiment[];
}

/**
 * Returns what the run measures. The quick profile without names answers the questions. The profile `published` repeats the published
 * experiments, or the named parts of them. Otherwise, the lab measures the named scenarios, or all.
 */
export async function choose(what: readonly string[], options: LabOptions): Promise<Choice> {
  const foreign = options.runner ?? {};
  const own = loadScenarios();
  if (options.profile === "published") {
    const experiments = loadExperiments(own);
    const scenarios = selectScenarios(await withForeign(withExperiments(own, experiments), foreign), what);
    const named = new Set(scenarios.map(({ name }) => name));
    const asked = experiments.filter(({ measures }) => measures.some(({ scenario }) => named.has(scenario)));
    return { scenarios, experiments: asked };
  }
  const all = await withForeign(own, foreign);
  const asks = what.length === 0 && options.profile === "quick" && Object.keys(foreign).length === 0;
  if (!asks) return { scenarios: selectScenarios(all, namesOr(what, all, foreign)) };
  const questions = questionsHere(all);
  return { scenarios: askedScenarios(all, questions), questions };
}

/** Returns a function that tells whether a cell of a choice is left out. Throws a UsageError for an unknown name, and for questions. */
export function leavesOutOf(
  { scenarios, questions }: Choice,
  without: readonly string[],
): (cell: PlannedCell) => boolean {
  if (without.length > 0 && questions !== undefined)
    throw new UsageError(
      "the thirteen questions are answered whole: name scenarios, or another profile, to leave something out with --without",
    );
  return leavesOut(scenarios, without);
}

/** Plans the cells of a choice. A cell that cannot run here has the reason. */
export function planChoice({ scenarios, questions }: Choice, options: LabOptions, hosts: Hosts): PlannedCell[] {
  const cells =
    questions === undefined
      ? planCells(scenarios, options.profile, options.host, hosts.problems, roundsOf(options))
      : planQuestions(questions, scenarios, options.host, hosts.problems, options.rounds);
  return cells.map((cell) => {
    const missing = missingMechanism(hosts.described[cell.host], cell.scenario.name, cell.mechanism.name);
    const unavailable = cell.unavailable ?? missing;
    return unavailable === undefined ? cell : { ...cell, unavailable };
  });
}

/** Without names, a runner of the user's is measured in its own scenarios. */
function namesOr(what: readonly string[], all: readonly Scenario[], foreign: ForeignRunners): readonly string[] {
  const hosts = Object.keys(foreign);
  if (what.length > 0 || hosts.length === 0) return what;
  return all.filter((scenario) => hosts.some((host) => scenario.hosts?.includes(host))).map(({ name }) => name);
}

/** Returns the questions for this machine, which may be unable to pin threads to cores. */
function questionsHere(all: readonly Scenario[]): Question[] {
  const questions = loadQuestions(all);
  return runnerPinningProblem() === undefined ? questions : withoutPinning(questions);
}

/** Returns the scenarios that the questions compare. */
function askedScenarios(all: readonly Scenario[], questions: readonly Question[]): Scenario[] {
  const asked = new Set(questions.flatMap(({ comparisons }) => comparisons.map(({ scenario }) => scenario)));
  return all.filter(({ name }) => asked.has(name));
}

/** Returns the number of rounds for every cell, or undefined for the numbers of the scenarios. */
function roundsOf({ rounds, profile }: LabOptions): number | undefined {
  return rounds ?? (profile === "quick" ? ROUNDS_MIN : undefined);
}
