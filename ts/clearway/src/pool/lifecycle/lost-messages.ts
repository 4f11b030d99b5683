// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, caused } from "../../error/clearway-error.js";
import { Op } from "../../transport/protocol.js";
import type { PoolCall } from "../call/call.js";
import { endReader, settleFailure } from "../call/tracker.js";
import type { LifecycleHost, Worker } from "./host.js";

/** A lost message. */
interface Loss {
  readonly why: ClearwayError;
  /** Whether Clearway sent the message. If false, the task module may have posted it. */
  readonly sure: boolean;
  /** The worker's open calls at the time when the pool noticed the loss. */
  readonly calls: readonly PoolCall[];
  /** Pings without a reply at that time. */
  readonly pings: Worker["pings"];
}

const losses = new WeakMap<Worker, Loss[]>();

/**
 * Handles a message from or to a worker that could not be deserialized. The content of such a message is unknown.
 *
 * Asks the worker for the ids of its calls. The reply comes after everything that the worker sent before. If a call has no answer and the
 * reply does not list it, the call or its answer was in the lost message.
 */
export function unreadable(worker: Worker, why: ClearwayError, sure: boolean): void {
  worker.ring?.lost();
  const loss: Loss = { why, sure, calls: worker.calls.values(), pings: [...worker.pings] };
  const waiting = losses.get(worker);
  if (waiting) waiting.push(loss);
  else losses.set(worker, [loss]);
  worker.transport.post(Op.Roll, 0);
}

/** Handles the worker's list of its calls. Fails the calls that were lost, and no others. */
export function rollCalled(host: LifecycleHost, worker: Worker, ids: readonly number[]): void {
  const loss = losses.get(worker)?.shift();
  if (loss === undefined) return;
  const here = new Set(ids);
  for (const call of loss.calls) {
    if (worker.calls.get(call.id) !== call) continue;
    if (!here.has(call.id)) fail(host, worker, call, loss.why);
    // The lost message may have contained a value or the credit of this call's stream.
    else if (loss.sure && (call.isStream || call.inputs)) host.tracker.cancel(call, copyOfError(loss.why));
  }
  for (const ping of loss.pings) {
    const at = worker.pings.indexOf(ping);
    if (at >= 0) worker.pings.splice(at, 1)[0]!.reject(loss.why);
  }
  host.loadDropped(worker);
}

function fail({ tracker }: LifecycleHost, worker: Worker, call: PoolCall, why: ClearwayError): void {
  const action = tracker.leave(worker, call, -1);
  if (action === "deliver") {
    call.record.failed++;
    call.ownError = copyOfError(why);
    tracker.end(call, settleFailure, call.ownError);
  } else if (action === "release") tracker.end(call, endReader);
}

// Returns a copy of the error, because each call gets its own error.
function copyOfError({ code, message }: ClearwayError): ClearwayError {
  return caused(code, message, undefined);
}
