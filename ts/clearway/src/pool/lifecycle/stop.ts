// SPDX-License-Identifier: MIT OR Apache-2.0
import { now, outlivesErrors } from "#host";
import { ClearwayError, caused } from "../../error/clearway-error.js";
import { messageOf } from "../../error/message-of.js";
import { encodeError } from "../../error/wire.js";
import { after, within } from "../../lazy/timer.js";
import { cellOf } from "../../task/context.js";
import { Op } from "../../transport/protocol.js";
import type { PoolCall } from "../call/call.js";
import { endReader, tellFailure } from "../call/tracker.js";
import { poolClosed } from "../worker/failures.js";
import type { LifecycleHost, Worker } from "./host.js";
import { expectRing, pingWorker, stitch } from "./messages.js";
import { endedInVain } from "./restarts.js";

// Longest time for a thread to answer while one of its calls does not stop and others are open, however short the grace is. A task of a few
// milliseconds beside that call must not fail.
const aliveMs = 1_000;

// Longest time for a worker to close its resources before the pool ends it.
const closeLimitMs = 5_000;

// A worker that crashed sooner than this after its start, without finishing a task, is replaced only when a call needs it.
const provenMs = 1_000;

/** Tells a worker that a call was cancelled. The call has its grace to stop. */
export function cancel(host: LifecycleHost, worker: Worker, call: PoolCall, reason: unknown): void {
  const { cells } = worker;
  // Pairs with the load in `CallContext.cancelled`, for a task that never lets a message in.
  if (cells) Atomics.store(cells, cellOf(call.id, cells), call.id);
  worker.tell(Op.Cancel, call.id, reason === undefined ? reason : encodeError(reason));
  // `tell` has flushed. If the transport refused the call's own frame, the call is over and has no grace.
  if (call.state === "cancelling") armGrace(host, worker, call);
}

function armGrace(host: LifecycleHost, worker: Worker, call: PoolCall): void {
  call.limit = after(host.settings.graceMs, () => {
    // A worker that is not ready cannot have read the cancel.
    if (worker.life.state === "starting") armGrace(host, worker, call);
    else if (call.graceOver() === "kill") overdue(host, worker);
  });
}

// A call did not stop within its grace.
function overdue(host: LifecycleHost, worker: Worker): void {
  const why = new ClearwayError(
    "worker-crashed",
    "the worker was replaced: another task of it did not stop when it was cancelled",
  );
  if (condemn(worker, why)) return;
  // It has other calls. They may finish while the thread answers. No new calls come.
  const limitMs = Math.max(host.settings.graceMs, aliveMs);
  const look = async (): Promise<void> => {
    const alive = await within(pingWorker(worker), limitMs);
    if (worker.life.state === "gone") return;
    if (!alive) return void worker.kill(why);
    // They may take long: a half-read stream waits for its reader. Waiting calls must not wait for them.
    supersede(host, worker);
    host.scheduler.run();
    // The call that did not stop may block the thread later. A draining worker does not shrink away, so its idle timer is free; that timer
    // ends with the worker.
    clearTimeout(worker.idleTimer);
    worker.idleTimer = after(limitMs, () => void look());
  };
  void look();
}

// Stops new calls, and kills the worker once all its calls are calls that do not stop. Returns whether it did so now.
function condemn(worker: Worker, why: ClearwayError): boolean {
  worker.life.drain(1);
  worker.removed = () => condemn(worker, why);
  for (const call of worker.calls.values()) if (call.state !== "cancelling") return false;
  void worker.kill(why);
  return true;
}

// Gives a worker's index to a new worker now. The old one finishes its calls, however long they take.
function supersede({ workers }: LifecycleHost, worker: Worker): void {
  if (workers.all[worker.index] !== worker) return;
  workers.put(worker.index, undefined);
  workers.outgoing.add(worker);
  workers.fill();
}

/** A worker's load dropped: closes it, recycles it, or lets it shrink away later. */
export function loadDropped(host: LifecycleHost, worker: Worker): void {
  const { settings, workers } = host;
  if (worker.tasksRun > 0 && !worker.ring && settings.carrier === "auto") expectRing(worker);
  if (worker.life.drained(worker.calls.size) === "close") close(worker);
  // A worker that closes its resources keeps the process alive until it is done.
  if (worker.load > 0 || worker.life.state === "closing") return;
  worker.setRef(false);
  // Not with an open call: a half-read stream may wait for its reader for long, and closing would wait for that.
  if (worker.calls.size === 0 && worn(host, worker)) return retire(worker);
  if (workers.size <= settings.min || settings.idleMs === Number.POSITIVE_INFINITY) return;
  worker.idleSinceMs = now();
  // One timer at a time, which starts again if it fired early: a timer per call would cost more than the call.
  if (!worker.idleTimer) armShrink(host, worker, settings.idleMs);
}

