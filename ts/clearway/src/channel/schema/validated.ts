// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { ErrorCode } from "../../error/codes.js";
import { MovedValue, move } from "../../transfer/move.js";
import { shown, ValidationIssue } from "./validation-issue.js";
import type { Validator } from "./validator.js";

/** Properties of the error for a value that does not match its schema. */
export interface ValidationIssueParts {
  /** The value's path, such as `args.places[3].city`. */
  readonly path: string;
  /** The type that the schema expects at this path. */
  readonly expected: string;
}

/** Validates a value on its way from the program to the codec, or back. Throws an error with the value's path. */
export type Validated = (value: unknown) => unknown;

/**
 * Returns a function that validates a value with `validator`. `code` is the code of its error: `invalid-argument` for the program's
 * own values, `protocol` for the other end's values. A value given with `move()` stays marked as moved.
 */
export function validated(validator: Validator, where: string, root: string, code: ErrorCode): Validated {
  return (value) => {
    try {
      return value instanceof MovedValue ? move(validator(value.value), value.transfer) : validator(value);
    } catch (thrown) {
      if (!(thrown instanceof ValidationIssue)) throw thrown;
      const path = thrown.at(root);
      const { expected } = thrown;
      const error = new ClearwayError(code, `${where}: ${path} must be ${expected}: ${path}=${shown(thrown.value)}`);
      throw Object.assign(error, { path, expected } satisfies ValidationIssueParts);
    }
  };
}
