// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * How a runner failed. `start`: its program could not be started. `ended`: it exited, or closed its output. `silent`: it did not answer in
 * time. `not-json`, `too-long`: it wrote such a line. `version`: it speaks another version of the protocol. `wrong-answer`: its answer
 * breaks the protocol, or its result is wrong. `refused`: it answered with an error.
 */
export type RunnerProblem =
  | "start"
  | "ended"
  | "silent"
  | "not-json"
  | "too-long"
  | "version"
  | "wrong-answer"
  | "refused";

/** The failure of a runner. Only after `refused` and `wrong-answer` does the runner still run. */
export class RunnerError extends Error {
  readonly code: RunnerProblem;

  constructor(code: RunnerProblem, message: string) {
    // A runner chooses parts of the message, and a terminal would obey the control characters in it.
    super(message.replace(/(?!\n)\p{Cc}/gu, " "));
    this.name = "RunnerError";
    this.code = code;
  }
}
