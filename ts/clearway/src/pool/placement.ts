// SPDX-License-Identifier: MIT OR Apache-2.0
import { mayGoAhead } from "./estimate.js";
import type { PoolCall } from "./pool-call.js";
import type { PoolWorker } from "./worker.js";

// Below this much expected work it is better to add to a worker that is awake than to wake another: a wake-up costs 20 to
// 50 us on a virtual machine.
const wakeUs = 50;

/** Whether a worker may be sent this call now. */
export function accepts(worker: PoolWorker, call: PoolCall, concurrency: number): boolean {
  if (worker.life.state !== "ready") return false;
  if (worker.load < concurrency) return true;
  // Sent ahead, behind calls that will be done in no time: but nothing that might have to be killed, nor behind such.
  return !call.guarded && worker.guarded === 0 && mayGoAhead(call.record.estimate, worker.busyUs);
}

/**
 * The worker for a call, if any may have it: for a short task one that is awake anyway, as long as that is cheaper than
 * waking another; else the freest, and among equals the one used last, whose caches are warm.
 */
export function place(
  all: readonly (PoolWorker | undefined)[],
  call: PoolCall,
  concurrency: number,
): PoolWorker | undefined {
  let best: PoolWorker | undefined;
  // By index: every call comes through here, and an iterator is three objects.
  for (let at = 0; at < all.length; at++) {
    const worker = all[at];
    if (!worker || !accepts(worker, call, concurrency)) continue;
    if (
      worker.load > 0 &&
      call.record.estimate.short &&
      worker.busyUs < wakeUs &&
      !call.guarded &&
      worker.guarded === 0
    )
      return worker;
    if (!best || worker.load < best.load || (worker.load === best.load && worker.tasksRun > best.tasksRun)) {
      best = worker;
    }
  }
  return best;
}
