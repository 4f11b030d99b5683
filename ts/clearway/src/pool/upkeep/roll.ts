// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, caused } from "../../error/clearway-error.js";
import { Op } from "../../transport/protocol.js";
import type { PoolCall } from "../pool-call.js";
import type { Slot } from "../slot.js";
import { endReader, tellFailure } from "../word.js";

/** A message that was lost. */
interface Loss {
  readonly why: ClearwayError;
  /** Whether there was a message; else a module may have posted something of its own. */
  readonly sure: boolean;
  /** The calls that were with the worker when the loss was heard of. */
  readonly calls: readonly PoolCall[];
  /** Round trips that were under way. */
  readonly pings: Slot["pings"];
}

const losses = new WeakMap<Slot, Loss[]>();

/**
 * A message between a worker and its pool could not be read; nobody knows what was in it. Asks the worker for the calls that it
 * has: its answer comes behind all that it sent before, so a call that it has not and did not answer was in that message.
 */
export function unreadable(slot: Slot, why: ClearwayError, sure: boolean): void {
  slot.lane?.lost();
  const loss: Loss = { why, sure, calls: slot.calls.values(), pings: [...slot.pings] };
  const waiting = losses.get(slot);
  if (waiting) waiting.push(loss);
  else losses.set(slot, [loss]);
  slot.transport.post(Op.Roll, 0);
}

/** The worker says which calls it has. Those that were lost fail, and no others. */
export function rollCalled(slot: Slot, ids: readonly number[]): void {
  const loss = losses.get(slot)?.shift();
  if (loss === undefined) return;
  const { desk } = slot.engine;
  const here = new Set(ids);
  for (const call of loss.calls) {
    if (slot.calls.get(call.id) !== call) continue;
    if (!here.has(call.id)) fail(slot, call, loss.why);
    // A value of a stream may have been in the message, or what lets the other side go on.
    else if (loss.sure && (call.isStream || call.inputs)) desk.cancel(call, own(loss.why));
  }
  for (const ping of loss.pings) {
    const at = slot.pings.indexOf(ping);
    if (at >= 0) slot.pings.splice(at, 1)[0]!.reject(loss.why);
  }
  slot.engine.eased(slot);
}

function fail(slot: Slot, call: PoolCall, why: ClearwayError): void {
  const { desk } = slot.engine;
  const action = desk.leave(slot, call, -1);
  if (action === "nothing") return;
  if (action === "deliver") {
    call.record.failed++;
    call.own = own(why);
    desk.say(call, tellFailure, call.own);
  } else desk.say(call, endReader);
  desk.settled(call);
}

// Each call gets an error of its own.
function own({ code, message }: ClearwayError): ClearwayError {
  return caused(code, message, undefined);
}
