// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { clearTimeout } from "../../globals.js";
import { CodedValue, Form } from "../../transfer/coded.js";
import { Op } from "../../transport/protocol.js";
import { Assembly, isPort } from "../../transport/slices/assembly.js";
import { nodesPerMsAtFirst, nodesPerMsMax, nodesPerMsMin } from "../../transport/slices/piece.js";
import type { PoolCall } from "../call/call.js";
import { endReader, settleFailure, settleResult } from "../call/tracker.js";
import type { LifecycleHost, Worker } from "./host.js";

// A worker learns a new pace if it differs from the last one by more than this factor.
const paceFactor = 1.25;
const paces = new WeakMap<Worker, number>();
// The value whose pieces a worker posts. It posts nothing else in between.
const values = new WeakMap<Worker, Assembly>();

/** Begins to read a value, whose first piece is in a port. */
export function beginValue(worker: Worker, port: unknown): void {
  // A value before it could not be sent after all.
  dropValue(worker);
  if (!isPort(port)) return distrust(worker);
  values.set(worker, new Assembly(port));
}

/** Stops reading a value whose pieces cannot all be posted any more. */
export function dropValue(worker: Worker): void {
  values.get(worker)?.close();
  values.delete(worker);
}

/** Handles the frame that a worker sends once it has posted all pieces of a result, or of a value of a stream. */
export function endValue(
  host: LifecycleHost,
  worker: Worker,
  id: number,
  op: Op,
  [pieces, b]: readonly [pieces: number, b: number],
): void {
  const assembly = values.get(worker);
  values.delete(worker);
  if (!assembly?.expect(pieces)) return distrust(worker);
  void assembly.value.then(
    () => sendPace(worker, assembly),
    () => {},
  );
  const call = worker.calls.get(id);
  if (!call) return assembly.close();
  if (op === Op.Result && !call.isStream) awaitResult(host, worker, call, assembly, b);
  else worker.frame(op, id, new CodedValue(Form.sliced, assembly.value), b);
}

// The worker is free for other calls. The caller may still cancel this one, and its deadline counts.
function awaitResult(host: LifecycleHost, worker: Worker, call: PoolCall, assembly: Assembly, runUs: number): void {
  const { arriving, tracker } = host;
  const action = tracker.leave(worker, call, runUs, true);
  if (action !== "await") {
    assembly.close();
    if (action === "release") tracker.end(call, endReader);
    return;
  }
  arriving.add(call);
  // The time for the task is over with the task.
  clearTimeout(call.limit);
  const { unlisten } = call;
  call.unlisten = () => {
    unlisten?.();
    arriving.delete(call);
    assembly.close();
  };
  assembly.value.then(
    (value) => {
      if (call.arrive() === "nothing") return;
      call.record.ok++;
      tracker.end(call, settleResult, value);
    },
    (reason) => {
      if (call.arrive() === "nothing") return;
      call.record.failed++;
      call.ownError = reason;
      call.rethrow = tracker.host.lifecycle?.rethrow;
      tracker.end(call, settleFailure, reason);
    },
  );
}

// Tells the worker how fast this thread receives its values, for the size of the next pieces.
function sendPace(worker: Worker, { nodesPerMs }: Assembly): void {
  if (nodesPerMs === undefined || worker.life.state !== "ready") return;
  const pace = Math.round(Math.min(nodesPerMsMax, Math.max(nodesPerMsMin, nodesPerMs)));
  const before = paces.get(worker) ?? nodesPerMsAtFirst;
  if (pace < before * paceFactor && pace * paceFactor > before) return;
  paces.set(worker, pace);
  worker.transport.send(Op.Pace, 0, 0, pace);
  worker.transport.flush();
}

function distrust(worker: Worker): void {
  void worker.kill(new ClearwayError("protocol", "the worker sent pieces of a value that it had not announced"));
}
