// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { encodeError } from "../../error/wire.js";
import { cellOf } from "../../task/context.js";
import { Op } from "../../transport/protocol.js";
import type { PoolCall } from "../pool-call.js";
import { after, within } from "../timer.js";
import type { PoolWorker } from "../worker.js";
import { pingWorker } from "./ping.js";
import { supersede } from "./rest.js";

// A thread that has other calls than the one that did not stop has this long to show that it still answers, however short
// the grace is: a task of a few milliseconds beside it is no reason to fail that task.
const aliveMs = 1_000;

/** Tells a worker that a call was cancelled. It has its grace to stop. */
export function cancel(worker: PoolWorker, call: PoolCall, reason: unknown): void {
  const { cells } = worker;
  // Pairs with the load in `CallContext.cancelled`, for a task that never lets a message in.
  if (cells) Atomics.store(cells, cellOf(call.id, cells), call.id);
  worker.tell(Op.Cancel, call.id, reason === undefined ? reason : encodeError(reason));
  // What was still to be posted has been by now, and the call may have been refused: then nobody answers.
  if (call.state === "cancelling") armGrace(worker, call);
}

function armGrace(worker: PoolWorker, call: PoolCall): void {
  call.limit = after(worker.engine.settings.graceMs, () => {
    // A worker that is not ready yet could not hear of it.
    if (worker.life.state === "starting") armGrace(worker, call);
    else if (call.graceOver() === "kill") overdue(worker);
  });
}

// A call has not stopped within its grace.
function overdue(worker: PoolWorker): void {
  const { engine } = worker;
  const why = new ClearwayError(
    "worker-crashed",
    "the worker was replaced: another task of it did not stop when it was cancelled",
  );
  if (condemn(worker, why)) return;
  // Others run beside it. As long as the thread answers they may finish, and no new ones come.
  const limitMs = Math.max(engine.settings.graceMs, aliveMs);
  const look = async (): Promise<void> => {
    const alive = await within(pingWorker(worker), limitMs);
    if (worker.life.state === "gone") return;
    if (!alive) return void worker.kill(why);
    // They may take long: a half-read stream waits for its reader. Nobody else waits for them.
    supersede(worker);
    engine.scheduler.run();
    // The one that did not stop may still hold the thread, later. A draining worker is not shrunk away, so its idle timer is free;
    // that timer ends with the worker.
    clearTimeout(worker.idleTimer);
    worker.idleTimer = after(limitMs, () => void look());
  };
  void look();
}

// Takes no new calls, and ends as soon as only calls are left that do not stop. Returns whether that is now.
function condemn(worker: PoolWorker, why: ClearwayError): boolean {
  worker.life.drain(1);
  worker.removed = () => condemn(worker, why);
  for (const call of worker.calls.values()) if (call.state !== "cancelling") return false;
  void worker.kill(why);
  return true;
}
