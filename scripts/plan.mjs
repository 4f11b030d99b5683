// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses the next stage to run, by the `after` of each stage and the busy lanes. It starts no process itself.

// The fields of a stage. `Plan` ignores `needs` and `cargo`; scripts that combine several lists of stages use them.
const fields = ["name", "command", "cwd", "env", "after", "lane", "idleMinutes", "reads", "needs", "cargo"];

/** Decides the order in which stages run. Call `next()` until it returns undefined, and report each end with `ended()`. */
export class Plan {
  /** The stages of this run, in order. */
  chosen;
  /** The words of `only` that occur in no stage's name. */
  unknown;
  #byName;
  /** "running", "passed" or "failed" by stage name. A stage has no entry before it starts. */
  #state = new Map();
  #stopped = false;

  /**
   * Chooses the stages whose names contain a word of `only`, or all stages if there are no words. Adds the stages in their `after`,
   * transitively. Throws for an unknown name in `after` and for an unknown field.
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
   * Returns the next stage to start and marks it as running. The stages in its `after` have all passed. Prefers the first stage of an idle
   * lane. Returns undefined if no stage can start now.
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

  /** Makes `next` return no further stages. */
  stop() {
    this.#stopped = true;
  }

  /** Returns the chosen stages that never started. If a stage did not start because another one failed, it has the reason `why`. */
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
