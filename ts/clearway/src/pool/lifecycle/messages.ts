// SPDX-License-Identifier: MIT OR Apache-2.0
import { ifTurnsAreQuick } from "#host";
import { ClearwayError, calledFrom, caused, define, messageOf, stackAbove } from "../../error/clearway-error.js";
import { decodeError, type WireError } from "../../error/wire.js";
import { now, OwnPromise } from "../../globals.js";
import { cellOf, progressWindow } from "../../task/context.js";
import { enterCopy, merge } from "../../transfer/ledger.js";
import { notCloneable } from "../../transfer/refusal.js";
import { pathToUncloneable } from "../../transfer/uncloneable.js";
import { callbackEnd } from "../../transport/callback.js";
import { coded, InputKind, type InputStream, Op } from "../../transport/protocol.js";
import { openRing } from "../../transport/ring/caller-ring-port.js";
import { endReader, failReader, type PoolCall, settleFailure } from "../call/call.js";
import { Feed } from "../call/feed.js";
import type { Input } from "../call/input.js";
import { armTimeout } from "../call/limits.js";
import { notify } from "../call/listener.js";
import type { Engine } from "../engine.js";
import type { PoolWorker } from "../worker/worker.js";
import { beginValue, endValue } from "./slices.js";

/** A lost message. */
interface Loss {
  readonly why: ClearwayError;
  /** Whether Clearway sent the message. If false, the task module may have posted it. */
  readonly sure: boolean;
  /** The worker's open calls at the time when the pool noticed the loss. */
  readonly calls: readonly PoolCall[];
  /** Pings without a reply at that time. */
  readonly pings: PoolWorker["pings"];
}

const losses = new WeakMap<PoolWorker, Loss[]>();

/**
 * Handles a message from or to a worker that could not be deserialized. The content of such a message is unknown.
 *
 * Asks the worker for the ids of its calls. The reply comes after everything that the worker sent before. If a call has no answer and the
 * reply does not list it, the call or its answer was in the lost message.
 */
export function unreadable(worker: PoolWorker, why: ClearwayError, sure: boolean): void {
  worker.ring?.lost();
  const loss: Loss = { why, sure, calls: worker.calls.values(), pings: [...worker.pings] };
  const waiting = losses.get(worker);
  if (waiting) waiting.push(loss);
  else losses.set(worker, [loss]);
  worker.transport.post(Op.Roll, 0);
}

/** Handles the worker's list of its calls. Fails the calls that were lost, and no others. */
function rollCalled(engine: Engine, worker: PoolWorker, ids: readonly number[]): void {
  const loss = losses.get(worker)?.shift();
  if (loss === undefined) return;
  const here = new Set(ids);
  for (const call of loss.calls) {
    if (worker.calls.get(call.id) !== call) continue;
    if (!here.has(call.id)) fail(engine, worker, call, loss.why);
    // The lost message may have contained a value or the credit of this call's stream.
    else if (loss.sure && (call.isStream || call.inputs)) engine.expire(call, loss.why);
  }
  for (const ping of loss.pings) {
    const at = worker.pings.indexOf(ping);
    if (at >= 0) worker.pings.splice(at, 1)[0]!.reject(loss.why);
  }
  engine.loadDropped(worker);
}

function fail(engine: Engine, worker: PoolWorker, call: PoolCall, why: ClearwayError): void {
  const action = engine.leave(worker, call, -1);
  if (action === "deliver") {
    call.task.failed++;
    engine.end(call, settleFailure, ownErrorOf(call, why));
  } else if (action === "release") engine.end(call, endReader);
}

