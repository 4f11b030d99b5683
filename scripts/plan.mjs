// SPDX-License-Identifier: MIT OR Apache-2.0
// Which stage runs next: what each stage comes after, and which lanes are busy. Starts nothing itself.

// `needs` and `cargo` are for who makes a list of stages out of several.
const fields = ["name", "command", "cwd", "env", "after", "lane", "timeoutMinutes", "needs", "cargo"];

/** The order of a run of stages. Ask `next()` until it returns nothing, and report each end by `ended()`. */
export class Plan {
  /** The stages that this run means to run, in their order. */
  chosen;
  /** Words of `only` that no stage's name contains. */
  unknown;
  #byName;
  /** "running", "passed", "failed" by a stage's name; no entry before it starts. */
  #state = new Map();
  #stopped = false;

  /**
   * Chooses the stages whose name contains a word of `only` (all, where there are no words) and, transitively, what they
   * come `after`. Throws for a name in `after` that is no stage's, and for
   * a field that no stage has.
   */
  constructor(stages, only = []) {
    this.#byName = new Map(stages.map((stage) => [stage.name, stage]));
    for (const { name, after = [], ...rest } of stages) {
      const odd = Object.keys(rest).find((field) => !fields.includes(field));
      if (odd !== undefined) throw new Error(`stage "${name}" has a field "${odd}"; a stage has ${fields.join(", ")}`);
      const missing = after.find((other) => !this.#byName.has(other));
      if (missing !== undefined) throw new Error(`stage "${name}" comes after "${missing}", which is no stage`);
    }
    this.unknown = only.filter((word) => !stages.some(({ name }) => name.includes(word)));
    const wanted = new Set();
    const want = (stage) => {
      if (wanted.has(stage)) return;
      wanted.add(stage);
      for (const name of stage.after ?? []) want(this.#byName.get(name));
    };
    for (const stage of stages) if (only.length === 0 || only.some((word) => stage.name.includes(word))) want(stage);
    this.chosen = stages.filter((stage) => wanted.has(stage));
  }

  /**
   * The next stage to start, now marked as running: the first whose `after` have all passed, of a lane that is idle where
   * there is one. Undefined where none can start now.
   */
  next() {
    if (this.#stopped) return undefined;
    const ready = this.chosen.filter((stage) => !this.#state.has(stage.name) && this.#isReady(stage));
    const busy = new Set(this.chosen.filter(({ name }) => this.#state.get(name) === "running").map(({ lane }) => lane));
    const stage = ready.find(({ lane }) => !busy.has(lane)) ?? ready[0];
    if (stage) this.#state.set(stage.name, "running");
    return stage;
  }

  /** Records how a stage ended. */
  ended({ name }, failure) {
    this.#state.set(name, failure ? "failed" : "passed");
  }

  /** Starts nothing more. */
  stop() {
    this.#stopped = true;
  }

  /** The chosen stages that never started, each with the failed stage that it comes after, where that is why. */
  notRun() {
    return this.chosen
      .filter(({ name }) => !this.#state.has(name))
      .map((stage) => {
        const cause = this.#failedBefore(stage);
        return { name: stage.name, ...(cause && { why: `${cause} failed` }) };
      });
  }

  #isReady({ after = [] }) {
    return after.every((name) => this.#state.get(name) === "passed");
  }

  #failedBefore({ after = [] }) {
    for (const name of after) {
      const cause = this.#state.get(name) === "failed" ? name : this.#failedBefore(this.#byName.get(name));
      if (cause) return cause;
    }
    return undefined;
  }
}
