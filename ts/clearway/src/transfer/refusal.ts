// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, caused, messageOf } from "../error/clearway-error.js";
import { bufferBytes } from "../host/structure.js";
import type { CopyReason } from "./find-memory.js";

/** Returns the typed error for a value that structured clone rejected. */
export function notCloneable(what: string, reason: unknown): ClearwayError {
  return caused("not-cloneable", `${what} cannot cross a thread: ${messageOf(reason)}`, reason);
}

/** Returns the error for a value that could not be read or sent: the library's own, or the typed error for what its getters and traps threw. */
export function refusalOf(what: string, reason: unknown): ClearwayError {
  return reason instanceof ClearwayError ? reason : notCloneable(what, reason);
}

/** Returns the typed error for a result whose memory has moved away with an earlier result. `what` names the new result. */
export function movedAway(what: string, reason: unknown): ClearwayError {
  const remedy = "Return a copy of what the task keeps: value.slice(), or move(value, [])";
  return caused("not-cloneable", `${what} holds memory that moved away with an earlier result. ${remedy}`, reason);
}

/** Returns whether any buffer among these objects was moved before. */
export function movedBefore(objects: readonly object[]): boolean {
  return objects.some((each) => {
    if (bufferBytes(each) !== 0) return false;
    try {
      return !new Uint8Array(each as ArrayBuffer);
    } catch {
      return true;
    }
  });
}

/** Returns the typed error for a copy that `strict` forbids. */
export function wouldCopy(reason: CopyReason, bytes: number): ClearwayError {
  const remedy = reason === "partial-view" ? ". Pass a copy of the part: new Uint8Array(part)" : "";
  return new ClearwayError("would-copy", `strict: ${bytes} bytes would have been copied (${reason})${remedy}`);
}

/** Returns the typed error for an instance whose handler this thread does not have. `known` are the names of those that it has. */
export function unknownHandler(name: string, known: readonly string[]): ClearwayError {
  const list = known.length > 0 ? known.map((each) => JSON.stringify(each)).join(", ") : "none";
  return new ClearwayError(
    "unknown-handler",
    `a value needs the transfer handler ${JSON.stringify(name)}, which the receiving thread has not registered (it has ${list}): ` +
      "call registerTransfer() in the task module and in the module that makes the pool",
  );
}
