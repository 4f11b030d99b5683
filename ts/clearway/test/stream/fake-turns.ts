// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Turns } from "../../src/transport/turn-budget.js";

/** A clock and an event loop that only the test advances. */
export class FakeTurns implements Turns {
  nowMs = 0;
  #next: (() => void)[] = [];

  now(): number {
    return this.nowMs;
  }

  afterTurn(next: () => void): void {
    this.#next.push(next);
  }

  /** Runs what waits for the next turn. Returns whether there was anything. */
  turn(): boolean {
    const due = this.#next.splice(0);
    for (const next of due) next();
    return due.length > 0;
  }
}
