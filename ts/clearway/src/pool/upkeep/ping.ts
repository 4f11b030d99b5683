// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { Op } from "../../transport/protocol.js";
import type { Engine } from "../engine.js";
import type { Slot } from "../slot.js";

/** One round trip to a pool's freest worker, past the queue. Rejects when there is none, or it is lost. */
export async function ping(engine: Engine): Promise<{ remoteTimeMs: number }> {
  const ready = [...engine.workforce].filter((each) => each.life.state === "ready");
  const slot = ready.sort((a, b) => a.load - b.load)[0];
  if (!slot) throw engine.ended ?? new ClearwayError("worker-exited", "no worker is ready");
  return { remoteTimeMs: await pingWorker(slot) };
}

/** One round trip; gives the worker's time in milliseconds since the epoch. Rejects when the worker is lost. */
export function pingWorker(slot: Slot): Promise<number> {
  return new Promise((resolve, reject) => {
    slot.pings.push({ resolve, reject });
    slot.setRef(true);
    slot.tell(Op.Ping, 0);
  });
}

/** Answers come in the order of the questions. */
export function pong(slot: Slot, remoteTimeMs: number): void {
  slot.pings.shift()?.resolve(remoteTimeMs);
  if (slot.load === 0) slot.setRef(false);
}
