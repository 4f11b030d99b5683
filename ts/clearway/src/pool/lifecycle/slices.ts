// SPDX-License-Identifier: MIT OR Apache-2.0
import { clearTimeout } from "../../globals.js";
import { CodedValue, Form } from "../../transfer/crossing.js";
import { Op } from "../../transport/protocol.js";
import { Assembly, isPort, unfit } from "../../transport/slices/assembly.js";
import { nodesPerMsAtFirst, nodesPerMsMax, nodesPerMsMin } from "../../transport/slices/piece.js";
import { endReader, type PoolCall, settleFailure, settleResult } from "../call/call.js";
import type { Engine } from "../engine.js";
import type { PoolWorker } from "../worker/worker.js";

// A worker learns a new pace if it differs from the last one by more than this factor.
const paceFactor = 1.25;
const paces = new WeakMap<PoolWorker, number>();

/** Begins to read a value, whose first piece is in a port. */
export function beginValue(worker: PoolWorker, port: unknown): void {
  // A value before it could not be sent after all.
  dropValue(worker);
  if (!isPort(port)) return distrust(worker);
  worker.assembly = new Assembly(port);
}

/** Stops reading a value whose pieces cannot all be posted any more. */
export function dropValue(worker: PoolWorker): void {
  worker.assembly?.close();
  worker.assembly = undefined;
}

/** Handles the frame that a worker sends once it has posted all pieces of a result, or of a value of a stream. */
export function endValue(
  engine: Engine,
  worker: PoolWorker,
  id: number,
  op: Op,
  [pieces, b]: readonly [pieces: number, b: number],
): void {
  const { assembly } = worker;
  worker.assembly = undefined;
  if (!assembly?.expect(pieces)) {
    assembly?.close();
    return distrust(worker);
  }
  void assembly.value.then(
    () => sendPace(worker, assembly),
    () => {},
  );
  const call = worker.calls.get(id);
  if (!call) return assembly.close();
  if (op === Op.Result && !call.isStream) awaitResult(engine, worker, call, assembly, b);
  else worker.frame(op, id, new CodedValue(Form.sliced, assembly.value), b);
}

// The worker is free for other calls. The caller may still cancel this one, and its deadline counts.
function awaitResult(engine: Engine, worker: PoolWorker, call: PoolCall, assembly: Assembly, runUs: number): void {
  const action = engine.leave(worker, call, runUs, true);
  if (action !== "await") {
    assembly.close();
    if (action === "release") engine.end(call, endReader);
    return;
  }
  engine.arriving.add(call);
  // The time for the task is over with the task.
  clearTimeout(call.limit);
  const { unlisten } = call;
  call.unlisten = () => {
    unlisten?.();
    engine.arriving.delete(call);
    assembly.close();
  };
  assembly.value.then(
    (value) => {
      if (call.arrive() === "nothing") return;
      call.task.ok++;
      engine.end(call, settleResult, value);
    },
    (reason) => {
      if (call.arrive() === "nothing") return;
      call.task.failed++;
      call.ownError = reason;
      call.rethrow = engine.lifecycle?.rethrow;
      engine.end(call, settleFailure, reason);
    },
  );
}

// Tells the worker how fast this thread receives its values, for the size of the next pieces.
function sendPace(worker: PoolWorker, { nodesPerMs }: Assembly): void {
  if (nodesPerMs === undefined || worker.life.state !== "ready") return;
  const pace = Math.round(Math.min(nodesPerMsMax, Math.max(nodesPerMsMin, nodesPerMs)));
  const before = paces.get(worker) ?? nodesPerMsAtFirst;
  if (pace < before * paceFactor && pace * paceFactor > before) return;
  paces.set(worker, pace);
  worker.transport.send(Op.Pace, 0, 0, pace);
  worker.transport.flush();
}

function distrust(worker: PoolWorker): void {
  void worker.kill(unfit());
}
