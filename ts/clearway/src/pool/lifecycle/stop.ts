// SPDX-License-Identifier: MIT OR Apache-2.0
import { survivesUncaughtErrors } from "#host";
import { ClearwayError, caused, messageOf } from "../../error/clearway-error.js";
import { clearTimeout, now, OwnPromise, unref } from "../../globals.js";
import type { ExitCode } from "../../host/host.js";
import { after, inMicrotask, within } from "../../lazy/lazy.js";
import { cellOf } from "../../task/context.js";
import { encodeThrown } from "../../transfer/thrown.js";
import { Op } from "../../transport/protocol.js";
import type { PoolCall } from "../call/call.js";
import { endReader, settleFailure } from "../call/tracker.js";
import { poolClosed } from "../worker/state.js";
import type { LifecycleHost, Worker } from "./host.js";
import { pingWorker, rethrowWithCallerStack } from "./messages.js";
import { exitedBeforeCall } from "./restarts.js";
import { dropValue } from "./slices.js";

// Lower bound in milliseconds for the time within which a worker must answer a ping. The pool pings a worker if one of its calls does not
// stop and others are open. With a shorter limit, a task that holds the thread for a few milliseconds would make its worker seem blocked.
const aliveMs = 1_000;

// Maximum time in milliseconds for a worker to close its resources, and then to end by itself. After that, the pool ends the worker.
const closeLimitMs = 5_000;

// Time after a worker's start, in milliseconds. If a worker exits within this time and has finished no task, the pool replaces it only when
// a call needs a worker.
const provenMs = 1_000;

// Calls that did not stop within their grace period.
const overdueCalls = new WeakSet<PoolCall>();
// Workers that the pool killed, or kills, because a call did not stop.
const overdueWorkers = new WeakSet<Worker>();

/** Notifies a worker that a call was cancelled. The call then has the grace period to stop. */
export function cancel(host: LifecycleHost, worker: Worker, call: PoolCall, reason: unknown): void {
  const { cells } = worker;
  // Pairs with the load in `CallContext.cancelled`. A task that never yields its thread notices the cancel through this cell.
  if (cells) Atomics.store(cells, cellOf(call.id, cells), call.id);
  // The caller has an outcome. Its callbacks must not run any more, although the task may still call them.
  for (const input of call.inputs ?? []) if (input.feed?.called) input.stop();
  worker.sendNow(Op.Cancel, call.id, reason === undefined ? reason : encodeThrown(reason));
  // `sendNow` has flushed the transport. If the transport refused the call's own frame, the call is over and needs no grace period.
  if (call.state === "cancelling") armGrace(host, worker, call);
}

function armGrace(host: LifecycleHost, worker: Worker, call: PoolCall): void {
  call.limit = after(host.settings.graceMs, () => {
    // A worker that is not ready cannot have read the cancel. The grace period starts again.
    if (worker.life.state === "starting") armGrace(host, worker, call);
    else if (call.graceOver() === "kill") overdue(host, worker, call);
  });
}

// Handles a call that did not stop within its grace period.
function overdue(host: LifecycleHost, worker: Worker, call: PoolCall): void {
  overdueCalls.add(call);
  const why = new ClearwayError(
    "worker-crashed",
    "the worker was replaced: another task of it did not stop when it was cancelled",
  );
  if (condemn(host, worker, why)) return;
  // The worker has other calls. The other calls may finish as long as the thread answers. The worker gets no new calls.
  const limitMs = Math.max(host.settings.graceMs, aliveMs);
  const look = async (): Promise<void> => {
    const alive = await within(pingWorker(worker), limitMs);
    if (worker.life.state === "gone") return;
    if (!alive) return killOverdue(host, worker, why);
    // The other calls may take long. For example, a half-read stream waits for its reader. Waiting calls must not wait for this worker, so
    // another worker takes its index.
    supersede(host, worker);
    // The call that did not stop may block the thread later, so the thread is pinged again. The idle timer is free for this, because the
    // pool does not end a draining worker for being idle. The timer is cleared when the worker ends.
    clearTimeout(worker.idleTimer);
    worker.idleTimer = after(limitMs, () => void look());
  };
  void look();
}

// Stops new calls to a worker. Kills the worker once the grace periods of all its remaining calls are over. Returns true if it killed the
// worker now.
function condemn(host: LifecycleHost, worker: Worker, why: ClearwayError): boolean {
  worker.life.drain(1);
  worker.removed = () => condemn(host, worker, why);
  for (const call of worker.calls.values()) if (!overdueCalls.has(call)) return false;
  killOverdue(host, worker, why);
  return true;
}

// The thread may be inside native code, which nothing can end. Its successor does not wait for that.
function killOverdue(host: LifecycleHost, worker: Worker, why: ClearwayError): void {
  overdueWorkers.add(worker);
  void worker.kill(why);
  // In a microtask, because the last call may be leaving the worker just now.
  inMicrotask(() => supersede(host, worker));
}

// Gives the index of a worker to a new worker now. The old worker finishes its calls, however long they take.
function supersede(host: LifecycleHost, worker: Worker): void {
  const { workers } = host;
  if (workers.all[worker.index] !== worker) return;
  workers.put(worker.index, undefined);
  workers.outgoing.add(worker);
  workers.fill();
  host.scheduler.run();
  host.startForReady();
}

