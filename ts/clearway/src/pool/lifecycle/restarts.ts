// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import type { ClearwayError } from "../../error/clearway-error.js";
import { after } from "../../lazy/timer.js";
import type { RestartPause } from "../stats.js";
import type { LifecycleHost } from "./host.js";

// The pool replaces a worker that crashes at once. If workers exit as soon as they are ready, it must stop at some point. This many exits
// in a row, each after twice the pause of the one before (0.6 s in all), are no accident.
const inVainMax = 8;
const firstRestMs = 10;
// Longest pause while another worker lives, which may take the calls in the end.
const restMsMax = 2_000;

interface Restarts {
  /** Workers in a row that exited before they began a call. */
  inVain: number;
  /** Calls that were answered when the last of them exited. */
  answered: number;
  /** Start of the next worker, in milliseconds since the epoch. */
  untilMs: number;
}

const known = new WeakMap<object, Restarts>();

/**
 * A worker exited before it began a call; its calls wait again. Starts other workers after longer and longer pauses, then fails the calls.
 */
export function endedInVain(host: LifecycleHost, index: number, why: ClearwayError): void {
  const { workers } = host;
  const restarts = known.get(host) ?? { inVain: 0, answered: 0, untilMs: 0 };
  known.set(host, restarts);
  const answered = answeredBy(host);
  restarts.inVain = answered === restarts.answered ? restarts.inVain + 1 : 1;
  restarts.answered = answered;
  if (restarts.inVain > inVainMax && host.noneComes) {
    host.startFailed(index, why);
    // The calls that this failed are no answers: the next exit is one more in the row.
    restarts.answered = answeredBy(host);
    return;
  }
  if (restarts.inVain === 1 || workers.resting) return;
  const restMs = Math.min(restMsMax, firstRestMs * 2 ** (restarts.inVain - 2));
  restarts.untilMs = now() + restMs;
  workers.resting = after(restMs, () => {
    workers.resting = undefined;
    host.scheduler.run();
    host.startForReady();
  });
}

/** Returns the pause for `stats()`, or undefined if no worker exited so, or a call was answered since. */
export function pauseOf(host: Pick<LifecycleHost, "records" | "workers">): RestartPause | undefined {
  const restarts = known.get(host);
  if (restarts?.answered !== answeredBy(host)) return undefined;
  const leftMs = host.workers.resting ? restarts.untilMs - now() : 0;
  return { exits: restarts.inVain, nextStartInMs: Math.max(0, Math.ceil(leftMs)) };
}

function answeredBy({ records }: Pick<LifecycleHost, "records">): number {
  let sum = 0;
  for (const { ok, failed } of records.values()) sum += ok + failed;
  return sum;
}
