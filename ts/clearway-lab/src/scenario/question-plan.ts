// SPDX-License-Identifier: MIT OR Apache-2.0
// Plans the cells that decide the questions. Each cell has five rounds or more. A second cell of each reference gives the noise floor.
import type { HostName } from "../protocol/message.js";
import { CONTROL_PARAM, CORES_PARAM, type PlannedCell } from "./plan.js";
import { type Compared, type Question, setOf } from "./question.js";
import type { MechanismInfo, Scenario } from "./scenario.js";

export { ROUNDS_MIN } from "../statistics/decide.js";

/** The maximum number of rounds. A question without a decision after these rounds stays undecided. */
export const ROUNDS_MAX = 9;

export function planQuestions(
  questions: readonly Question[],
  scenarios: readonly Scenario[],
  hosts: readonly HostName[],
  /** The reasons why whole hosts cannot run, for example no browser. */
  hostProblems: Partial<Record<HostName, string>> = {},
  rounds = ROUNDS_MAX,
): PlannedCell[] {
  const cells = new Map<string, PlannedCell>();
  const comparisons = questions.flatMap((question) => question.comparisons);
  for (const compared of comparisons.filter(({ host }) => hosts.includes(host))) {
    const { reference, subject, others } = compared;
    for (const name of [reference, subject, ...others])
      add(cells, cellOf(compared, name, scenarios, hostProblems, rounds));
    // All parts of a question share one second cell, because each second cell takes as much time as a mechanism.
    if (compared.repeat === false || isPartOfEarlier(compared, questions)) continue;
    const repeated = cellOf(compared, reference, scenarios, hostProblems, rounds);
    add(cells, { ...repeated, control: true, params: { ...repeated.params, [CONTROL_PARAM]: "A/A" } });
  }
  return [...cells.values()];
}

/** Returns whether an earlier comparison of the same question has the same scenario, host and cores. */
function isPartOfEarlier(compared: Compared, questions: readonly Question[]): boolean {
  const own = questions.find(({ comparisons }) => comparisons.includes(compared))?.comparisons ?? [];
  const first = own.find(
    ({ scenario, host, cores }) => scenario === compared.scenario && host === compared.host && cores === compared.cores,
  );
  return first !== compared;
}

function add(cells: Map<string, PlannedCell>, cell: PlannedCell): void {
  const key = cellKey(cell);
  if (!cells.has(key)) cells.set(key, cell);
}

/** Returns a text that only equal cells share: the same mechanism under the same load on the same host. */
export function cellKey({ scenario, mechanism, host, params }: PlannedCell): string {
  return JSON.stringify([scenario.name, mechanism.name, host, params]);
}

function cellOf(
  compared: Compared,
  name: string,
  scenarios: readonly Scenario[],
  hostProblems: Partial<Record<HostName, string>>,
  rounds: number,
): PlannedCell {
  const { host, cores } = compared;
  const scenario = scenarios.find((each) => each.name === compared.scenario) as Scenario;
  const mechanism = scenario.mechanisms.find((each) => each.name === name) as MechanismInfo;
  const set = setOf(scenario, compared);
  if (typeof set === "number") throw new RangeError(`a comparison must select one set: found=${set}`);
  const unavailable = mechanism.unavailable?.[host] ?? set.unavailable?.[name] ?? hostProblems[host];
  return {
    scenario,
    mechanism,
    host,
    params: cores === undefined ? set.params : { ...set.params, [CORES_PARAM]: cores },
    ...(cores === undefined ? {} : { cores }),
    rounds,
    estimateMs: set.estimateMs,
    control: false,
    ...(unavailable === undefined ? {} : { unavailable }),
  };
}
