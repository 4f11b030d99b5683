// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, caused, messageOf } from "../../error/clearway-error.js";
import { clearTimeout, now } from "../../globals.js";
import type { ExitCode } from "../../host/host.js";
import { after } from "../../lazy/lazy.js";
import { endReader, type PoolCall, settleFailure } from "../call/call.js";
import type { Engine } from "../engine.js";
import { printError, type Settings } from "../options.js";
import type { RestartPause } from "../stats.js";
import type { PoolWorker } from "../worker/worker.js";
import { ownErrorOf } from "./messages.js";
import { dropValue } from "./slices.js";

// Time after a worker's start, in milliseconds. If a worker exits within this time and has finished no task, the pool replaces it only when
// a call needs a worker.
const provenMs = 1_000;

/**
 * Handles an uncaught error in a worker that was ready. In Node, the error ends the worker. Its exit follows, and tells whether a call fails
 * with the error.
 */
export function uncaught({ settings }: Engine, error: unknown): void {
  if (!hasProcesses) report(settings, error);
}

function report({ name, onError, hasOnError }: Settings, error: unknown): void {
  if (hasOnError) onError(error);
  else printError(`Uncaught error in a worker of the pool "${name}" (its option onError would get it):`, error);
}

/** Handles the exit of a worker that was ready: ends or requeues its calls, and replaces the worker. */
export function exited(engine: Engine, worker: PoolWorker, code: ExitCode): void {
  const { calls, killed } = worker;
  const { scheduler, settings, workers } = engine;
  worker.closed?.();
  dropValue(worker);
  const why = worker.why ?? exitFailure(worker.uncaught, code);
  for (const { reject } of worker.pings.splice(0)) reject(why);
  const crashed = worker.life.exit(killed) === "crashed";
  // Finds out for each call whether it may have run. A worker that ended itself has sent the ids of the calls that had begun.
  //
  // The pool also knows this if it killed the worker because a call did not stop, or because the pool was closed (`pool-closed`,
  // `pool-terminated`). Before a worker runs a guarded call (a call that the pool may have to stop while it runs), it sends all earlier
  // results and `Started`. If it runs several calls at once, it sends `Started` for all of them while a guarded call is open. With
  // `concurrency` 1, it sends no `Started` for a call that is not guarded. Such a call can have begun only beside a stream, because only a
  // stream lets the worker begin another call.
  //
  // In all other cases, the pool does not know which calls had begun.
  const poolEndedIt = why.code === "pool-closed" || why.code === "pool-terminated";
  const known = worker.overdue || poolEndedIt;
  const left = [...calls.values()];
  let noCallBegan = crashed && worker.tasksRun === 0 && left.length > 0;
  let received = false;
  const streaming = left.some((call) => call.isStream);
  const { begun } = worker;
  const saysNone = begun !== undefined && !left.some((call) => begun.has(call.id));
  for (const call of left) {
    const reportsStart = call.guarded || settings.concurrency > 1;
    let mayHaveRun = begun?.has(call.id) ?? (!known || (reportsStart ? call.state !== "posted" : streaming));
    if (saysNone && ++call.unbegun > unbegunMax) mayHaveRun = true;
    const end = lost(engine, worker, call, mayHaveRun, why);
    received ||= end === "failed";
    noCallBegan &&= end === "unbegun";
  }
  if (workers.all[worker.index] === worker) workers.put(worker.index, undefined);
  workers.outgoing.delete(worker);
  const unwanted = crashed || (killed && !poolEndedIt);
  if (unwanted) workers.restarts++;
  if (worker.tasksRun > 0 || now() - worker.startedMs > provenMs) workers.fill();
  settings.onWorker({ type: "exited", worker: worker.index, error: unwanted ? why : undefined });
  // If the pool has begun to end the worker since, its calls fail with that reason.
  if (hasProcesses && worker.uncaught && !(received && !worker.why)) report(settings, worker.uncaught.error);
  else if (!received && crashed) settings.onError(why);
  if (noCallBegan) exitedBeforeCall(engine, worker.index, why);
  scheduler.run();
  engine.workers.startForReady();
}

/**
 * Ends or requeues a call whose worker is gone. A call that never began waits again if its arguments were not moved. Any other call fails
 * with `why`, unless it may be repeated. Returns `unbegun` if the call waits again and never began, and `failed` if it received `why`.
 */
export function lost(
  engine: Engine,
  worker: PoolWorker,
  call: PoolCall,
  mayHaveRun: boolean,
  why?: ClearwayError,
): "unbegun" | "failed" | undefined {
  const mayRepeat = call.whole && !call.isStream && call.lostRuns < call.options.retries;
  const action = call.lose(mayHaveRun || !call.whole, mayRepeat);
  worker.remove(call);
  if (action === "requeue") {
    clearTimeout(call.limit);
    if (mayHaveRun) call.lostRuns++;
    engine.backlog.add(call);
    return mayHaveRun ? undefined : "unbegun";
  }
  if (action === "fail" && why) {
    call.task.failed++;
    engine.end(call, settleFailure, ownErrorOf(call, why));
    return "failed";
  }
  engine.end(call, endReader);
  return undefined;
}

