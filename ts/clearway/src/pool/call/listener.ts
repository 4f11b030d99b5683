// SPDX-License-Identifier: MIT OR Apache-2.0
import { isThenable } from "../../error/checked.js";
import { OwnPromise } from "../../globals.js";

/** Calls a listener, which is code of the app. Calls `fail` with what it throws, or with the reason of the promise that it returns. */
export function notify(listener: () => unknown, fail: (reason: unknown) => void): void {
  try {
    const told = listener();
    if (isThenable(told)) OwnPromise.resolve(told).then(undefined, fail);
  } catch (reason) {
    fail(reason);
  }
}
