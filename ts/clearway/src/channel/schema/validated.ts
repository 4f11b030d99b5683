// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { ErrorCode } from "../../error/codes.js";
import { MovedValue, move } from "../../transfer/move.js";
import { shown, ValidationIssue } from "./validation-issue.js";
import type { Validator } from "./validator.js";

/** What is told of a value that does not fit its schema; the error has these as properties too. */
export interface ValidationIssueParts {
  /** Where, such as `args.places[3].city`. */
  readonly path: string;
  /** What must stand there. */
  readonly expected: string;
}

/** A place where values cross: checks them, and says where it is when one does not fit. */
export type Validated = (value: unknown) => unknown;

/**
 * The border for a value that goes out (`invalid-argument`: the program's own), or comes in from the other end (`protocol`).
 * What is under `move()` stays there.
 */
export function validated(fit: Validator, where: string, root: string, code: ErrorCode): Validated {
  return (value) => {
    try {
      return value instanceof MovedValue ? move(fit(value.value), value.transfer) : fit(value);
    } catch (thrown) {
      if (!(thrown instanceof ValidationIssue)) throw thrown;
      const path = thrown.at(root);
      const { expected } = thrown;
      const error = new ClearwayError(code, `${where}: ${path} must be ${expected}: ${path}=${shown(thrown.value)}`);
      throw Object.assign(error, { path, expected } satisfies ValidationIssueParts);
    }
  };
}
