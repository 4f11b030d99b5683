// SPDX-License-Identifier: MIT OR Apache-2.0

/** The outcome of a watched promise. */
export type Outcome = { ok: unknown } | { error: unknown };

const steps = 100;

/** Watches promises by name, and reports the names of those that do not settle. */
export class Watch {
  readonly #open = new Map<number, string>();
  readonly #all: Promise<unknown>[] = [];
  #last = 0;

  /** Watches a promise. The returned promise never rejects. */
  follow(name: string, promise: PromiseLike<unknown>): Promise<Outcome> {
    const id = ++this.#last;
    this.#open.set(id, name);
    const outcome = Promise.resolve(promise).then(
      (ok): Outcome => ({ ok }),
      (error): Outcome => ({ error }),
    );
    const done = outcome.then((it) => {
      this.#open.delete(id);
      return it;
    });
    this.#all.push(done);
    return done;
  }

  /** Settles when all watched promises have settled, also later ones. Throws a list of the others after `limitMs`. */
  async all(limitMs: number): Promise<void> {
    let timer: ReturnType<typeof setInterval> | undefined;
    // Counts in steps: while the whole machine is suspended nothing can settle, and the suspension counts as one step.
    const late = new Promise<"late">((resolve) => {
      let left = steps;
      timer = setInterval(() => --left === 0 && resolve("late"), limitMs / steps);
    });
    try {
      for (let seen = -1; seen !== this.#all.length; ) {
        seen = this.#all.length;
        if ((await Promise.race([Promise.all(this.#all), late])) === "late") {
          throw new Error(`not settled after ${limitMs} ms:\n  ${[...this.#open.values()].join("\n  ")}`);
        }
      }
    } finally {
      clearInterval(timer);
    }
  }
}
