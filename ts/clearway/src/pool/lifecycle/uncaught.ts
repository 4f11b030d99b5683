// SPDX-License-Identifier: MIT OR Apache-2.0
import { outlivesErrors } from "#host";
import type { PoolWorker } from "../worker.js";

/** An uncaught error of a worker that was ready. Never silent: without a listener, and where no call fails of it, it is printed. */
export function uncaught(worker: PoolWorker, error: unknown): void {
  const { name, onError, hears } = worker.engine.settings;
  if (hears) onError(error);
  else if (outlivesErrors || worker.calls.size === 0)
    console.error(`Uncaught error in a worker of the pool "${name}" (its option onError would get it):`, error);
}
