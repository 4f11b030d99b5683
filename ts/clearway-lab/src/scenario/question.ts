// SPDX-License-Identifier: MIT OR Apache-2.0
// The questions of a run. They are data: scenarios/questions/NAME.json. Each question names the cells that decide it.
import { readFileSync } from "node:fs";
import path from "node:path";
import type { RunnerCores } from "../machine/thread-pin.js";
import type { HostName, Params } from "../protocol/message.js";
import { scenarioFolder } from "./load.js";
import { belongsOn, type ParamSet, type Scenario } from "./scenario.js";

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
  /** Whether only rounds count in which the threads of both mechanisms were on as many cores. Set where threads cannot be pinned. */
  sameCores?: boolean;
  subject: string;
  reference: string;
  /**
   * Whether a second cell of the reference gives the noise floor. Default: true. A comparison without one needs a factor of
   * `FLOOR_UNKNOWN` for a decision.
   */
  repeat?: boolean;
  /** Whether the answer holds only while a core is free. Beside another program that uses a core, the comparison is undecided. */
  needsFreeCore?: boolean;
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

/** Returns the questions of the quick profile. Throws an Error that names the question if the scenarios cannot decide one. */
export function loadQuestions(
  scenarios: readonly Scenario[],
  file = path.join(scenarioFolder(), "questions/quick.json"),
): Question[] {
  const questions = JSON.parse(readFileSync(file, "utf8")) as Question[];
  for (const question of questions) {
    const problem = problemOf(question, scenarios);
    if (problem !== undefined) throw new Error(`${path.basename(file)}: ${question.name}: ${problem}`);
  }
  return questions;
}

/**
 * Returns the questions for a machine that cannot pin threads to cores. A comparison of two cores then runs where the scheduler puts the
 * threads, and compares only rounds in which they were on as many cores. A comparison of one core is left out.
 */
export function withoutPinning(questions: readonly Question[]): Question[] {
  return questions.map((question) => ({
    ...question,
    comparisons: question.comparisons
      .filter(({ cores }) => cores !== "one")
      .map(({ cores, ...compared }) =>
        cores === undefined ? compared : { ...compared, label: anyCores(compared), sameCores: true },
      ),
  }));
}

function anyCores({ label = "" }: Omit<Compared, "cores">): string {
  return label.replace("on two cores", "on any cores");
}

function problemOf({ sentence, comparisons }: Question, scenarios: readonly Scenario[]): string | undefined {
  if (comparisons.length === 0) return "it compares nothing";
  if (comparisons.length > 1 && comparisons.some(({ label }) => label === undefined))
    return "each of several comparisons needs a label";
  if (comparisons.length > 1 && /\{(subject|reference)\}/.test(sentence))
    return "its sentence has one figure for several comparisons";
  for (const compared of comparisons) {
    const { host, subject, reference, others, cores } = compared;
    if (cores !== undefined && host !== "node") return `only the threads of host node can be pinned: host=${host}`;
    if (cores !== undefined && !compared.label?.includes(`on ${cores} core`))
      return `a label must name the cores: cores=${cores} label=${compared.label}`;
    const scenario = scenarios.find(({ name }) => name === compared.scenario);
    if (scenario === undefined) return `unknown scenario: scenario=${compared.scenario}`;
    const set = setOf(scenario, compared);
    if (typeof set === "number") return `its params select ${set} sets: params=${JSON.stringify(compared.params)}`;
    for (const name of [subject, reference, ...others]) {
      const mechanism = scenario.mechanisms.find((each) => each.name === name);
      if (mechanism === undefined || !belongsOn(host, scenario, mechanism))
        return `${scenario.name} has no such mechanism on ${host}: mechanism=${name}`;
      if (set.mechanisms !== undefined && !set.mechanisms.includes(name))
        return `the selected set leaves this mechanism out: mechanism=${name}`;
    }
  }
  return undefined;
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