/** Handles a drop of a worker's load: closes the worker, recycles it, or arms its idle timer. */
export function loadDropped(host: LifecycleHost, worker: Worker): void {
  const { settings, workers } = host;
  if (worker.life.drained(worker.calls.size) === "close") close(worker);
  // A worker that is closing its resources keeps the process alive until it has closed them.
  if (worker.load > 0 || worker.life.state === "closing") return;
  worker.setRef(false);
  // Does not retire a worker with an open call. A half-read stream may wait for its reader for a long time, and retiring would wait for the
  // stream.
  if (worker.calls.size === 0 && worn(host, worker)) return retire(worker);
  if (workers.size <= settings.min || settings.idleMs === Number.POSITIVE_INFINITY) return;
  worker.idleSinceMs = now();
  // Uses one timer at a time, which starts again if it fires too early. A timer per call would cost more than the call.
  if (!worker.idleTimer) armShrink(host, worker, settings.idleMs);
}

function armShrink(host: LifecycleHost, worker: Worker, ms: number): void {
  const { settings, workers } = host;
  worker.idleTimer = after(ms, () => {
    worker.idleTimer = undefined;
    // Does not count the workers that are ending already. Several workers may become superfluous at the same time.
    const staying = workers.count("ready") + workers.count("starting");
    if (worker.calls.size > 0 || staying <= settings.min) return;
    const leftMs = worker.idleSinceMs + settings.idleMs - now();
    // A timer may fire a fraction of a millisecond early.
    if (leftMs > 1) armShrink(host, worker, leftMs);
    else retire(worker);
  });
  unref(worker.idleTimer);
}

// Returns whether the worker has reached a limit of `recycle`.
function worn({ settings }: LifecycleHost, { tasksRun, heapBytes, startedMs }: Worker): boolean {
  const { tasks, ageMs, heapMb } = settings.recycle;
  if (tasksRun >= tasks || heapBytes >= heapMb * 2 ** 20) return true;
  return ageMs < Number.POSITIVE_INFINITY && now() - startedMs >= ageMs;
}

// Retires a worker: lets it finish its calls, close its resources and end. A worker that is starting ends at once.
function retire(worker: Worker): void {
  const action = worker.life.drain(worker.calls.size);
  if (action === "close") close(worker);
  else if (action === "kill") void worker.kill(poolClosed());
}

/** Retires all workers. The promise settles when they are gone, or after `limitMs` milliseconds. Negative means that the time is over. */
export async function retireAll({ workers }: Pick<LifecycleHost, "workers">, limitMs: number): Promise<void> {
  for (const worker of workers) retire(worker);
  // Node 24 prints a warning for a negative time.
  await within(OwnPromise.all([...workers].map((worker) => worker.leaving)), Math.max(0, limitMs));
}

// Closes the worker's resources, then ends the worker. After a time limit, ends the worker in any case.
function close(worker: Worker): void {
  worker.setRef(true);
  const closed = new OwnPromise<void>((resolve) => {
    worker.closed = resolve;
  });
  worker.sendNow(Op.Close, 0);
  worker.leaving = within(closed, closeLimitMs).then((orderly) =>
    orderly ? worker.leave(poolClosed(), closeLimitMs) : worker.kill(poolClosed()),
  );
}

/** Handles an uncaught error in a worker that was ready. Prints the error if no listener and no failing call would show it. */
export function uncaught({ settings }: LifecycleHost, worker: Worker, error: unknown): void {
  const { name, onError, hasOnError } = settings;
  if (hasOnError) onError(error);
  else if (survivesUncaughtErrors || worker.calls.size === 0)
    console.error(`Uncaught error in a worker of the pool "${name}" (its option onError would get it):`, error);
}

/** Handles the exit of a worker that was ready: ends or requeues its calls, and replaces the worker. */
export function exited(host: LifecycleHost, worker: Worker, code: ExitCode): void {
  const { calls, killed } = worker;
  const { scheduler, settings, workers } = host;
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
  const known = overdueWorkers.has(worker) || poolEndedIt;
  const left = [...calls.values()];
  let noCallBegan = crashed && worker.tasksRun === 0 && left.length > 0;
  const streaming = left.some((call) => call.isStream);
  for (const call of left) {
    const reportsStart = call.guarded || settings.concurrency > 1;
    const mayHaveRun = !known || (reportsStart ? call.state !== "posted" : streaming);
    noCallBegan = lost(host, worker, call, worker.begun?.has(call.id) ?? mayHaveRun, why) && noCallBegan;
  }
  if (workers.all[worker.index] === worker) workers.put(worker.index, undefined);
  workers.outgoing.delete(worker);
  const unwanted = crashed || (killed && !poolEndedIt);
  if (unwanted) workers.restarts++;
  if (worker.tasksRun > 0 || now() - worker.startedMs > provenMs) workers.fill();
  settings.onWorker({ type: "exited", worker: worker.index, error: unwanted ? why : undefined });
  if (crashed && worker.tasksRun === 0) settings.onError(why);
  if (noCallBegan) exitedBeforeCall(host, worker.index, why);
  scheduler.run();
  host.startForReady();
}

/**
 * Ends or requeues a call whose worker is gone. A call that never began waits again if its arguments were not moved. Any other call fails
 * with `why`, unless it may be repeated. Returns whether the call waits again and never began.
 */
export function lost(
  { backlog, tracker }: LifecycleHost,
  worker: Worker,
  call: PoolCall,
  mayHaveRun: boolean,
  why?: ClearwayError,
): boolean {
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
    call.ownError = withCallerStack(why, call);
    call.rethrow = rethrowWithCallerStack;
    tracker.end(call, settleFailure, call.ownError);
  } else tracker.end(call, endReader);
  return false;
}

// Returns a copy of an error, with the stack of the call's own caller. One worker's death may fail several calls, and each call gets its
// own error.
function withCallerStack(why: ClearwayError, call: PoolCall): ClearwayError {
  const error = caused(why.code, why.message, why.cause);
  error.stack = `${why.name}: ${why.message}${call.callerStack && `\n${call.callerStack}`}`;
  return error;
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
