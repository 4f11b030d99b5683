// SPDX-License-Identifier: MIT OR Apache-2.0

import { OwnPromise } from "../globals.js";

// Created on first use, so that importing this file has no side effects.
let settled: Promise<void> | undefined;

/**
 * Runs `act` in a microtask. `act` must not throw. Node's `queueMicrotask` creates an async resource for each microtask, which takes as long
 * as the rest of a small message.
 */
export function inMicrotask(act: () => void): void {
  settled ??= OwnPromise.resolve();
  void settled.then(act);
}
