// SPDX-License-Identifier: MIT OR Apache-2.0
// The questions of a run of `clearway bench`, and the comparisons of published experiments. Each names the cells that decide it.
import type { RunnerCores } from "../machine/thread-pin.js";
import type { HostName, Params } from "../protocol/message.js";
import type { ParamSet, Scenario } from "./scenario.js";

/** Two mechanisms under one load. Their ratio decides the question, or the part of the question that `label` names. */
export interface Compared {
  label?: string;
  host: HostName;
  scenario: string;
  /** The parameters that select one set of the scenario's quick profile. The set may have further parameters. */
  params: Params;
  /** The name of a value, or SAMPLE.QUANTILE. */
  metric: string;
  /** The cores of the runner's threads. Default: the scheduler decides. */
  cores?: RunnerCores;
  subject: string;
  reference: string;
  /**
   * Whether a second cell of the reference gives the noise floor. Default: true. A comparison without one needs a factor of
   * `FLOOR_UNKNOWN` for a decision.
   */
  repeat?: boolean;
  /** Further mechanisms that are measured for the tables. They have the minimum number of rounds, and a slow machine leaves them out first. */
  others: string[];
}

export interface Question {
  name: string;
  question: string;
  /** The answer without its ratio. With a single comparison, it may have the placeholders `{subject}` and `{reference}` for the figures. */
  sentence: string;
  comparisons: Compared[];
}

/** Returns the set of the scenario's quick profile that a comparison selects. If it selects none or several sets, returns their number. */
export function setOf(scenario: Scenario, { host, params }: Compared): ParamSet | number {
  const hosts = (set: ParamSet) => set.hosts === undefined || set.hosts.includes(host);
  const found = scenario.profiles.quick.sets.filter((set) => hosts(set) && includes(set.params, params));
  return found.length === 1 ? (found[0] as ParamSet) : found.length;
}

/** Returns whether `params` has every entry of `wanted`. */
export function includes(params: Params, wanted: Params): boolean {
  return Object.entries(wanted).every(([name, value]) => params[name] === value);
}
