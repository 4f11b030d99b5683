// SPDX-License-Identifier: MIT OR Apache-2.0
// Steers a run that answers questions. It ends the cells of settled questions early. On a slow or busy machine it leaves out
// comparisons, so that every other one gets the minimum number of rounds in time. Mechanisms that are only in the tables go first.
import type { PlannedCell } from "../scenario/plan.js";
import type { Question } from "../scenario/question.js";
import { cellKey, planQuestions, ROUNDS_MIN } from "../scenario/question-plan.js";
import type { Scenario } from "../scenario/scenario.js";
import { isSettled } from "./answer.js";
import type { RecordedCell, RunRecord } from "./record.js";

/** Decides during a run which cells get more rounds. */
export interface Steering {
  /** Number of rounds that a cell needs. They may start until the run's end, later ones only within its budget. */
  readonly firstRounds: number;
  /** Returns whether more rounds of a cell would change no answer. Called only for cells that have the minimum number of rounds. */
  isSettled(cells: readonly RecordedCell[], cell: RecordedCell): boolean;
  /**
   * Returns which cells to go on measuring, so that all of them get their first rounds within `availableMs`. `costMs` returns the time that a
   * cell still needs for these rounds. Called before the second and each later one of the first rounds.
   */
  cellsToKeep(
    cells: readonly PlannedCell[],
    costMs: (cell: PlannedCell) => number,
    availableMs: number,
  ): readonly PlannedCell[];
}

/** Measures every planned round of every cell. */
export const ALL_ROUNDS: Steering = { firstRounds: 1, isSettled: () => false, cellsToKeep: (cells) => cells };

export class QuestionSteering implements Steering {
  readonly firstRounds = ROUNDS_MIN;
  readonly #scenarios: readonly Scenario[];
  readonly #hosts: RunRecord["hosts"];
  #questions: readonly Question[];
  readonly #leftOut: string[] = [];

  constructor(questions: readonly Question[], scenarios: readonly Scenario[], hosts: RunRecord["hosts"]) {
    this.#questions = questions;
    this.#scenarios = scenarios;
    this.#hosts = hosts;
  }

  /** The questions with the comparisons that were not left out. */
  get questions(): readonly Question[] {
    return this.#questions;
  }

  /** The names of the comparisons that were left out. */
  get leftOut(): readonly string[] {
    return this.#leftOut;
  }

  isSettled(cells: readonly RecordedCell[], cell: RecordedCell): boolean {
    return isSettled({ cells: [...cells], hosts: this.#hosts }, this.#questions, cell);
  }

  cellsToKeep(
    cells: readonly PlannedCell[],
    costMs: (cell: PlannedCell) => number,
    availableMs: number,
  ): readonly PlannedCell[] {
    const known = new Map(cells.map((cell) => [cellKey(cell), cell]));
    const costOf = (needed: readonly PlannedCell[]) => needed.reduce((sum, cell) => sum + costMs(cell), 0);
    if (costOf(cells) <= availableMs) return cells;
    // What is only in the tables goes first.
    this.#questions = withoutOthers(this.#questions);
    const deciding = this.#cellsOf(
      this.#questions.map(({ comparisons }) => comparisons.length),
      known,
    );
    if (costOf(deciding) <= availableMs) return deciding;
    let kept: readonly PlannedCell[] = [];
    const counts = this.#questions.map(() => 0);
    const full = new Set<number>();
    // All first comparisons come before all second ones, so that as many questions as possible get an answer.
    const longest = Math.max(0, ...this.#questions.map(({ comparisons }) => comparisons.length));
    for (let position = 0; position < longest; position++) {
      for (const [at, { comparisons }] of this.#questions.entries()) {
        if (position >= comparisons.length || full.has(at)) continue;
        counts[at] = position + 1;
        const needed = this.#cellsOf(counts, known);
        if (kept.length === 0 || costOf(needed) <= availableMs) kept = needed;
        else {
          counts[at] = position;
          full.add(at);
        }
      }
    }
    this.#leaveOut(counts);
    return kept;
  }

  /** Returns the cells that the first `counts[i]` comparisons of each question need. */
  #cellsOf(counts: readonly number[], known: ReadonlyMap<string, PlannedCell>): PlannedCell[] {
    const hosts = [...new Set([...known.values()].map(({ host }) => host))];
    return planQuestions(first(this.#questions, counts), this.#scenarios, hosts).flatMap((cell) => {
      const planned = known.get(cellKey(cell));
      return planned === undefined ? [] : [planned];
    });
  }

  #leaveOut(counts: readonly number[]): void {
    for (const [at, { name, comparisons }] of this.#questions.entries()) {
      for (const { label } of comparisons.slice(counts[at]))
        this.#leftOut.push(label === undefined ? name : `${name} ${label}`);
    }
    this.#questions = first(this.#questions, counts);
  }
}

function withoutOthers(questions: readonly Question[]): Question[] {
  return questions.map((question) => ({
    ...question,
    comparisons: question.comparisons.map((compared) => ({ ...compared, others: [] })),
  }));
}

/** Returns the questions with the first `counts[i]` of their comparisons. Leaves out questions without any. */
function first(questions: readonly Question[], counts: readonly number[]): Question[] {
  return questions
    .map((question, at) => ({ ...question, comparisons: question.comparisons.slice(0, counts[at]) }))
    .filter(({ comparisons }) => comparisons.length > 0);
}
