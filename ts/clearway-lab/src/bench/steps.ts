// SPDX-License-Identifier: MIT OR Apache-2.0
// What the lab gives to a process that runs a user's code (settings, and the task module of a measured function), and the steps in which the
// process runs that code.
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The environment variable with the settings, as JSON. */
export const SETTINGS_VARIABLE = "CLEARWAY_LAB_USER_CODE";

/** Time in milliseconds that `teardown` gets, also after the limit of all steps. The process ends afterwards anyway. */
export const CLOSING_MS_MAX = 5000;

export interface UserCodeSettings {
  /** The URLs of the compiled entries: the user's file, and for `clearway measure` its task module, for `clearway compare` the file A. */
  urls: string[];
  /** Limit for all steps of a request, in milliseconds. */
  timeoutMs: number;
  /** The way of the scenario that the process serves as an arm. Without it, the process answers probes. */
  way?: string;
  /** The function of the first entry that `clearway measure` measures. Without it, the entry is a scenario. */
  function?: string;
}

/** The description of a scenario file, for the plan of a run. `null` is the input of a scenario without inputs. */
export interface ScenarioInfo {
  title?: string;
  inputs: (string | null)[];
  ways: string[];
  hasCheck: boolean;
}

/**
 * Returns the text of a task module that calls the function `name` of `file`, and that has its arguments. The tasks of a file that exposes
 * some itself are exposed with it, because a worker has one module.
 */
export function taskModuleOf(file: string, name: string, args: readonly unknown[]): string {
  const text = JSON.stringify(name);
  return `import * as module from ${JSON.stringify(file)};
import { expose, exposeAll } from "clearway/worker";
const call = (...args) => (module[${text}] ?? module.default?.[${text}])(...args);
export const makeArguments = () => JSON.parse(${JSON.stringify(JSON.stringify(args))});
const own = expose({ call });
try {
  exposeAll({ own, file: module.default });
} catch {
  // The file exposes no tasks.
}
`;
}

// Runs the steps of a measurement, which are calls of a user's functions. A step that throws, or has not settled when the time is over,
// fails with its name. A step that blocks the thread cannot be stopped here: the lab then kills the process.

/** The failure of a user's function. Its message is complete. */
export class StepError extends Error {}

/** A step that had not settled when its time was over. */
class LateError extends StepError {}

export interface Timers {
  nowMs(): number;
  after(ms: number, act: () => void): () => void;
}

const realTimers: Timers = {
  nowMs: () => performance.now(),
  after: (ms, act) => {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};

export class Steps {
  readonly #timeoutMs: number;
  readonly #timers: Timers;
  #endMs = 0;
  /** The failure outside the steps, such as an error in a timer. */
  #uncaught: { reject(error: StepError): void } | undefined;

  /** `timeoutMs` is the limit for all steps together. */
  constructor(timeoutMs: number, timers = realTimers) {
    this.#timeoutMs = timeoutMs;
    this.#timers = timers;
    this.restart();
  }

  /** Gives the running step and the next ones the whole time again. */
  restart(): void {
    this.#endMs = this.#timers.nowMs() + this.#timeoutMs;
  }

  /** Runs a step. Rejects with a StepError if the step throws, rejects, or does not settle before the time is over. */
  run<T>(name: string, step: () => T | PromiseLike<T>): Promise<T> {
    const late = `${name} had not settled after ${this.#timeoutMs / 1000} s; --timeout sets this limit`;
    return this.#run(name, step, () => this.#endMs, late);
  }

  /**
   * Runs a step that closes what others opened, also after their time is over. It gets `CLOSING_MS_MAX`. Such steps together end at most
   * that long after the time of all steps.
   */
  runClosing<T>(name: string, step: () => T | PromiseLike<T>): Promise<T> {
    const now = this.#timers.nowMs();
    const ms = Math.max(0, Math.min(CLOSING_MS_MAX, this.#endMs + CLOSING_MS_MAX - now));
    return this.#run(name, step, () => now + ms, `${name} had not settled after ${Number((ms / 1000).toFixed(1))} s`);
  }

  async #run<T>(name: string, step: () => T | PromiseLike<T>, endMs: () => number, late: string): Promise<T> {
    let stop = (): void => {};
    const outer = this.#uncaught;
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#uncaught = { reject };
        const wait = (): void => {
          const leftMs = Math.max(0, endMs() - this.#timers.nowMs());
          // The end may have moved meanwhile.
          stop = this.#timers.after(leftMs, () =>
            endMs() > this.#timers.nowMs() ? wait() : reject(new LateError(late)),
          );
        };
        wait();
        // A user's promise may be any object with a `then`, so its outcome is adopted, not trusted.
        Promise.resolve()
          .then(step)
          .then(resolve, (thrown: unknown) =>
            reject(
              thrown instanceof StepError
                ? thrown
                : new StepError(`${name} threw ${describeThrown(thrown)}`, { cause: thrown }),
            ),
          );
      });
    } finally {
      stop();
      this.#uncaught = outer;
    }
  }

  /** Fails the running step with an error that no step threw. Returns whether a step was running. */
  fail(thrown: unknown): boolean {
    const running = this.#uncaught;
    running?.reject(new StepError(`an error outside its calls was not caught: ${describeThrown(thrown)}`));
    return running !== undefined;
  }
}

// Describes what a user's function threw, in one line with its place.

const FRAME = /(?:^at (?:async )?|\()((?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^()]*):(\d+):\d+\)?$/;

/** Returns `NAME: MESSAGE (FILE:LINE)`. Never throws, whatever was thrown. The place is that of the first line of the user's own code. */
export function describeThrown(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return `${typeof thrown === "string" ? JSON.stringify(thrown) : String(thrown)}`;
    const name = typeof thrown.name === "string" && thrown.name !== "" ? thrown.name : "Error";
    const message = String(thrown.message).split("\n")[0] ?? "";
    const place = placeOf(String(thrown.stack ?? ""));
    return `${name}: ${message}${place === undefined ? "" : ` (${place})`}`;
  } catch {
    return "a value that cannot be shown";
  }
}

function placeOf(stack: string): string | undefined {
  for (const line of stack.split("\n").slice(1)) {
    const found = FRAME.exec(line.trim());
    if (found === null) continue;
    const [, file = "", row = ""] = found;
    if (/[\\/]node_modules[\\/]|[\\/]clearway(-lab)?[\\/](dist|src|\.cache)[\\/]/.test(file)) continue;
    return `${path.basename(file.startsWith("file:") ? fileURLToPath(file) : file)}:${row}`;
  }
  return undefined;
}
