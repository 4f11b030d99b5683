// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import { type ClearwayError, caused } from "../../error/clearway-error.js";
import { messageOf } from "../../error/message-of.js";
import type { PoolCall } from "../pool-call.js";
import { endReader, tellFailure } from "../settle.js";
import type { PoolWorker } from "../worker.js";
import { endedInVain } from "./restarts.js";
import { stitch } from "./stitch.js";

// A worker that died sooner than this after its start, without finishing a task, is not replaced before it is needed.
const provenMs = 1_000;

/** A worker that was ready is gone. */
export function exited(worker: PoolWorker, code: number | undefined): void {
  const { calls, engine, killed, uncaught } = worker;
  const { scheduler, settings, workers } = engine;
  worker.closed?.();
  const why = worker.why ?? exitFailure(uncaught, code);
  for (const { reject } of worker.pings.splice(0)) reject(why);
  const crashed = worker.life.exit(killed) === "crashed";
  // A worker that ended itself says what had begun. One that was killed for a call that did not stop flushed all before
  // it, and ran nothing beside it but streams; one that may run several at once has told of each. Of others nobody knows.
  const known = killed && why.code !== "message-error";
  const left = [...calls.values()];
  let inVain = crashed && worker.tasksRun === 0 && left.length > 0;
  const streaming = left.some((call) => call.isStream);
  for (const call of left) {
    const told = call.guarded || settings.concurrency > 1;
    const mayHaveRun = !known || (told ? call.state !== "posted" : streaming);
    inVain = lost(worker, call, worker.begun?.has(call.id) ?? mayHaveRun, why) && inVain;
  }
  if (workers.all[worker.index] === worker) workers.put(worker.index, undefined);
  workers.outgoing.delete(worker);
  if (crashed || (killed && !why.code.startsWith("pool-"))) workers.restarts++;
  if (worker.tasksRun > 0 || now() - worker.startedMs > provenMs) workers.fill();
  if (crashed && worker.tasksRun === 0) settings.onError(why);
  if (inVain) endedInVain(engine, worker.index, why);
  scheduler.run();
  engine.startForReady();
}

/**
 * What never began goes back to where it was; what may have run fails because of `why`, unless it may run twice. Returns
 * whether it waits again and never began.
 */
export function lost(worker: PoolWorker, call: PoolCall, mayHaveRun: boolean, why?: ClearwayError): boolean {
  const { backlog, tracker } = worker.engine;
  const mayRepeat = call.whole && !call.isStream && call.lostRuns < call.options.retries;
  const action = call.lose(mayHaveRun || !call.whole, mayRepeat);
  worker.remove(call);
  if (action === "requeue") {
    clearTimeout(call.limit);
    if (mayHaveRun) call.lostRuns++;
    backlog.add(call);
    return !mayHaveRun;
  }
  if (action === "fail" && why) {
    call.record.failed++;
    call.own = stitched(why, call);
    call.stitch = stitch;
    tracker.say(call, tellFailure, call.own);
  } else tracker.say(call, endReader);
  tracker.settled(call);
  return false;
}

// One worker's death fails several calls; each gets an error of its own, with its own caller's stack.
function stitched(why: ClearwayError, call: PoolCall): ClearwayError {
  const error = caused(why.code, why.message, why.cause);
  error.stack = `${why.name}: ${why.message}${call.callerStack && `\n${call.callerStack}`}`;
  return error;
}

// By its last uncaught error, where that ends a worker, and its exit code. Where there are no exit codes, in browsers, a
// worker outlives its errors and ends by other means, perhaps long after.
function exitFailure(uncaught: { error: unknown } | undefined, code: number | undefined): ClearwayError {
  if (uncaught === undefined || code === undefined) {
    return caused(
      "worker-exited",
      `the worker ended itself${code === undefined ? "" : ` with exit code ${code}`}`,
      undefined,
    );
  }
  const { error } = uncaught;
  return (error as { code?: unknown } | null)?.code === "ERR_WORKER_OUT_OF_MEMORY"
    ? caused("out-of-memory", "the worker reached its memory limit", error)
    : caused("worker-crashed", `an uncaught error ended the worker: ${messageOf(error)}`, error);
}
