// SPDX-License-Identifier: MIT OR Apache-2.0
import { loadExperiments, withExperiments } from "../src/scenario/experiment.js";
import { loadScenarios, type ParamSet, type Scenario } from "../src/scenario/scenario.js";

/** The scenarios that the published experiments measure, with their sets of parameters. */
export function publishedScenarios(): (Scenario & { sets: ParamSet[] })[] {
  const all = loadScenarios();
  return withExperiments(all, loadExperiments(all)).map((each) => ({ ...each, sets: each.profiles!.published.sets }));
}
