// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { Op } from "../../transport/protocol.js";
import type { Engine } from "../engine.js";
import type { PoolWorker } from "../worker.js";

/** One round trip to a pool's freest worker, past the queue. Rejects when there is none, or it is lost. */
export async function ping(engine: Engine): Promise<{ remoteTimeMs: number }> {
  const ready = [...engine.workers].filter((each) => each.life.state === "ready");
  const worker = ready.sort((a, b) => a.load - b.load)[0];
  if (!worker) throw engine.ended ?? new ClearwayError("worker-exited", "no worker is ready");
  return { remoteTimeMs: await pingWorker(worker) };
}

/** One round trip; gives the worker's time in milliseconds since the epoch. Rejects when the worker is lost. */
export function pingWorker(worker: PoolWorker): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.pings.push({ resolve, reject });
    worker.setRef(true);
    worker.tell(Op.Ping, 0);
  });
}

/** Answers come in the order of the questions. */
export function pong(worker: PoolWorker, remoteTimeMs: number): void {
  worker.pings.shift()?.resolve(remoteTimeMs);
  if (worker.load === 0) worker.setRef(false);
}