function armShrink(host: LifecycleHost, worker: Worker, ms: number): void {
  const { settings, workers } = host;
  worker.idleTimer = after(ms, () => {
    worker.idleTimer = undefined;
    // Without the workers that end already: several may become superfluous at once.
    const staying = workers.count("ready") + workers.count("starting");
    if (worker.calls.size > 0 || staying <= settings.min) return;
    const leftMs = worker.idleSinceMs + settings.idleMs - now();
    // A timer may fire a fraction of a millisecond early.
    if (leftMs > 1) armShrink(host, worker, leftMs);
    else retire(worker);
  });
  (worker.idleTimer as { unref?(): void }).unref?.();
}

// Whether a limit of `recycle` is reached.
function worn({ settings }: LifecycleHost, { tasksRun, heapBytes, startedMs }: Worker): boolean {
  const { tasks, ageMs, heapMb } = settings.recycle;
  if (tasksRun >= tasks || heapBytes >= heapMb * 2 ** 20) return true;
  return ageMs < Number.POSITIVE_INFINITY && now() - startedMs >= ageMs;
}

// Lets a worker finish its calls, close its resources and end. A worker that is starting ends at once.
function retire(worker: Worker): void {
  const action = worker.life.drain(worker.calls.size);
  if (action === "close") close(worker);
  else if (action === "kill") void worker.kill(poolClosed());
}

/** Retires all workers. Settles when they are gone, or after `limitMs`. */
export async function retireAll({ workers }: Pick<LifecycleHost, "workers">, limitMs: number): Promise<void> {
  for (const worker of workers) retire(worker);
  await within(Promise.all([...workers].map((worker) => worker.leaving)), limitMs);
}

// Closes the worker's resources, then ends it. Ends it in any case after a limit.
function close(worker: Worker): void {
  worker.setRef(true);
  const closed = new Promise<void>((resolve) => {
    worker.closed = resolve;
  });
  worker.tell(Op.Close, 0);
  worker.leaving = within(closed, closeLimitMs).then(() => worker.kill(poolClosed()));
}

/** An uncaught error in a worker that was ready. Prints it if no listener and no failing call would show it. */
export function uncaught({ settings }: LifecycleHost, worker: Worker, error: unknown): void {
  const { name, onError, hears } = settings;
  if (hears) onError(error);
  else if (outlivesErrors || worker.calls.size === 0)
    console.error(`Uncaught error in a worker of the pool "${name}" (its option onError would get it):`, error);
}

/** A worker that was ready is gone: ends or requeues its calls, and replaces it. */
export function exited(host: LifecycleHost, worker: Worker, code: number | undefined): void {
  const { calls, killed } = worker;
  const { scheduler, settings, workers } = host;
  worker.closed?.();
  const why = worker.why ?? exitFailure(worker.uncaught, code);
  for (const { reject } of worker.pings.splice(0)) reject(why);
  const crashed = worker.life.exit(killed) === "crashed";
  // A worker that ended itself has said which calls had begun. A worker that was killed because a call did not stop had sent all earlier
  // results, and ran nothing beside that call but streams; a worker that runs several calls at once has reported each start. In all other
  // cases it is unknown which calls had begun.
  const known = killed && why.code !== "message-error";
  const left = [...calls.values()];
  let inVain = crashed && worker.tasksRun === 0 && left.length > 0;
  const streaming = left.some((call) => call.isStream);
  for (const call of left) {
    const told = call.guarded || settings.concurrency > 1;
    const mayHaveRun = !known || (told ? call.state !== "posted" : streaming);
    inVain = lost(host, worker, call, worker.begun?.has(call.id) ?? mayHaveRun, why) && inVain;
  }
  if (workers.all[worker.index] === worker) workers.put(worker.index, undefined);
  workers.outgoing.delete(worker);
  if (crashed || (killed && !why.code.startsWith("pool-"))) workers.restarts++;
  if (worker.tasksRun > 0 || now() - worker.startedMs > provenMs) workers.fill();
  if (crashed && worker.tasksRun === 0) settings.onError(why);
  if (inVain) endedInVain(host, worker.index, why);
  scheduler.run();
  host.startForReady();
}

/**
 * A call's worker is gone. A call that never began waits again. A call that may have run fails with `why`, unless it may run twice. Returns
 * whether the call waits again and never began.
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
    call.own = stitched(why, call);
    call.stitch = stitch;
    tracker.end(call, tellFailure, call.own);
  } else tracker.end(call, endReader);
  return false;
}

// One worker's death may fail several calls. Each gets its own error, with the stack of its own caller.
function stitched(why: ClearwayError, call: PoolCall): ClearwayError {
  const error = caused(why.code, why.message, why.cause);
  error.stack = `${why.name}: ${why.message}${call.callerStack && `\n${call.callerStack}`}`;
  return error;
}

// The error for the calls of a worker that the pool did not end. Uses the last uncaught error where such an error ends a worker. Browsers
// have no exit codes, and a worker there outlives its errors and may end much later for another reason.
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
