// SPDX-License-Identifier: MIT OR Apache-2.0
// Times batches until there are enough, or until their time is over.
import { nowMs, turn } from "#lab-host";
import { type ActionName, type Argument, checkOf } from "./action.js";
import type { BatchExecutor } from "./strategy.js";

export interface BatchTime {
  ms: number;
  /** Time for which starting the batch blocked the calling thread, in milliseconds. */
  blockedMs: number;
}

/** A batch's action and arguments, and its expected checksum. */
export interface BatchWork {
  name: ActionName;
  args: readonly Argument[];
  checksum: number;
}

/** Runs one batch. Throws if its results are wrong, because only correct batches are timed. */
export async function timeBatch(executor: BatchExecutor, { name, args, checksum }: BatchWork): Promise<BatchTime> {
  const from = nowMs();
  const pending = executor.run(name, args);
  const started = nowMs();
  const results = pending instanceof Promise ? await pending : pending;
  const ms = nowMs() - from;
  const check = checkOf(results);
  if (check.done !== args.length || check.checksum !== checksum)
    throw new Error(
      `the batch's results are wrong: done=${check.done} of ${args.length} checksum=${check.checksum}, expected ${checksum}`,
    );
  return { ms, blockedMs: started - from };
}

/**
 * Runs at least `countMin` batches. Then runs more, until there are `countMax` batches or `timeMsMax` milliseconds have passed. Each batch
 * starts in its own turn of the event loop, as in an app.
 */
export async function timeBatches(
  executor: BatchExecutor,
  work: BatchWork,
  { countMin, countMax, timeMsMax }: { countMin: number; countMax: number; timeMsMax: number },
): Promise<BatchTime[]> {
  const times: BatchTime[] = [];
  const from = nowMs();
  while (times.length < countMin || (times.length < countMax && nowMs() - from < timeMsMax)) {
    await turn();
    times.push(await timeBatch(executor, work));
  }
  return times;
}

/**
 * Closes the pool, but waits at most 500 ms. The close of some pools never settles if nothing else keeps the process alive. The process
 * ends after its answer anyway.
 */
export function closeWithTimeout(executor: BatchExecutor): Promise<unknown> {
  return Promise.race([executor.close(), new Promise((done) => setTimeout(done, 500))]);
}
