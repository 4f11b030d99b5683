// SPDX-License-Identifier: MIT OR Apache-2.0
// Times batches until there are enough, or until their time is over.
import { nowMs, turn } from "#lab-host";
import { type ActionName, type Argument, checkOf } from "./action.js";
import type { Running } from "./strategy.js";

export interface OneBatch {
  ms: number;
  /** Time for which starting the batch blocked the calling thread, in milliseconds. */
  heldMs: number;
}

/** A batch's action and arguments, and its expected checksum. */
export interface BatchWork {
  name: ActionName;
  given: readonly Argument[];
  checksum: number;
}

/** Runs one batch. Throws if its results are wrong, because only correct batches are timed. */
export async function oneBatch(running: Running, { name, given, checksum }: BatchWork): Promise<OneBatch> {
  const from = nowMs();
  const answer = running.run(name, given);
  const begun = nowMs();
  const results = answer instanceof Promise ? await answer : answer;
  const ms = nowMs() - from;
  const found = checkOf(results);
  if (found.done !== given.length || found.checksum !== checksum)
    throw new Error(
      `the batch's results are wrong: done=${found.done} of ${given.length} checksum=${found.checksum}, expected ${checksum}`,
    );
  return { ms, heldMs: begun - from };
}

/**
 * Runs at least `least` batches. Then runs more, until there are `most` batches or `untilMs` milliseconds have passed. Each batch
 * starts in its own turn of the event loop, as in an app.
 */
export async function batches(
  running: Running,
  work: BatchWork,
  { least, most, untilMs }: { least: number; most: number; untilMs: number },
): Promise<OneBatch[]> {
  const found: OneBatch[] = [];
  const from = nowMs();
  while (found.length < least || (found.length < most && nowMs() - from < untilMs)) {
    await turn();
    found.push(await oneBatch(running, work));
  }
  return found;
}

/**
 * Closes the pool, but waits at most 500 ms. The close of some pools never settles if nothing else keeps the process alive. The process
 * ends after its answer anyway.
 */
export function closeSoon(running: Running): Promise<unknown> {
  return Promise.race([running.close(), new Promise((done) => setTimeout(done, 500))]);
}