// Returns the error for the calls of a worker that the pool did not end. In Node, an uncaught error ends its worker, so the last one is the
// cause. In browsers, which have no exit codes, a worker survives its errors and may end much later for another reason.
function exitFailure(uncaught: { error: unknown } | undefined, code: ExitCode): ClearwayError {
  if (hasProcesses && typeof code === "string" && uncaught === undefined)
    return caused("worker-exited", `the signal ${code} ended the worker's process`, undefined);
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

// Maximum number of workers in a row that exit before they begin a call. The pool normally replaces a worker that crashes at once. If
// workers exit as soon as they are ready, the pool must stop at some point. From the second exit on, it pauses before the next start, and
// doubles the pause each time (1.3 s in total). Eight exits in a row are not a coincidence.
const exitsInRowMax = 8;
// Maximum number of workers that say that no call has begun, and exit, for one call. Code in the worker can send this list, too, so it may be
// wrong. The call then counts as one that may have run. Larger than `exitsInRowMax`, so that workers that exit without any call fail all calls first.
const unbegunMax = 10;
const firstPauseMs = 10;
// Maximum pause in milliseconds. The pause grows to it only while another worker lives, which may take the calls in the end.
const pauseMsMax = 2_000;

/** What a pool knows of the workers that exited before they began a call. */
export interface Restarts {
  /** Number of workers in a row that exited before they began a call. */
  exitsInRow: number;
  /** Number of answered calls at the time of the last such exit. */
  answered: number;
  /** Number of workers in a row whose `setup` failed. */
  failedSetups: number;
  /** Time of the next worker's start, in milliseconds since the epoch. */
  untilMs: number;
}

const restartsOf = (engine: Engine): Restarts =>
  (engine.restarts ??= { exitsInRow: 0, answered: 0, failedSetups: 0, untilMs: 0 });

/**
 * Handles the exit of a worker before it began a call. The worker's calls are in the queue again. Starts other workers after longer and
 * longer pauses. Fails the calls if too many workers exit in this way.
 */
export function exitedBeforeCall(engine: Engine, index: number, why: ClearwayError): void {
  const restarts = restartsOf(engine);
  const answered = answeredBy(engine);
  restarts.exitsInRow = answered === restarts.answered ? restarts.exitsInRow + 1 : 1;
  restarts.answered = answered;
  if (restarts.exitsInRow > exitsInRowMax && engine.workers.noneComes) {
    engine.workers.startFailed(index, why);
    // The calls that have just failed do not count as answered. The next such exit therefore counts as one more in a row.
    restarts.answered = answeredBy(engine);
    return;
  }
  pause(engine, restarts, restarts.exitsInRow);
}

/**
 * Handles the end of a worker's `setup`. After a failure, the pool pauses before it starts another worker, in the same way. Calls that
 * other workers answer do not end the row, because they say nothing about `setup`.
 */
export function setupEnded(engine: Engine, succeeded: boolean): void {
  if (succeeded && !engine.restarts) return;
  const restarts = restartsOf(engine);
  restarts.failedSetups = succeeded ? 0 : restarts.failedSetups + 1;
  if (!succeeded) pause(engine, restarts, restarts.failedSetups);
}

function pause(engine: Engine, restarts: Restarts, inRow: number): void {
  const { workers } = engine;
  if (inRow === 1 || workers.restartTimer || workers.stopped) return;
  const pauseMs = Math.min(pauseMsMax, firstPauseMs * 2 ** (inRow - 2));
  restarts.untilMs = now() + pauseMs;
  workers.restartTimer = after(pauseMs, () => {
    workers.restartTimer = undefined;
    engine.scheduler.run();
    workers.startForReady();
  });
}

/** Returns the pause for `stats()`. Returns undefined if no worker exited before it began a call, or if a call was answered since. */
export function pauseOf(engine: Engine): RestartPause | undefined {
  const { restarts } = engine;
  const row = restarts?.answered === answeredBy(engine) ? restarts.exitsInRow : 0;
  const exits = Math.max(row, restarts?.failedSetups ?? 0);
  if (!restarts || exits === 0) return undefined;
  const leftMs = engine.workers.restartTimer ? restarts.untilMs - now() : 0;
  return { exits, nextStartInMs: Math.max(0, Math.ceil(leftMs)) };
}

function answeredBy({ tasks }: Engine): number {
  let sum = 0;
  for (const { ok, failed } of tasks.values()) sum += ok + failed;
  return sum;
}
