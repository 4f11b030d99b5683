// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls a user's function on this thread and in a worker of Clearway's pool, both under the probe. The lab asks for one part at a time, so
// that it keeps what was measured when its limit is reached.
import { pool } from "clearway";
import { measureFrameDrops } from "clearway/meter";
import { describeThrown, LateError, StepError, type Steps } from "../bench/steps.js";
import { isSame } from "../bench/ways.js";
import type { ProbedRun } from "../timing/frame-drops.js";
import { TASK } from "./find-function.js";
import type { Part } from "./run-function.js";
import type { Copy } from "./verdict.js";

export interface UserFunction {
  call: (...args: unknown[]) => unknown;
  /** The function's name, which is also its task if its file exposes tasks. */
  name: string;
  /** The compiled text of `taskModuleOf`. */
  taskUrl: string;
}

export class FunctionCalls {
  readonly #target: UserFunction;
  readonly #args: unknown[];
  readonly #steps: Steps;
  #workers: { readonly call: unknown } | undefined;
  #task: string | undefined;
  /** The last result of each way. */
  #expected: unknown;
  #answer: unknown;

  constructor(target: UserFunction, args: unknown[], steps: Steps) {
    this.#target = target;
    this.#args = args;
    this.#steps = steps;
  }

  /** Runs a part. Rejects with a LateError at the limit, and with a StepError if the direct call fails. */
  run(part: Part): Promise<unknown> {
    switch (part) {
      case "direct":
        return this.#direct();
      case "copy":
        return Promise.resolve(this.#copy());
      case "worker":
        return this.#worker();
      case "comparison":
        return Promise.resolve(isSame(this.#expected, this.#answer));
    }
  }

  async #direct(): Promise<ProbedRun> {
    // The function may change its arguments, so each call gets its own.
    const args = structuredClone(this.#args);
    const { value, totalMs, lagsMs } = await this.#steps.run("the function", () =>
      measureFrameDrops(() => this.#target.call(...args)),
    );
    this.#expected = value;
    return { totalMs, lagsMs };
  }

  /** Returns null if the result cannot be cloned. The call in a worker then says why. */
  #copy(): Copy | null {
    try {
      return { argumentsMs: cloneMs(this.#args), resultMs: cloneMs(this.#expected) };
    } catch {
      return null;
    }
  }

  async #worker(): Promise<ProbedRun | { why: string }> {
    try {
      this.#workers ??= pool(new URL(this.#target.taskUrl), { size: 1, name: "measure" });
      const tasks = this.#workers.call as Record<string, (...args: unknown[]) => Promise<unknown>>;
      const measured = (task: string) =>
        this.#steps.run("the call in a worker", () => measureFrameDrops(() => tasks[task]!(...this.#args)));
      const { value, totalMs, lagsMs } = await (this.#task === undefined
        ? this.#first(measured)
        : measured(this.#task));
      this.#answer = value;
      return { totalMs, lagsMs };
    } catch (error) {
      if (error instanceof LateError) throw error;
      return { why: error instanceof StepError ? error.message : describeThrown(error) };
    }
  }

  /** Finds the task that calls the function: that of Clearway's own module, or the file's own. */
  async #first<T>(call: (task: string) => Promise<T>): Promise<T> {
    const { name } = this.#target;
    const own = { is: false };
    const result = await call(TASK).catch((error: StepError) => {
      own.is = (error.cause as { code?: unknown } | undefined)?.code === "unknown-task";
      if (!own.is) throw error;
      return call(name);
    });
    this.#task = own.is ? name : TASK;
    return result;
  }
}

function cloneMs(value: unknown): number {
  const beginMs = performance.now();
  structuredClone(value);
  return performance.now() - beginMs;
}
