// SPDX-License-Identifier: MIT OR Apache-2.0
import { now, OwnPromise, unref } from "../../globals.js";
import { after, within } from "../../lazy/lazy.js";
import { Op } from "../../transport/protocol.js";
import type { Engine } from "../engine.js";
import type { PoolWorker } from "../worker/worker.js";
import { poolClosed } from "../worker/worker-set.js";

// Maximum time in milliseconds for a worker to close its resources, and then to end by itself. After that, the pool ends the worker.
const closeLimitMs = 5_000;

/** Handles a drop of a worker's load: closes the worker, recycles it, or arms its idle timer. */
export function loadDropped(engine: Engine, worker: PoolWorker): void {
  const { settings, workers } = engine;
  if (worker.life.drained(worker.calls.size) === "close") close(worker);
  // A worker that is closing its resources keeps the process alive until it has closed them. A worker that is starting cannot be retired: its
  // end would count as a failed start, for all calls that wait.
  if (worker.load > 0 || worker.life.state === "closing" || worker.life.state === "starting") return;
  worker.setRef(false);
  // Does not retire a worker with an open call. A half-read stream may wait for its reader for a long time, and retiring would wait for the
  // stream.
  if (worker.calls.size === 0 && worn(engine, worker)) return retire(worker);
  if (workers.size <= settings.min) return;
  worker.idleSinceMs = now();
  // Uses one timer at a time, which starts again if it fires too early. A timer per call would cost more than the call.
  if (!worker.idleTimer) armShrink(engine, worker, settings.idleMs);
}

function armShrink(engine: Engine, worker: PoolWorker, ms: number): void {
  const { settings, workers } = engine;
  worker.idleTimer = after(ms, () => {
    worker.idleTimer = undefined;
    // Does not count the workers that are ending already. Several workers may become superfluous at the same time.
    const staying = workers.count("ready") + workers.count("starting");
    if (worker.calls.size > 0 || staying <= settings.min) return;
    const leftMs = worker.idleSinceMs + settings.idleMs - now();
    // A timer may fire a fraction of a millisecond early.
    if (leftMs > 1) armShrink(engine, worker, leftMs);
    else retire(worker);
  });
  unref(worker.idleTimer);
}

// Returns whether the worker has reached a limit of `recycle`.
function worn({ settings }: Engine, { tasksRun, heapBytes, startedMs }: PoolWorker): boolean {
  const { tasks, ageMs, heapMb } = settings.recycle;
  if (tasksRun >= tasks || heapBytes >= heapMb * 2 ** 20) return true;
  return ageMs < Number.POSITIVE_INFINITY && now() - startedMs >= ageMs;
}

// Retires a worker: lets it finish its calls, close its resources and end. A worker that is starting ends at once.
function retire(worker: PoolWorker): void {
  const action = worker.life.drain(worker.calls.size);
  if (action === "close") close(worker);
  else if (action === "kill") void worker.kill(poolClosed());
}

/** Retires all workers. The promise settles when they are gone, or after `limitMs` milliseconds. Negative means that the time is over. */
export async function retireAll(workers: Iterable<PoolWorker>, limitMs: number): Promise<void> {
  for (const worker of workers) retire(worker);
  // Node 24 prints a warning for a negative time.
  await within(OwnPromise.all([...workers].map((worker) => worker.leaving)), Math.max(0, limitMs));
}

// Closes the worker's resources, then ends the worker. After a time limit, ends the worker in any case.
function close(worker: PoolWorker): void {
  worker.setRef(true);
  const closed = new OwnPromise<void>((resolve) => {
    worker.closed = resolve;
  });
  worker.sendNow(Op.Close, 0);
  worker.leaving = within(closed, closeLimitMs).then((orderly) =>
    orderly ? worker.leave(poolClosed(), closeLimitMs) : worker.kill(poolClosed()),
  );
}
