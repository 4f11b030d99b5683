// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import { ClearwayError } from "../../error/clearway-error.js";
import { decodeError, type WireError } from "../../error/wire.js";
import { after } from "../../lazy/timer.js";
import { progressWindow } from "../../task/progress.js";
import { Op } from "../../transport/protocol.js";
import type { PoolCall } from "../pool-call.js";
import { endReader, failReader, tellFailure } from "../settle.js";
import type { PoolWorker } from "../worker.js";
import { grantInput, leaveInput } from "./inputs.js";
import { pong } from "./ping.js";
import { broken, ringable } from "./ring.js";
import { rollCalled } from "./roll.js";
import { stitch } from "./stitch.js";

/** What a worker says beside its results. */
export function frame(worker: PoolWorker, op: Op, id: number, a: unknown, b: unknown): void {
  switch (op) {
    case Op.Credit: {
      const input = worker.inputs.get(id);
      if (input) void grantInput(input, a as number, b as number);
      return;
    }
    case Op.Cancel: {
      const input = worker.inputs.get(id);
      if (input) leaveInput(input);
      return;
    }
    case Op.Ending:
      worker.begun = new Set(a as number[]);
      return;
    case Op.Closed:
      worker.closed?.();
      return;
    case Op.Roll:
      rollCalled(worker, a as number[]);
      return;
    case Op.Broken:
      broken(worker);
      return;
    case Op.Ring:
      void ringable(worker);
      return;
    case Op.Pong:
      pong(worker, a as number);
      return;
    case Op.Heap:
      worker.heapBytes = a as number;
      return;
    default: {
      const call = worker.calls.get(id);
      if (call) callFrame(worker, call, op, a, b);
    }
  }
}

function callFrame(worker: PoolWorker, call: PoolCall, op: Op, a: unknown, b: unknown): void {
  const { tracker, metrics } = worker.engine;
  switch (op) {
    case Op.Chunk:
      if (!call.stream?.consumer?.arrived(a, b as number)) {
        tracker.cancel(call, new ClearwayError("protocol", "the worker sent more than the window allows"));
      }
      if (worker.count(call)) worker.loadDropped = true;
      return;
    case Op.Failure:
      return failure(worker, call, a as WireError, b as number);
    case Op.Progress:
      if (call.state === "cancelling") return;
      heard(worker, call, Math.abs(b as number));
      try {
        call.onProgress?.((b as number) < 0 ? new ClearwayError("not-cloneable", (a as Error).message) : a);
      } catch (reason) {
        // The listener is the caller's own: what it throws ends its call, and no other frame of this message is lost.
        tracker.cancel(call, reason);
      }
      return;
    case Op.Started: {
      const { timeoutMs } = call.options;
      if (call.start() !== "armTimeout" || timeoutMs === undefined) return;
      const why = new ClearwayError("timeout", `the task ran longer than ${timeoutMs} ms`);
      call.limit = after(timeoutMs, () => tracker.expire(call, why));
      return;
    }
    case Op.Times:
      metrics?.enter(call.record.name, [call.submittedMs, call.postedMs, a as number, b as number, now()]);
  }
}

// Units of progress that were read and the worker has not been told of.
const owed = new WeakMap<PoolCall, number>();

// A value of progress was read. The worker hears of half a window at once.
function heard(worker: PoolWorker, call: PoolCall, units: number): void {
  const read = (owed.get(call) ?? 0) + units;
  const due = read * 2 >= progressWindow;
  if (due) worker.transport.send(Op.Progress, call.id, read);
  owed.set(call, due ? 0 : read);
}

function failure(worker: PoolWorker, call: PoolCall, wire: WireError, runUs: number): void {
  const { tracker } = worker.engine;
  const action = tracker.leave(worker, call, runUs);
  if (action === "nothing") return;
  call.own = decodeError(named(wire, call.record.name), call.callerStack);
  call.stitch = stitch;
  if (action === "deliver") {
    call.record.failed++;
    tracker.say(call, tellFailure, call.own);
  } else if (isCancel(call.own)) tracker.say(call, endReader);
  else tracker.say(call, failReader, call.own);
  tracker.settled(call);
}

// A worker knows a refused result by its call's number only; who gets the error looks for the task.
function named(wire: WireError, task: string): WireError {
  if (!("base" in wire) || wire.base !== "ClearwayError") return wire;
  const name = (text: string): string => text.replace("the task's result", `the result of ${task}()`);
  return { ...wire, message: name(wire.message), stack: name(wire.stack) };
}

// What a generator throws because its reader left is not news to that reader.
function isCancel(reason: unknown): boolean {
  const { code, name } = (reason ?? {}) as { code?: unknown; name?: unknown };
  return name === "AbortError" || (reason instanceof ClearwayError && code === "cancelled");
}
