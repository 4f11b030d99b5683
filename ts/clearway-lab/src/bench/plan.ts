// SPDX-License-Identifier: MIT OR Apache-2.0
// Plans a run of `clearway bench`: a cell for each way and input, a second cell of the reference for the noise floor, and a question for each
// input.
import type { Params } from "../protocol/message.js";
import { CONTROL_PARAM, type PlannedCell } from "../scenario/plan.js";
import type { Question } from "../scenario/question.js";
import type { MechanismInfo, Scenario } from "../scenario/scenario.js";
import { ROUNDS_MAX } from "../statistics/decide.js";
import type { ScenarioInfo } from "./settings.js";

export interface BenchPlan {
  scenario: Scenario;
  cells: PlannedCell[];
  questions: Question[];
}

/** Time in milliseconds that a measurement takes besides its calls: to start the process, to load the file and to end. */
const OVERHEAD_MS = 600;

export interface PlanOptions {
  /** The scenario's name: the file's name without its extension. */
  name: string;
  /** The way that the others are compared with. */
  reference: string;
  /** Number of rounds of each cell. Default: five, and up to nine while an answer is undecided. */
  rounds?: number | undefined;
  timeMs: number;
  /** Time of one call of a way, in milliseconds. Undefined for a way that failed, which is reported but not compared. */
  callMs: (way: string, input: string | null) => number | undefined;
}

export function planBench(info: ScenarioInfo, options: PlanOptions): BenchPlan {
  const scenario = scenarioOf(info, options);
  const cells = info.inputs.flatMap((input) =>
    scenario.mechanisms.flatMap((mechanism): PlannedCell[] => {
      const params = paramsOf(input);
      const { rounds = ROUNDS_MAX } = options;
      const estimateMs = estimateOf(options.callMs(mechanism.name, input) ?? 0, options.timeMs);
      const cell: PlannedCell = { scenario, mechanism, host: "node", params, rounds, estimateMs, control: false };
      if (mechanism.name !== options.reference) return [cell];
      return [cell, { ...cell, control: true, params: { ...params, [CONTROL_PARAM]: "A/A" } }];
    }),
  );
  return { scenario, cells, questions: info.inputs.flatMap((input) => questionOf(info, scenario, input, options)) };
}

export function paramsOf(input: string | null): Params {
  return input === null ? {} : { input };
}

function scenarioOf({ title, ways, hasCheck }: ScenarioInfo, { name, reference }: PlanOptions): Scenario {
  const mechanisms = ways.map(
    (way): MechanismInfo => ({
      name: way,
      title: way,
      role: way === reference ? "reference" : "peer",
      settings: `the way ${way} of the scenario file`,
    }),
  );
  const verified = hasCheck ? "by the scenario's check" : `against the result of ${reference}`;
  return {
    name,
    family: "bench",
    hosts: ["node"],
    question: title ?? `Which way of ${name}?`,
    shows: `Each measurement is a new process that calls one way until its calls stop getting faster, and then times more calls. The stalls are those of one further call, measured by Clearway's meter. Each way's result was verified before and after, ${verified}.`,
    topology: `ways: ${ways.join(", ")}`,
    expected: null,
    control: reference,
    reference,
    compare: "call.p50",
    mechanisms,
    profiles: { quick: { rounds: ROUNDS_MAX, sets: [] }, full: { rounds: ROUNDS_MAX, sets: [] } },
  };
}

function questionOf(
  { ways }: ScenarioInfo,
  scenario: Scenario,
  input: string | null,
  { callMs }: PlanOptions,
): Question[] {
  const { name, reference } = scenario;
  const others = ways.filter((way) => way !== reference && callMs(way, input) !== undefined);
  if (others.length === 0) return [];
  const comparisons = others.flatMap((subject) => {
    const compared = { host: "node" as const, scenario: name, params: paramsOf(input), subject, reference, others: [] };
    return [
      { ...compared, label: `${subject}, time of a call`, metric: "call.p50" },
      { ...compared, label: `${subject}, longest stall`, metric: "longestStall" },
    ];
  });
  const where = input === null ? name : `Input ${input}`;
  return [{ name: where, question: scenario.question, sentence: `${where}, against ${reference}`, comparisons }];
}

/** Estimates the length of a measurement, in milliseconds: a warm-up, the timed calls, and four single calls. */
function estimateOf(callMs: number, timeMs: number): number {
  const warmUpMs = Math.max(300, 2 * callMs);
  return OVERHEAD_MS + warmUpMs + Math.max(timeMs, callMs) + 4 * callMs;
}
