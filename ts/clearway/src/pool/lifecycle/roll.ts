// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, caused } from "../../error/clearway-error.js";
import { Op } from "../../transport/protocol.js";
import type { PoolCall } from "../pool-call.js";
import { endReader, tellFailure } from "../settle.js";
import type { PoolWorker } from "../worker.js";

/** A message that was lost. */
interface Loss {
  readonly why: ClearwayError;
  /** Whether there was a message; else a module may have posted something of its own. */
  readonly sure: boolean;
  /** The calls that were with the worker when the loss was heard of. */
  readonly calls: readonly PoolCall[];
  /** Round trips that were under way. */
  readonly pings: PoolWorker["pings"];
}

const losses = new WeakMap<PoolWorker, Loss[]>();

/**
 * A message between a worker and its pool could not be read; nobody knows what was in it. Asks the worker for the calls that it
 * has: its answer comes behind all that it sent before, so a call that it has not and did not answer was in that message.
 */
export function unreadable(worker: PoolWorker, why: ClearwayError, sure: boolean): void {
  worker.lane?.lost();
  const loss: Loss = { why, sure, calls: worker.calls.values(), pings: [...worker.pings] };
  const waiting = losses.get(worker);
  if (waiting) waiting.push(loss);
  else losses.set(worker, [loss]);
  worker.transport.post(Op.Roll, 0);
}

/** The worker says which calls it has. Those that were lost fail, and no others. */
export function rollCalled(worker: PoolWorker, ids: readonly number[]): void {
  const loss = losses.get(worker)?.shift();
  if (loss === undefined) return;
  const { tracker } = worker.engine;
  const here = new Set(ids);
  for (const call of loss.calls) {
    if (worker.calls.get(call.id) !== call) continue;
    if (!here.has(call.id)) fail(worker, call, loss.why);
    // A value of a stream may have been in the message, or what lets the other side go on.
    else if (loss.sure && (call.isStream || call.inputs)) tracker.cancel(call, own(loss.why));
  }
  for (const ping of loss.pings) {
    const at = worker.pings.indexOf(ping);
    if (at >= 0) worker.pings.splice(at, 1)[0]!.reject(loss.why);
  }
  worker.engine.loadDropped(worker);
}

function fail(worker: PoolWorker, call: PoolCall, why: ClearwayError): void {
  const { tracker } = worker.engine;
  const action = tracker.leave(worker, call, -1);
  if (action === "nothing") return;
  if (action === "deliver") {
    call.record.failed++;
    call.own = own(why);
    tracker.say(call, tellFailure, call.own);
  } else tracker.say(call, endReader);
  tracker.settled(call);
}

// Each call gets an error of its own.
function own({ code, message }: ClearwayError): ClearwayError {
  return caused(code, message, undefined);
}
