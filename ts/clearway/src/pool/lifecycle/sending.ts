// SPDX-License-Identifier: MIT OR Apache-2.0
import { caused } from "../../error/clearway-error.js";
import { merge } from "../../transfer/ledger.js";
import { notCloneable } from "../../transfer/refusal.js";
import { Op } from "../../transport/protocol.js";
import type { Input } from "../input.js";
import type { PoolCall } from "../pool-call.js";
import { endReader, tellFailure } from "../settle.js";
import type { PoolWorker } from "../worker.js";

/** Tells a worker of a stream among a call's arguments, before the call. */
export function announce(worker: PoolWorker, call: PoolCall, input: Input): void {
  const { engine, transport } = worker;
  const { strict, window } = call.options;
  const id = engine.nextId();
  const failed = (cause: unknown): void =>
    engine.tracker.cancel(
      call,
      caused("missing-package", "what draws from a stream argument could not be loaded", cause),
    );
  input.id = id;
  input.wire = { transport, ledger: engine.toWorkers, strict, failed };
  worker.inputs.set(id, input);
  transport.send(Op.Input, call.id, input.argument, [id, window.items, window.bytes]);
}

/** The carrier could not post a frame. Nothing of it was moved. */
export function refused(worker: PoolWorker, op: Op, id: number, a: unknown, reason: unknown): void {
  if (op === Op.Chunk) return worker.inputs.get(id)?.feed?.refuse(a, reason);
  const call = worker.calls.get(id);
  if (op !== Op.Call || !call) return;
  const { tracker, toWorkers } = worker.engine;
  if (call.crossing) merge(toWorkers, call.crossing, -1);
  if (call.inputs) worker.transport.send(Op.Cancel, id);
  if (tracker.leave(worker, call, -1) === "deliver") {
    call.record.failed++;
    tracker.say(call, tellFailure, notCloneable(`an argument of ${call.record.name}()`, reason));
  } else tracker.say(call, endReader);
  tracker.settled(call);
  worker.engine.loadDropped(worker);
}