/** Handles a frame from a worker that is not a result. */
export function frame(engine: Engine, worker: PoolWorker, op: Op, id: number, a: unknown, b: unknown): void {
  switch (op) {
    case Op.Slow:
      return engine.watch?.slowResult(a, b);
    case Op.Credit: {
      const input = worker.inputs.get(id);
      if (input) grantInput(input, a as number, b as number);
      return;
    }
    case Op.Cancel: {
      const input = worker.inputs.get(id);
      if (input) leaveInput(input);
      return;
    }
    case Op.Slices:
      return beginValue(worker, a);
    case Op.Sliced:
      return endValue(engine, worker, id, a as Op, b as [number, number]);
    case Op.Ending:
      worker.begun = new Set(a as number[]);
      return;
    case Op.Closed:
      worker.closed?.();
      return;
    case Op.Roll:
      rollCalled(engine, worker, a as number[]);
      return;
    case Op.Broken:
      broken(worker);
      return;
    case Op.Ring:
      ringable(engine, worker);
      return;
    case Op.Pong:
      pong(worker, a as number);
      return;
    case Op.Heap:
      worker.heapBytes = a as number;
      return;
    default: {
      const call = worker.calls.get(id);
      if (call) callFrame(engine, worker, call, op, a, b);
      else if (op === Op.Chunk) calledBack(worker.inputs.get(id), a);
    }
  }
}

function callFrame(engine: Engine, worker: PoolWorker, call: PoolCall, op: Op, a: unknown, b: unknown): void {
  switch (op) {
    case Op.Chunk:
      if (!call.stream?.consumer?.arrived(a, b as number)) {
        engine.cancel(call, new ClearwayError("protocol", "the worker sent more than the window allows"));
      }
      if (worker.count(call)) worker.loadDropped = true;
      return;
    case Op.Failure:
      return failure(engine, worker, call, a as WireError, b as number);
    case Op.Progress:
      if (call.state === "cancelling") return;
      acknowledge(worker, call, Math.abs(b as number));
      // An error of the listener ends its call, but must not lose the other frames of this message.
      return notify(
        () => call.onProgress?.((b as number) < 0 ? new ClearwayError("not-cloneable", (a as Error).message) : a),
        (reason) => engine.cancel(call, reason),
      );
    case Op.Started:
      if (call.start() === "armTimeout") armTimeout(engine, call);
      return;
    case Op.Times:
      engine.metrics?.enter(call.task.name, [call.submittedMs, call.postedMs, a as number, b as number, now()]);
  }
}

// Counts a value of progress that was read. Acknowledges values in batches of half a window.
function acknowledge(worker: PoolWorker, call: PoolCall, units: number): void {
  const read = (call.unacknowledged ?? 0) + units;
  const due = read * 2 >= progressWindow;
  if (due) worker.transport.send(Op.Progress, call.id, read);
  call.unacknowledged = due ? 0 : read;
}

function failure(engine: Engine, worker: PoolWorker, call: PoolCall, wire: WireError, runUs: number): void {
  const action = engine.leave(worker, call, runUs);
  if (action === "nothing") return;
  call.ownError = decodeError(wire, call.callerStack);
  // A stack that was captured at the call is already in the error.
  call.rethrow = call.callerStack ? undefined : rethrowWithCallerStack;
  if (action === "deliver") {
    call.task.failed++;
    engine.end(call, settleFailure, call.ownError);
  } else if (isCancel(call.ownError)) engine.end(call, endReader);
  else engine.end(call, failReader, call.ownError);
}

// Returns whether the error only reports the cancel. The reader of the call's stream knows of the cancel already.
function isCancel(reason: unknown): boolean {
  const { code, name } = (reason ?? {}) as { code?: unknown; name?: unknown };
  return name === "AbortError" || (reason instanceof ClearwayError && code === "cancelled");
}

/** Returns how a call counts that the pool has ended for this reason. */
export const outcomeOf = (reason: unknown): "failed" | "cancelled" =>
  reason instanceof ClearwayError && !/^(cancelled|timeout|deadline)$/.test(reason.code) ? "failed" : "cancelled";

