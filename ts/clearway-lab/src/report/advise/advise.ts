// SPDX-License-Identifier: MIT OR Apache-2.0
// The advice of a run: what fits a frame, from which size on a strategy pays off, and which executor suits which work. Every line has the
// cells that it rests on. What the run did not measure is listed, with the command that measures it.
import type { HostName } from "../../protocol/message.js";
import { EXECUTOR_WORKS, executorCells, executorTimes } from "../../published/executors.js";
import type { DeviceTime } from "../../ratio/device-time.js";
import type { RecordedCell, RunRecord } from "../../run/record.js";
import type { Results } from "../../run/results.js";
import { inOrder, type Place, type Scenario, USUAL_HOSTS } from "../../scenario/scenario.js";
import type { Crossover } from "../../statistics/crossover.js";
import { type Regret, regretsOf } from "../../statistics/regret.js";
import { adviceFor, adviceOf, byRegret } from "../offload/advice.js";
import { changingSentence } from "../offload/changing-text.js";
import { regretGrid, type WorkColumn } from "../offload/columns.js";
import { sizeLines } from "../offload/crossover-text.js";
import { worstSentence } from "../offload/worst.js";
import { type BudgetTable, budgetTables, FRAMES_MS } from "./budgets.js";
import { ADVISED_SCENARIOS } from "./topics.js";

export interface TaskCrossover {
  host: HostName;
  strategy: string;
  /** The size of a task in nanoseconds from which the strategy is faster than the calling thread. */
  at: Crossover;
  cells: string[];
}

export interface ExecutorAdvice {
  host: HostName;
  work: string;
  /** The strategy with the smallest regret, and the place where it runs its actions. */
  best: string;
  place?: Place;
  /** Each strategy's time as a multiple of the best strategy's. */
  regrets: Record<string, Regret>;
  sentence: string;
  cells: string[];
}

export interface Unmeasured {
  scenario: string;
  host: HostName;
  why: string;
  /** The command that measures it. */
  command: string;
}

export interface Advice {
  version: 1;
  run: Results["run"];
  machine: Results["machine"];
  framesMs: readonly number[];
  /** The device whose frames the budgets are of. Undefined for the machine of the run. */
  device?: DeviceTime;
  budgets: BudgetTable[];
  crossovers: TaskCrossover[];
  executors: ExecutorAdvice[];
  /** Further sentences about executors, with their cells. */
  notes: { host: HostName; sentence: string; cells: string[] }[];
  notMeasured: Unmeasured[];
  warnings: Results["warnings"];
}

/** Returns the advice. `scenarios` are those that the lab could measure. With `device`, the budgets are of that device's frames. */
export function adviseOf(
  results: Results,
  record: RunRecord,
  scenarios: readonly Scenario[],
  device?: DeviceTime,
): Advice {
  const hosts = inOrder([...new Set(record.cells.map(({ host }) => host))]);
  return {
    version: 1,
    run: results.run,
    machine: results.machine,
    framesMs: FRAMES_MS,
    ...(device && { device }),
    budgets: budgetTables(results, record, device?.ratio),
    crossovers: hosts.flatMap((host) => taskCrossovers(record, host)),
    executors: [...hosts.flatMap((host) => executors(results, record, host)), ...publishedExecutors(results, record)],
    notes: hosts.flatMap((host) => notes(record, host)),
    notMeasured: notMeasured(record, scenarios),
    warnings: results.warnings,
  };
}

function taskCrossovers(record: RunRecord, host: HostName): TaskCrossover[] {
  const reference = record.scenarios.find(({ name }) => name === "sizes")?.reference ?? "direct";
  return sizeLines(record, host, reference).flatMap(({ cell, crossover: at }) =>
    at === undefined ? [] : [{ host, strategy: cell.mechanism, at, cells: [nameOf(cell), `sizes/${reference}`] }],
  );
}

function executors(results: Results, record: RunRecord, host: HostName): ExecutorAdvice[] {
  const sentences = new Map(adviceOf(results, record, host).map(({ work, sentence }) => [work, sentence]));
  return regretGrid(record, host, "warm").columns.flatMap((column): ExecutorAdvice[] => {
    const ranked = byRegret(column);
    const [best] = ranked;
    const sentence = sentences.get(column.label);
    return best === undefined || sentence === undefined ? [] : [executorAdvice(host, column, sentence)];
  });
}

/** Returns the best way for each of the published works that the run measured. */
function publishedExecutors(results: Results, record: RunRecord): ExecutorAdvice[] {
  return EXECUTOR_WORKS.flatMap((work) => {
    const cells = executorCells(record, work);
    const label = `${work}, as published`;
    const column = { label, cells, regrets: regretsOf(executorTimes(record, work)).of };
    const sentence = adviceFor(results, record, column);
    return sentence === undefined ? [] : [executorAdvice(cells[0]!.host, column, sentence)];
  });
}

function executorAdvice(host: HostName, column: WorkColumn, sentence: string): ExecutorAdvice {
  const ranked = byRegret(column);
  const regrets = Object.fromEntries(
    ranked.flatMap(({ mechanism }) => {
      const regret = column.regrets.get(mechanism);
      return regret === undefined ? [] : [[mechanism, regret] as const];
    }),
  );
  const { mechanism, place } = ranked[0]!;
  const cells = ranked.map(nameOf);
  return { host, work: column.label, best: mechanism, ...(place && { place }), regrets, sentence, cells };
}

function notes(record: RunRecord, host: HostName): Advice["notes"] {
  const cellsOf = (scenario: string) => [
    ...new Set(record.cells.filter((cell) => isMeasured(cell, scenario, host)).map(nameOf)),
  ];
  const changing = changingSentence(record, host);
  return [
    ...worstSentence(record, host, "warm").map((sentence) => ({ host, sentence, cells: cellsOf("works") })),
    ...(changing === undefined ? [] : [{ host, sentence: changing, cells: cellsOf("changing-site") }]),
  ];
}

/** Lists the scenarios of the advice that a host can have and that the run has no figure of. */
function notMeasured(record: RunRecord, scenarios: readonly Scenario[]): Unmeasured[] {
  return scenarios
    .filter(({ name }) => ADVISED_SCENARIOS.has(name))
    .flatMap((scenario) =>
      inOrder(scenario.hosts ?? USUAL_HOSTS).flatMap((host): Unmeasured[] => {
        if (!canMeasure(scenario, host) || record.cells.some((cell) => isMeasured(cell, scenario.name, host)))
          return [];
        const planned = record.cells.find((cell) => cell.scenario === scenario.name && cell.host === host);
        const why = planned?.failure ?? planned?.unavailable ?? "the run did not include it";
        return [{ scenario: scenario.name, host, why, command: commandFor(scenario, host) }];
      }),
    );
}

function canMeasure({ mechanisms, hosts = [...USUAL_HOSTS] }: Scenario, host: HostName): boolean {
  return mechanisms.some((each) => (each.hosts ?? hosts).includes(host) && each.unavailable?.[host] === undefined);
}

/** Returns the command with the shortest profile that measures the scenario on the host. */
function commandFor({ name, profiles }: Scenario, host: HostName): string {
  const isQuick = profiles.quick.sets.some(({ hosts }) => hosts === undefined || hosts.includes(host));
  return `clearway lab ${name} --host ${host}${isQuick ? "" : " --profile full"}`;
}

function isMeasured(cell: RecordedCell, scenario: string, host: HostName): boolean {
  return cell.scenario === scenario && cell.host === host && !cell.control && cell.rounds.length > 0;
}

function nameOf({ scenario, mechanism }: RecordedCell): string {
  return `${scenario}/${mechanism}`;
}
