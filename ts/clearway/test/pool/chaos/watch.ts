// SPDX-License-Identifier: MIT OR Apache-2.0

/** How something that was watched came out. */
export type Outcome = { ok: unknown } | { error: unknown };

const steps = 100;

/** Everything that has to settle, by name, so that what does not can be named. */
export class Watch {
  readonly #open = new Map<number, string>();
  readonly #all: Promise<unknown>[] = [];
  #last = 0;

  /** Follows a promise. The outcome's own promise never rejects. */
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

  /** Settles when all has, also what is followed meanwhile. Throws the list of what has not after `limitMs`. */
  async all(limitMs: number): Promise<void> {
    let timer: ReturnType<typeof setInterval> | undefined;
    // In steps: while the machine stands still nothing can settle, and it counts as one.
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
