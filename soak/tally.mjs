// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts the operations of a part: which are open, and how the others ended.

/** Errors that show a fault of Clearway, and not one that the soak caused. */
export class Wrong extends Error {
  name = "Wrong";
}

/** Throws a `Wrong` that says `what` unless it is right. */
export const check = (right, what) => {
  if (!right) throw new Wrong(what);
};

const unexpectedMax = 20;

export class Tally {
  #open = new Map();
  #outcomes = new Map();
  #number = 0;
  #unexpected = [];
  #unexpectedCount = 0;

  /**
   * Runs an operation and counts how it ends. Never rejects. `expected` lists the codes and names of errors that are right for it.
   * @param {string} name
   * @param {readonly string[]} expected
   * @param {() => Promise<unknown>} run
   */
  async run(name, expected, run) {
    const number = this.#number++;
    this.#open.set(number, { name, at: performance.now() });
    let outcome = "ok";
    try {
      await run();
    } catch (error) {
      outcome = error?.code ?? error?.name ?? String(error);
      if (error instanceof Wrong || !expected.includes(outcome)) this.unexpected(`${name}: ${error?.stack ?? error}`);
    }
    this.#open.delete(number);
    const key = `${name}: ${outcome}`;
    this.#outcomes.set(key, (this.#outcomes.get(key) ?? 0) + 1);
  }

  /** Notes something that must not happen. Keeps the first 20 texts and counts all. */
  unexpected(text) {
    this.#unexpectedCount++;
    if (this.#unexpected.length < unexpectedMax) this.#unexpected.push(text);
  }

  /** Returns the counts as plain data. `oldestMs` is the age of the operation that has been open for the longest time. */
  report() {
    const now = performance.now();
    const open = [...this.#open.values()].map(({ name, at }) => ({ name, ms: Math.round(now - at) }));
    return {
      started: this.#number,
      settled: this.#number - open.length,
      oldestMs: Math.max(0, ...open.map(({ ms }) => ms)),
      open: open.slice(0, unexpectedMax),
      outcomes: Object.fromEntries([...this.#outcomes].sort(([a], [b]) => (a < b ? -1 : 1))),
      unexpected: this.#unexpected,
      unexpectedCount: this.#unexpectedCount,
    };
  }
}
