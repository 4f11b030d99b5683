// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import { after, within } from "../../lazy/timer.js";
import { Op } from "../../transport/protocol.js";
import type { PoolWorker } from "../worker.js";
import { poolClosed } from "../worker-failure.js";
import type { WorkerSet } from "../worker-set.js";
import { expectRing } from "./ring.js";

// How long a worker may take to close its resources before it is ended in any case.
const closeLimitMs = 5_000;

/** A call left a worker, or it became less busy: it may close, be recycled now, or be shrunk away later. */
export function loadDropped(worker: PoolWorker): void {
  if (worker.tasksRun > 0) expectRing(worker);
  if (worker.life.drained(worker.calls.size) === "close") close(worker);
  // One that closes its resources keeps the process until it is done.
  if (worker.load > 0 || worker.life.state === "closing") return;
  worker.setRef(false);
  // A half-read stream may wait for its reader for long, and nobody else may have to wait for that.
  if (worker.calls.size === 0 && worn(worker)) return retire(worker);
  const { settings, workers } = worker.engine;
  if (workers.size <= settings.min || settings.idleMs === Number.POSITIVE_INFINITY) return;
  worker.idleSinceMs = now();
  // One timer at a time, which looks again when it was early: arming one a call would cost more than the call.
  if (!worker.idleTimer) armShrink(worker, settings.idleMs);
}

// Those that are on their way out count no more: several may become superfluous at once.
function staying(workers: WorkerSet): number {
  return workers.count("ready") + workers.count("starting");
}

function armShrink(worker: PoolWorker, ms: number): void {
  const { settings, workers } = worker.engine;
  worker.idleTimer = after(ms, () => {
    worker.idleTimer = undefined;
    if (worker.calls.size > 0 || staying(workers) <= settings.min) return;
    const leftMs = worker.idleSinceMs + settings.idleMs - now();
    // A timer may fire a fraction of a millisecond early.
    if (leftMs > 1) armShrink(worker, leftMs);
    else retire(worker);
  });
  (worker.idleTimer as { unref?(): void }).unref?.();
}

function worn({ engine, tasksRun, heapBytes, startedMs }: PoolWorker): boolean {
  const { tasks, ageMs, heapMb } = engine.settings.recycle;
  if (tasksRun >= tasks || heapBytes >= heapMb * 2 ** 20) return true;
  return ageMs < Number.POSITIVE_INFINITY && now() - startedMs >= ageMs;
}

/** Lets a worker finish what it has, close its resources and end. One that is starting ends at once. */
export function retire(worker: PoolWorker): void {
  const action = worker.life.drain(worker.calls.size);
  if (action === "close") close(worker);
  else if (action === "kill") void worker.kill(poolClosed());
}

/** Does so with all of them. Settles when they are gone, or the time is over. */
export async function retireAll(workers: WorkerSet, limitMs: number): Promise<void> {
  for (const worker of workers) retire(worker);
  await within(Promise.all([...workers].map((worker) => worker.leaving)), limitMs);
}

// Closes its resources, then ends it; if that takes too long, it is ended in any case.
function close(worker: PoolWorker): void {
  worker.setRef(true);
  const closed = new Promise<void>((resolve) => {
    worker.closed = resolve;
  });
  worker.tell(Op.Close, 0);
  worker.leaving = within(closed, closeLimitMs).then(() => worker.kill(poolClosed()));
}

/** Gives a worker's place to another at once. It goes on with the calls that it has, for as long as they take. */
export function supersede(worker: PoolWorker): void {
  const { workers } = worker.engine;
  if (workers.all[worker.index] !== worker) return;
  workers.put(worker.index, undefined);
  workers.outgoing.add(worker);
  workers.fill();
}