/**
 * Returns a copy of an error that the pool made, as the error of this call: one event may fail several calls. Its stack has the lines of the
 * call's caller, and none of the library. The errors of `close()` and `terminate()` keep the lines of the code that called them.
 */
export function ownErrorOf(call: PoolCall, why: ClearwayError): ClearwayError {
  const error = caused(why.code, why.message, why.cause);
  const top = why.code.startsWith("pool-") ? why.stack : why;
  define(error, "stack", top + calledFrom(call.callerStack));
  call.ownError = error;
  // A stack that was captured at the call is already in the error.
  call.rethrow = call.callerStack ? undefined : rethrowWithCallerStack;
  return error;
}

/** Adds the stack of the code that awaits the rejected promise to the error's stack. Throws the error. */
export function rethrowWithCallerStack(error: unknown): never {
  if (error instanceof Error)
    define(error, "stack", (error.stack ?? "") + calledFrom(stackAbove(rethrowWithCallerStack)));
  throw error;
}

// Runs a callback, in the async context of its call. Ignores a message for a call that is over.
function calledBack(input: Input | undefined, message: unknown): void {
  if (input && !input.over) input.act(() => input.feed?.called?.(message));
}

/**
 * Returns `id`, or the next one that nothing of the worker has: no open call, no input, and no cancelled call whose id its cells still
 * hold. Ids repeat after 2^31 calls, which a busy pool makes in about an hour. A stream may be open for longer.
 */
export function freeId(engine: Engine, { calls, inputs, cells }: PoolWorker, id: number): number {
  let free = id;
  while (calls.get(free) || inputs.has(free) || cells?.[cellOf(free, cells)] === free) free = engine.nextId();
  return free;
}

/**
 * Announces the input streams and callbacks of a call to its worker, and enters its memory into the ledger. Called before the call is sent.
 */
export function announce(engine: Engine, worker: PoolWorker, call: PoolCall): void {
  if (call.crossing) merge(engine.toWorkers, call.crossing);
  const { slices, strict, window } = call.options;
  const where = hasProcesses && { toProcess: call.options.toProcess };
  const { transport } = worker;
  if (slices !== undefined) transport.send(Op.Pace, call.id, slices, 0);
  for (const input of call.inputs ?? []) {
    const id = freeId(engine, worker, engine.nextId());
    input.id = id;
    input.wire = { transport, ledger: engine.toWorkers, strict, ...where };
    worker.inputs.set(id, input);
    let stream: InputStream = [id, window.items, window.bytes];
    const callback = callbackEnd(input.iterator);
    if (callback) {
      input.feed = callback;
      callback.connect({
        strict,
        ...where,
        ledger: engine.toWorkers,
        answer: (message, transfer) => transport.send(Op.Chunk, id, message, 0, transfer),
        fail: (reason) => engine.cancel(call, reason),
      });
      stream = [id, callback.concurrency, 0, InputKind.callback, callback.methods];
    }
    transport.send(Op.Input, call.id, input.argument, stream);
  }
  engine.watch?.sent(call);
}

/** Handles a frame that the transport could not post. None of the frame's memory was moved. */
export function refused(engine: Engine, worker: PoolWorker, op: Op, id: number, a: unknown, reason: unknown): void {
  const bare = op & ~coded;
  if (bare === Op.Chunk) return worker.inputs.get(id)?.feed?.refuse(a, reason);
  // These frames contain only numbers, so the worker's `postMessage` itself has failed. A caller that waits for a reply would wait for
  // ever.
  if (op === Op.Ping || op === Op.Credit)
    return void worker.kill(caused("worker-crashed", `the worker takes no messages: ${messageOf(reason)}`, reason));
  const call = worker.calls.get(id);
  if (bare !== Op.Call || !call) return;
  // The worker's greeting was refused too, so the worker is ending. The call that was sent before the worker was ready fails together with
  // the worker.
  if (worker.life.state === "starting" && worker.why) return;
  if (call.crossing) merge(engine.toWorkers, call.crossing, -1);
  if (call.inputs) worker.transport.send(Op.Cancel, id);
  const action = engine.leave(worker, call, -1);
  if (action === "nothing") return;
  if (action === "deliver") {
    call.task.failed++;
    const [, at, path] = /^\[(\d+)\](.*)$/s.exec(pathToUncloneable(call.args)) ?? [];
    const argument = at === undefined ? "an argument" : `argument ${Number(at) + 1}${path}`;
    const isFunction = path === "" && typeof call.args[Number(at)] === "function";
    const remedy = isFunction ? ", a function without callback() of clearway/callback," : "";
    const error = notCloneable(`${argument} of ${call.task.name}()${remedy}`, reason);
    engine.end(call, settleFailure, ownErrorOf(call, error));
  } else engine.end(call, endReader);
  engine.loadDropped(worker);
}

