// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a plan, one measurement after the other, each with the idle watcher. Ends when it is done, out of time or interrupted.
import type { CellRequest, Measurement } from "../protocol/message.js";
import { CORES_PARAM, cellName, type PlannedCell, type PlannedMeasurement } from "../scenario/plan.js";
import { type RecordedCell, recordedCell } from "./record.js";

export interface Executor {
  measure(cell: PlannedCell, request: CellRequest, timeoutMs: number): Promise<Measurement>;
  /** Starts to watch the machine. The returned function returns the machine's longest stall since then, in milliseconds. */
  watch(): () => number;
  nowMs(): number;
}

export interface Limits {
  /** Time after which only the first rounds of a cell start, in milliseconds. Every cell keeps the rounds that it has. */
  budgetMs: number;
  /** Time after which no measurement starts, not even a first round, in milliseconds. */
  endMs: number;
}

export interface Step {
  done: number;
  planned: number;
  leftMs: number;
  name: string;
}

export interface Execution {
  cells: RecordedCell[];
  done: number;
  interrupted: boolean;
  budgetEnded: boolean;
}

export const UNMEASURED = {
  interrupted: "the run was interrupted before this was measured: run it again",
  budget: "the time of this profile ended before this was measured (slow or loaded machine): name fewer scenarios",
} as const;

export async function execute(
  cells: readonly PlannedCell[],
  order: readonly PlannedMeasurement[],
  executor: Executor,
  limits: Limits,
  signal: AbortSignal,
  onStep: (step: Step) => void,
): Promise<Execution> {
  const recorded = new Map(cells.map((cell) => [cell, recordedCell(cell)]));
  const pace = new Pace();
  const begin = executor.nowMs();
  let done = 0;
  let budgetEnded = false;
  for (const [index, { cell, round, position }] of order.entries()) {
    if (signal.aborted) break;
    const spentMs = executor.nowMs() - begin;
    if (spentMs > limits.endMs || (round >= 1 && spentMs > limits.budgetMs)) {
      budgetEnded = true;
      break;
    }
    const record = recorded.get(cell)!;
    onStep({
      done,
      planned: order.length,
      leftMs: pace.leftMs(order.slice(index)),
      name: cellName(cell) + " on " + cell.host,
    });
    const endWatch = executor.watch();
    const before = executor.nowMs();
    try {
      const measurement = await executor.measure(cell, requestOf(cell), 30_000 + cell.estimateMs * 5);
      const tookMs = Math.round(executor.nowMs() - before);
      record.rounds.push({ round, position, tookMs, measurement, machineStallMs: endWatch() });
      done++;
    } catch (error) {
      // An interruption kills the runner, so the error is not a failure of the cell.
      if (signal.aborted) break;
      record.failure ??= firstLine(error as Error);
    }
    pace.note(cell, executor.nowMs() - before);
  }
  onStep({ done, planned: order.length, leftMs: 0, name: "" });
  for (const record of recorded.values()) {
    if (record.rounds.length > 0 || record.unavailable !== undefined || record.failure !== undefined) continue;
    record.unavailable = signal.aborted ? UNMEASURED.interrupted : UNMEASURED.budget;
  }
  return { cells: [...recorded.values()], done, interrupted: signal.aborted, budgetEnded };
}

/** Returns a failure as one sentence for a table. Removes the stack that playwright adds to its messages. */
function firstLine({ message }: Error): string {
  return message
    .split("\n")[0]!
    .replace(/^page\.evaluate: /, "")
    .slice(0, 300);
}

function requestOf(cell: PlannedCell): CellRequest {
  const { [CORES_PARAM]: _cores, ...params } = cell.params;
  const { family, name: scenario, expected } = cell.scenario;
  return { family, scenario, mechanism: cell.mechanism.name, params, expected };
}

/** Estimates the remaining time from the cells' estimates, corrected by the real times of each scenario and host so far. */
class Pace {
  readonly #spent = new Map<string, { estimateMs: number; realMs: number }>();

  note(cell: PlannedCell, realMs: number): void {
    const key = this.#key(cell);
    const sum = this.#spent.get(key) ?? { estimateMs: 0, realMs: 0 };
    this.#spent.set(key, { estimateMs: sum.estimateMs + cell.estimateMs, realMs: sum.realMs + realMs });
  }

  leftMs(rest: readonly PlannedMeasurement[]): number {
    return rest.reduce((total, { cell }) => {
      const known = this.#spent.get(this.#key(cell));
      return total + cell.estimateMs * (known === undefined ? 1 : known.realMs / known.estimateMs);
    }, 0);
  }

  #key(cell: PlannedCell): string {
    return `${cell.scenario.name} ${cell.host}`;
  }
}
