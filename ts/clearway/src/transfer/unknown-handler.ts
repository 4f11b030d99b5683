// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";

/** Returns the typed error for an instance whose handler this thread does not have. `known` are the names of those that it has. */
export function unknownHandler(name: string, known: readonly string[]): ClearwayError {
  const list = known.length > 0 ? known.map((each) => JSON.stringify(each)).join(", ") : "none";
  return new ClearwayError(
    "unknown-handler",
    `a value needs the transfer handler ${JSON.stringify(name)}, which the receiving thread has not registered (it has ${list}): ` +
      "call registerTransfer() in the task module and in the module that makes the pool",
  );
}