// Grants credit to an input stream, because the task reads it.
function grantInput(input: Input, items: number, bytes: number): void {
  const { wire } = input;
  if (input.over || !wire) return;
  input.feed ??= new Feed(input.id, input, wire);
  input.act(() => input.feed?.producer.grant(items, bytes));
}

// Closes an input stream, because the task reads no further. Does not wait for the source's next value, which may never come.
function leaveInput(input: Input): void {
  input.stop();
  input.wire?.transport.send(Op.End, input.id);
}

/** Makes one round trip to the worker with the lowest load, past the queue. Rejects if no worker is ready or the worker is lost. */
export async function ping({ workers, ended }: Engine): Promise<{ remoteTimeMs: number }> {
  const ready = [...workers].filter((each) => each.life.state === "ready");
  const worker = ready.sort((a, b) => a.load - b.load)[0];
  if (!worker) throw ended ?? new ClearwayError("worker-exited", "no worker is ready");
  return { remoteTimeMs: await pingWorker(worker) };
}

/** Makes one round trip to a worker. Returns the worker's time in milliseconds since the epoch. Rejects if the worker is lost. */
export function pingWorker(worker: PoolWorker): Promise<number> {
  return new OwnPromise((resolve, reject) => {
    worker.pings.push({ resolve, reject });
    worker.setRef(true);
    worker.sendNow(Op.Ping, 0);
  });
}

// Settles the oldest ping. Replies come in the order of the pings.
function pong(worker: PoolWorker, remoteTimeMs: number): void {
  worker.pings.shift()?.resolve(remoteTimeMs);
  if (worker.load === 0) worker.setRef(false);
}

// Kills a worker whose ring contains invalid data. Frames in such a ring may never arrive.
function broken(worker: PoolWorker, what = "the worker could not read the ring"): void {
  void worker.kill(new ClearwayError("message-error", what));
}

// Opens the ring, because the worker has answered its first call. Both sides then send small frames through shared memory.
function ringable(engine: Engine, worker: PoolWorker): void {
  ifTurnsAreQuick(() => openRingOf(engine, worker));
}

function openRingOf(engine: Engine, worker: PoolWorker): void {
  if (worker.ring !== undefined || worker.life.state !== "ready") return;
  const ring = openRing(worker.handle, {
    message: (frames) => worker.receive(frames),
    frame: (op, id, a, b) => worker.frame(op, id, a, b),
    drained: () => worker.endMessage(),
    broken: (error) => broken(worker, error.message),
    copied: (bytes) => enterCopy(engine.fromWorkers, "small", bytes),
    calls: worker.calls,
    expectsSoon: (id) => !worker.calls.get(id)?.task.estimate.long,
  });
  // Sends the ring's memory in a separate message. A message that also has other frames could be lost because of them. The worker would
  // then have no ring and would never read the caller's frames.
  worker.transport.flush();
  worker.sendNow(Op.Ring, 0, ring.memory);
  worker.ring = worker.transport.ring = ring;
}
