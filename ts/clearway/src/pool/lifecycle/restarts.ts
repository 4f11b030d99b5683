// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import type { ClearwayError } from "../../error/clearway-error.js";
import { after } from "../../lazy/timer.js";
import type { Engine } from "../engine.js";
import type { RestartPause } from "../stats.js";

// A worker that ends by accident is replaced at once. One that ends as soon as it is ready, whatever it is asked, would be
// replaced for ever: so many in a row, each after twice the time, 0.6 s in all, are no accident.
const inVainMax = 8;
const firstRestMs = 10;
// So long a pool rests at most where another worker lives, which may take the calls in the end.
const restMsMax = 2_000;

interface Restarts {
  /** Workers in a row that ended without having begun a call. */
  inVain: number;
  /** Calls that were answered when the last of them ended. */
  answered: number;
  /** When the next one is started, in milliseconds since the epoch. */
  untilMs: number;
}

const known = new WeakMap<Engine, Restarts>();

/** A worker ended that had begun none of its calls, which wait again. Starts others more and more slowly, then fails the calls. */
export function endedInVain(engine: Engine, place: number, why: ClearwayError): void {
  const { workers } = engine;
  const restarts = known.get(engine) ?? { inVain: 0, answered: 0, untilMs: 0 };
  known.set(engine, restarts);
  const answered = answeredBy(engine);
  restarts.inVain = answered === restarts.answered ? restarts.inVain + 1 : 1;
  restarts.answered = answered;
  if (restarts.inVain > inVainMax && engine.noneComes) {
    engine.startFailed(place, why);
    // The calls that this failed are no answers: the next exit is one more in the row.
    restarts.answered = answeredBy(engine);
    return;
  }
  if (restarts.inVain === 1 || workers.resting) return;
  const restMs = Math.min(restMsMax, firstRestMs * 2 ** (restarts.inVain - 2));
  restarts.untilMs = now() + restMs;
  workers.resting = after(restMs, () => {
    workers.resting = undefined;
    engine.scheduler.run();
    engine.startForReady();
  });
}

/** Returns the pause for `stats()`, or undefined if no worker exited so, or a call was answered since. */
export function pauseOf(engine: Engine): RestartPause | undefined {
  const restarts = known.get(engine);
  if (restarts?.answered !== answeredBy(engine)) return undefined;
  const leftMs = engine.workers.resting ? restarts.untilMs - now() : 0;
  return { exits: restarts.inVain, nextStartInMs: Math.max(0, Math.ceil(leftMs)) };
}

function answeredBy({ records }: Engine): number {
  let sum = 0;
  for (const { ok, failed } of records.values()) sum += ok + failed;
  return sum;
}
