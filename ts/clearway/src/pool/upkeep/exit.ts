// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import { type ClearwayError, caused } from "../../error/clearway-error.js";
import { messageOf } from "../../error/message-of.js";
import type { PoolCall } from "../pool-call.js";
import type { Slot } from "../slot.js";
import { endReader, tellFailure } from "../word.js";
import { endedInVain } from "./restarts.js";
import { stitch } from "./stitch.js";

// A worker that died sooner than this after its start, without finishing a task, is not replaced before it is needed.
const provenMs = 1_000;

/** A worker that was ready is gone. */
export function exited(slot: Slot, code: number | undefined): void {
  const { calls, engine, killed, uncaught } = slot;
  const { scheduler, settings, workforce } = engine;
  slot.closed?.();
  const why = slot.why ?? exitFailure(uncaught, code);
  for (const { reject } of slot.pings.splice(0)) reject(why);
  const crashed = slot.life.exit(killed) === "crashed";
  // A worker that ended itself says what had begun. One that was killed for a call that did not stop flushed all before
  // it, and ran nothing beside it but streams; one that may run several at once has told of each. Of others nobody knows.
  const known = killed && why.code !== "message-error";
  const left = [...calls.values()];
  let inVain = crashed && slot.tasksRun === 0 && left.length > 0;
  const streaming = left.some((call) => call.isStream);
  for (const call of left) {
    const told = call.guarded || settings.concurrency > 1;
    const mayHaveRun = !known || (told ? call.state !== "posted" : streaming);
    inVain = lost(slot, call, slot.begun?.has(call.id) ?? mayHaveRun, why) && inVain;
  }
  if (workforce.slots[slot.index] === slot) workforce.put(slot.index, undefined);
  workforce.outgoing.delete(slot);
  if (crashed || (killed && !why.code.startsWith("pool-"))) workforce.restarts++;
  if (slot.tasksRun > 0 || now() - slot.startedMs > provenMs) workforce.fill();
  if (crashed && slot.tasksRun === 0) settings.onError(why);
  if (inVain) endedInVain(engine, slot.index, why);
  scheduler.run();
  engine.startForReady();
}

/**
 * What never began goes back to where it was; what may have run fails because of `why`, unless it may run twice. Returns
 * whether it waits again and never began.
 */
export function lost(slot: Slot, call: PoolCall, mayHaveRun: boolean, why?: ClearwayError): boolean {
  const { backlog, desk } = slot.engine;
  const mayRepeat = call.whole && !call.isStream && call.lostRuns < call.options.retries;
  const action = call.lose(mayHaveRun || !call.whole, mayRepeat);
  slot.remove(call);
  if (action === "requeue") {
    clearTimeout(call.limit);
    if (mayHaveRun) call.lostRuns++;
    backlog.add(call);
    return !mayHaveRun;
  }
  if (action === "fail" && why) {
    call.record.failed++;
    call.own = stitched(why, call);
    call.stitch = stitch;
    desk.say(call, tellFailure, call.own);
  } else desk.say(call, endReader);
  desk.settled(call);
  return false;
}

// One worker's death fails several calls; each gets an error of its own, with its own caller's stack.
function stitched(why: ClearwayError, call: PoolCall): ClearwayError {
  const error = caused(why.code, why.message, why.cause);
  error.stack = `${why.name}: ${why.message}${call.callerStack && `\n${call.callerStack}`}`;
  return error;
}

// By its last uncaught error, where that ends a worker, and its exit code. Where there are no exit codes, in browsers, a
// worker outlives its errors and ends by other means, perhaps long after.
function exitFailure(uncaught: { error: unknown } | undefined, code: number | undefined): ClearwayError {
  if (uncaught === undefined || code === undefined) {
    return caused(
      "worker-exited",
      `the worker ended itself${code === undefined ? "" : ` with exit code ${code}`}`,
      undefined,
    );
  }
  const { error } = uncaught;
  return (error as { code?: unknown } | null)?.code === "ERR_WORKER_OUT_OF_MEMORY"
    ? caused("out-of-memory", "the worker reached its memory limit", error)
    : caused("worker-crashed", `an uncaught error ended the worker: ${messageOf(error)}`, error);
}
