// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * The scenario files of `clearway bench`. This is the package's only entry for programs; the rest is the command `clearway`.
 *
 * @module clearway-lab
 */

/** A way that needs something before its calls, such as a pool. */
export interface WayWithSetup<Input, Result, Context> {
  /** Opens what the calls need. Runs once in each process, before the first call, and is not timed. */
  setup?: () => Context | PromiseLike<Context>;
  /** Does the work once. Only this is timed. `context` is the result of `setup`. */
  run: (input: Input, context: Context) => Result | PromiseLike<Result>;
  /** Closes what `setup` opened. Runs after the last call, also after a failed one, and is not timed. */
  teardown?: (context: Context) => unknown;
}

/** One way to do the work: a function, or an object with `setup`, `run` and `teardown`. */
export type Way<Input, Result, Context = unknown> =
  | ((input: Input) => Result | PromiseLike<Result>)
  | WayWithSetup<Input, Result, Context>;

/** The settings of a scenario. Every other property is a way. */
export interface ScenarioSettings<Input, Result> {
  /** The question that the scenario answers. Default: the name of its file. */
  title?: string;
  /**
   * The inputs by name, for example sizes. All calls get the same value, or the value of the same promise. A function makes a new input
   * before each call, and is not timed: use it if a way changes or moves its input. Without inputs, the ways are called with `undefined`.
   */
  inputs?: Record<string, Input | PromiseLike<Input> | (() => Input | PromiseLike<Input>)>;
  /**
   * Verifies results before the run, and after each warm-up. To refuse the result, return false or throw an error. To accept it, return true
   * or nothing. Without `check`, the result
   * of each way must be equal to that of the way that the others are compared with.
   */
  check?: (result: Result, input: Input) => unknown;
}

/** A scenario: settings, and ways with the names of your choice. */
export type ScenarioDefinition<Input, Result, Contexts> = ScenarioSettings<Input, Result> & {
  [Name in keyof Contexts]: Name extends keyof ScenarioSettings<Input, Result>
    ? unknown
    : Way<Input, Result, Contexts[Name]>;
};

/**
 * Gives the types of a scenario to its functions. Returns its argument. `clearway bench FILE` measures the default export of FILE:
 *
 * ```ts
 * export default scenario({ inputs: { small: 1_000, large: 1_000_000 }, direct: (count) => primes(count) });
 * ```
 */
export function scenario<Input, Result, Contexts>(
  definition: ScenarioDefinition<Input, Result, Contexts>,
): ScenarioDefinition<Input, Result, Contexts> {
  return definition;
}
