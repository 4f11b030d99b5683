// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses what a run of `clearway lab --profile NAME` measures: published experiments or scenarios. Plans its cells.
import type { Limits } from "../run/execute.js";
import type { ForeignRunners } from "../runner/runners.js";
import { type Experiment, loadExperiments, withExperiments } from "../scenario/experiment.js";
import { loadScenarios } from "../scenario/load.js";
import { type PlannedCell, planCells } from "../scenario/plan.js";
import type { ProfileName, Scenario } from "../scenario/scenario.js";
import { ROUNDS_MIN } from "../statistics/decide.js";
import { withForeign } from "./foreign.js";
import { type Hosts, missingMechanism } from "./hosts.js";
import type { ScenarioOptions } from "./scenario-options.js";
import { selectScenarios } from "./select.js";

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

/** What a run measures. */
export interface Choice {
  scenarios: Scenario[];
  /** The experiments of the profile `published`. */
  experiments?: Experiment[];
}

/**
 * Returns what the run measures. The profile `published` repeats the published
 * experiments, or the named parts of them. Otherwise, the lab measures the named scenarios, or all.
 */
export async function choose(what: readonly string[], options: ScenarioOptions): Promise<Choice> {
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
  return { scenarios: selectScenarios(all, namesOr(what, all, foreign)) };
}

/** Plans the cells of a choice. A cell that cannot run here has the reason. */
export function planChoice({ scenarios }: Choice, options: ScenarioOptions, hosts: Hosts): PlannedCell[] {
  const cells = planCells(scenarios, options.profile, options.host, hosts.problems, roundsOf(options));
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

/** Returns the number of rounds for every cell, or undefined for the numbers of the scenarios. */
function roundsOf({ rounds, profile }: ScenarioOptions): number | undefined {
  return rounds ?? (profile === "quick" ? ROUNDS_MIN : undefined);
}
