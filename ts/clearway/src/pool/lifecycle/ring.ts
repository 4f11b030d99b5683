// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { expectPart, part } from "../../lazy/part.js";
import { enterCopy } from "../../transfer/ledger.js";
import { Op } from "../../transport/protocol.js";
import type { PoolWorker } from "../worker.js";

const loadRing = part(async () => import("../../transport/ring/open-ring.js"));

/** The ring's memory is not what it should be: nothing that was sent by it can be believed to arrive. */
export function broken(worker: PoolWorker, what = "the worker could not read the ring"): void {
  void worker.kill(new ClearwayError("message-error", what));
}

let expected = false;

/**
 * The first call was answered: the ring is asked for now, in the turn of that answer, and not when the worker has its end. A test
 * runner may have taken its module loader away by then, and a pool that a test leaves open must not ask for modules after it.
 */
export function expectRing({ cells, engine }: PoolWorker): void {
  if (expected || !cells || engine.settings.carrier !== "auto") return;
  expected = true;
  expectPart(loadRing);
}

/**
 * The worker has loaded its end of the ring. When this side's is, both sides' small frames leave by shared memory. Where it
 * cannot be loaded, the port goes on: nothing was promised.
 */
export async function ringable(worker: PoolWorker): Promise<void> {
  if (worker.life.state !== "ready") return;
  const ring = await loadRing().catch(() => undefined);
  if (ring === undefined || worker.lane !== undefined || worker.life.state !== "ready") return;
  const lane = ring.openRing(worker.handle, {
    message: (frames) => worker.receive(frames),
    frame: (op, id, a, b) => worker.frame(op, id, a, b),
    drained: () => worker.told(),
    broken: (error) => broken(worker, error.message),
    copied: (bytes) => enterCopy(worker.engine.fromWorkers, "small", bytes),
    calls: worker.calls,
    expectsSoon: (id) => !worker.calls.get(id)?.record.estimate.long,
  });
  // By itself: a message that is lost costs what is in it, and a worker without its end would not read what is in the ring.
  worker.transport.flush();
  worker.tell(Op.Ring, 0, lane.memory);
  worker.lane = worker.transport.lane = lane;
}
