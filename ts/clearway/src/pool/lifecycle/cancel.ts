// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { clearTimeout } from "../../globals.js";
import { after, inMicrotask, timeLimit, within } from "../../lazy/lazy.js";
import { cellOf } from "../../task/context.js";
import { encodeThrown } from "../../transfer/thrown.js";
import { Op } from "../../transport/protocol.js";
import type { PoolCall } from "../call/call.js";
import type { Engine } from "../engine.js";
import type { PoolWorker } from "../worker/worker.js";
import { pingWorker } from "./messages.js";

// Lower bound in milliseconds for the time within which a worker must answer a ping. The pool pings a worker if one of its calls does not
// stop and others are open. With a shorter limit, a task that holds the thread for a few milliseconds would make its worker seem blocked.
const aliveMs = 1_000;

/** Notifies a worker that a call was cancelled. The call then has the grace period to stop. */
export function cancel(engine: Engine, worker: PoolWorker, call: PoolCall, reason: unknown): void {
  const { cells } = worker;
  // Pairs with the load in `CallContext.cancelled`. A task that never yields its thread notices the cancel through this cell.
  if (cells) Atomics.store(cells, cellOf(call.id, cells), call.id);
  // The caller has an outcome. Its callbacks must not run any more, although the task may still call them.
  for (const input of call.inputs ?? []) if (input.feed?.called) input.stop();
  worker.sendNow(Op.Cancel, call.id, reason === undefined ? reason : encodeThrown(reason));
  // `sendNow` has flushed the transport. If the transport refused the call's own frame, the call is over and needs no grace period.
  if (call.state === "cancelling") armGrace(engine, worker, call);
}

function armGrace(engine: Engine, worker: PoolWorker, call: PoolCall): void {
  call.limit = timeLimit(engine.settings.graceMs, () => {
    // A worker that is not ready cannot have read the cancel. The grace period starts again.
    if (worker.life.state === "starting") armGrace(engine, worker, call);
    else if (call.graceOver() === "kill") overdue(engine, worker, call);
  });
}

// Handles a call that did not stop within its grace period.
function overdue(engine: Engine, worker: PoolWorker, call: PoolCall): void {
  call.overdue = true;
  const why = new ClearwayError(
    "worker-crashed",
    "the worker was replaced: another task of it did not stop when it was cancelled",
  );
  if (condemn(engine, worker, why)) return;
  // The worker has other calls. The other calls may finish as long as the thread answers. The worker gets no new calls.
  const limitMs = Math.max(engine.settings.graceMs, aliveMs);
  const look = async (): Promise<void> => {
    const alive = await within(pingWorker(worker), limitMs);
    if (worker.life.state === "gone") return;
    if (!alive) return killOverdue(engine, worker, why);
    // The other calls may take long. For example, a half-read stream waits for its reader. Waiting calls must not wait for this worker, so
    // another worker takes its index.
    supersede(engine, worker);
    // The call that did not stop may block the thread later, so the thread is pinged again. The idle timer is free for this, because the
    // pool does not end a draining worker for being idle. The timer is cleared when the worker ends.
    clearTimeout(worker.idleTimer);
    worker.idleTimer = after(limitMs, () => void look());
  };
  void look();
}

// Stops new calls to a worker. Kills the worker once the grace periods of all its remaining calls are over. Returns true if it killed the
// worker now.
function condemn(engine: Engine, worker: PoolWorker, why: ClearwayError): boolean {
  worker.life.drain(1);
  worker.removed = () => condemn(engine, worker, why);
  for (const call of worker.calls.values()) if (!call.overdue) return false;
  killOverdue(engine, worker, why);
  return true;
}

// The thread may be inside native code, which nothing can end. Its successor does not wait for that.
function killOverdue(engine: Engine, worker: PoolWorker, why: ClearwayError): void {
  worker.overdue = true;
  void worker.kill(why);
  // In a microtask, because the last call may be leaving the worker just now.
  inMicrotask(() => supersede(engine, worker));
}

// Gives the index of a worker to a new worker now. The old worker finishes its calls, however long they take.
function supersede(engine: Engine, worker: PoolWorker): void {
  const { workers } = engine;
  if (workers.all[worker.index] === worker) {
    workers.put(worker.index, undefined);
    workers.outgoing.add(worker);
    workers.fill();
  }
  // Also if the worker has no index any more: its overdue call has given up its key.
  engine.scheduler.run();
  engine.workers.startForReady();
}
