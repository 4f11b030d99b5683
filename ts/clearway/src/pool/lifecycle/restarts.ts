// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ClearwayError } from "../../error/clearway-error.js";
import { now } from "../../globals.js";
import { after } from "../../lazy/lazy.js";
import type { RestartPause } from "../stats.js";
import type { LifecycleHost } from "./host.js";

// Maximum number of workers in a row that exit before they begin a call. The pool normally replaces a worker that crashes at once. If
// workers exit as soon as they are ready, the pool must stop at some point. From the second exit on, it pauses before the next start, and
// doubles the pause each time (1.3 s in total). Eight exits in a row are not a coincidence.
const exitsInRowMax = 8;
const firstPauseMs = 10;
// Maximum pause in milliseconds. The pause grows to it only while another worker lives, which may take the calls in the end.
const pauseMsMax = 2_000;

interface Restarts {
  /** Number of workers in a row that exited before they began a call. */
  exitsInRow: number;
  /** Number of answered calls at the time of the last such exit. */
  answered: number;
  /** Number of workers in a row whose `setup` failed. */
  failedSetups: number;
  /** Time of the next worker's start, in milliseconds since the epoch. */
  untilMs: number;
}

const known = new WeakMap<object, Restarts>();

function restartsOf(host: LifecycleHost): Restarts {
  const restarts = known.get(host) ?? { exitsInRow: 0, answered: 0, failedSetups: 0, untilMs: 0 };
  known.set(host, restarts);
  return restarts;
}

/**
 * Handles the exit of a worker before it began a call. The worker's calls are in the queue again. Starts other workers after longer and
 * longer pauses. Fails the calls if too many workers exit in this way.
 */
export function exitedBeforeCall(host: LifecycleHost, index: number, why: ClearwayError): void {
  const restarts = restartsOf(host);
  const answered = answeredBy(host);
  restarts.exitsInRow = answered === restarts.answered ? restarts.exitsInRow + 1 : 1;
  restarts.answered = answered;
  if (restarts.exitsInRow > exitsInRowMax && host.noWorkerComing) {
    host.startFailed(index, why);
    // The calls that have just failed do not count as answered. The next such exit therefore counts as one more in a row.
    restarts.answered = answeredBy(host);
    return;
  }
  pause(host, restarts, restarts.exitsInRow);
}

/**
 * Handles the end of a worker's `setup`. After a failure, the pool pauses before it starts another worker, in the same way. Calls that
 * other workers answer do not end the row, because they say nothing about `setup`.
 */
export function setupEnded(host: LifecycleHost, succeeded: boolean): void {
  if (succeeded && !known.has(host)) return;
  const restarts = restartsOf(host);
  restarts.failedSetups = succeeded ? 0 : restarts.failedSetups + 1;
  if (!succeeded) pause(host, restarts, restarts.failedSetups);
}

function pause(host: LifecycleHost, restarts: Restarts, inRow: number): void {
  const { workers } = host;
  if (inRow === 1 || workers.restartTimer || workers.stopped) return;
  const pauseMs = Math.min(pauseMsMax, firstPauseMs * 2 ** (inRow - 2));
  restarts.untilMs = now() + pauseMs;
  workers.restartTimer = after(pauseMs, () => {
    workers.restartTimer = undefined;
    host.scheduler.run();
    host.startForReady();
  });
}

/** Returns the pause for `stats()`. Returns undefined if no worker exited before it began a call, or if a call was answered since. */
export function pauseOf(host: Pick<LifecycleHost, "records" | "workers">): RestartPause | undefined {
  const restarts = known.get(host);
  const row = restarts?.answered === answeredBy(host) ? restarts.exitsInRow : 0;
  const exits = Math.max(row, restarts?.failedSetups ?? 0);
  if (!restarts || exits === 0) return undefined;
  const leftMs = host.workers.restartTimer ? restarts.untilMs - now() : 0;
  return { exits, nextStartInMs: Math.max(0, Math.ceil(leftMs)) };
}

function answeredBy({ records }: Pick<LifecycleHost, "records">): number {
  let sum = 0;
  for (const { ok, failed } of records.values()) sum += ok + failed;
  return sum;
}
