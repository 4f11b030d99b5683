// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";
import { clock } from "../globals.js";

/**
 * How long streams may work in one turn of a thread's event loop, in milliseconds: readers, the sources of streams into tasks, and rings.
 * Timers, input and frames wait for this time at most, besides the app's own code for one value of each stream, and the values of one ring.
 */
export const turnBudgetMs = 2;

/** A clock in milliseconds, and the turns of the event loop. Tests pass their own implementation. */
export interface Turns {
  now(): number;
  /** Calls `next` in a later turn. */
  afterTurn(next: () => void): void;
}

/**
 * Limits how long streams work without letting the event loop turn. A reader that awaits one waiting value after the other runs in
 * microtasks, and so would block the thread until the stream ends. So would a source that has its values. All streams of a thread share one
 * budget.
 */
export class TurnBudget {
  readonly #turns: Turns;
  #beganMs = 0;
  #isOpen = false;
  #paused: (() => void)[] = [];

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** Whether this turn's time is over. It starts with what paused before, else with the first call of the turn. */
  get isSpent(): boolean {
    if (this.#paused.length > 0) return true;
    if (this.#isOpen) return this.#turns.now() - this.#beganMs >= turnBudgetMs;
    this.#open();
    return false;
  }

  /** Calls `next` in the next turn, in the order of these calls. */
  pause(next: () => void): void {
    this.#paused.push(next);
    if (!this.#isOpen) this.#open();
  }

  #open(): void {
    this.#isOpen = true;
    this.#beganMs = this.#turns.now();
    this.#turns.afterTurn(this.#next);
  }

  // What this turn has no time for stays in front of what pauses again. Otherwise the first one would use up every turn, and those behind it
  // would wait until it ends.
  readonly #next = (): void => {
    this.#isOpen = false;
    const due = this.#paused;
    if (due.length === 0) return;
    this.#paused = [];
    this.#open();
    let at = 0;
    do due[at++]!();
    while (at < due.length && this.#turns.now() - this.#beganMs < turnBudgetMs);
    this.#paused = [...due.slice(at), ...this.#paused];
  };
}

/** What streams use of a budget. */
export type Budget = Pick<TurnBudget, "isSpent" | "pause">;

let found: TurnBudget | undefined;

// The files of the build have copies of this module: that which reads streams, that which reads sources, and the entry `clearway/channel`.
// The budget is made at its first use, because an import has no side effects.
function ofThread(): TurnBudget {
  if (found) return found;
  const scope = globalThis as { [name: symbol]: TurnBudget | undefined };
  const name = Symbol.for("clearway.turnBudget");
  found = scope[name] ??= new TurnBudget({ now: () => clock(), afterTurn: afterMessages });
  return found;
}

/** The budget of this thread. */
export const turnBudget: Budget = {
  get isSpent() {
    return ofThread().isSpent;
  },
  pause: (next) => ofThread().pause(next),
};
