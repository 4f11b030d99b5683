// SPDX-License-Identifier: MIT OR Apache-2.0
import { onRejected } from "../../error/checked.js";
import { invalid } from "../../error/clearway-error.js";
import type { CloseReason } from "../transport/transport.js";

/** Returns the reason of an end whose transport threw or rejected. */
export function failed(cause: unknown): CloseReason {
  return { code: "failed", message: "the transport threw", cause };
}

/** Calls a method of the app's transport, which may throw, or be async and reject. */
export function guarded(act: () => unknown, onFailure: (cause: unknown) => void): void {
  try {
    onRejected(act(), onFailure);
  } catch (cause) {
    onFailure(cause);
  }
}

/** Returns what a transport's `send` has returned. Throws `invalid-argument` for nothing or a promise, which does not say whether there is room. */
export function roomOf(given: unknown): boolean {
  if (typeof given === "boolean") return given;
  onRejected(given, () => {});
  throw invalid("transport.send()", "a function that returns a boolean", given);
}
