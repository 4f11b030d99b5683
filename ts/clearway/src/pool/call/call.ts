// SPDX-License-Identifier: MIT OR Apache-2.0
import { inContext } from "#host";
import { ClearwayError } from "../../error/clearway-error.js";
import { clearTimeout, OwnPromise, structuredClone, type Timer } from "../../globals.js";
import { asyncIteratorOf, isAsyncIterable } from "../../host/async-iterable.js";
import type { Grant } from "../../stream/credit.js";
import { CodedValue, Form } from "../../transfer/crossing.js";
import { findMemory, searchLimit, sharedCopies } from "../../transfer/find-memory.js";
import { emptySide, type LedgerSide } from "../../transfer/ledger.js";
import { addTransfer, MovedValue, prepareForProcess, prepareValue } from "../../transfer/move.js";
import { revive } from "../../transfer/revive.js";
import { CallFlag } from "../../transport/protocol.js";
import type { CallSettings } from "../options.js";
import type { PoolTask } from "../schedule/scheduler.js";
import type { PoolWorker } from "../worker/worker.js";
import { Input } from "./input.js";
import type { CallStream } from "./stream.js";

/**
 * The states of a call. In `arriving`, its worker has answered, and pieces of the result are on their way. In `idle`, a call is not queued yet,
 * or it is a stream whose reader has not asked for a value yet.
 */
export type CallState = "idle" | "queued" | "posted" | "started" | "arriving" | "cancelling" | "settled";

/**
 * The state machine of one call. The methods return the action that the engine must take. In any order of
 * events, a call reaches `settled` once, and its caller receives one outcome. Reads no clock and starts no thread.
 */
export class CallLife {
  #state: CallState = "idle";

  get state(): CallState {
    return this.#state;
  }

  /** Records that the call waits in the queue. */
  enqueue(): void {
    if (this.#state === "idle") this.#state = "queued";
  }

  /** Records that the call left the queue, because it is a stream whose reader has not asked for a value yet. */
  setAside(): void {
    if (this.#state === "queued") this.#state = "idle";
  }

  /** Records that the call is sent to a worker. */
  post(): void {
    if (this.#state === "queued") this.#state = "posted";
  }

  /** Records that the worker has begun the call. */
  start(): "armTimeout" | "nothing" {
    if (this.#state !== "posted") return "nothing";
    this.#state = "started";
    return "armTimeout";
  }

  /**
   * Cancels the call, for the caller or because its time is over. `drop`: the call was never sent, so notify the caller and forget the
   * call. `notify`: notify the caller and the worker. The call still counts at its worker until the worker answers or the grace period
   * ends.
   */
  cancel(): "drop" | "notify" | "nothing" {
    if (this.#isOut) {
      this.#state = "cancelling";
      return "notify";
    }
    if (this.#state !== "idle" && this.#state !== "queued" && this.#state !== "arriving") return "nothing";
    this.#state = "settled";
    return "drop";
  }

  /**
   * Records that the worker answered. `release` means that the caller already has an outcome. `await` means that the answer is a result whose
   * pieces are on their way.
   */
  answer(inPieces = false): "deliver" | "await" | "release" | "nothing" {
    if (!this.#isOut && this.#state !== "cancelling") return "nothing";
    const action = !this.#isOut ? "release" : inPieces ? "await" : "deliver";
    this.#state = action === "await" ? "arriving" : "settled";
    return action;
  }

  /** Records that the pieces of the result have arrived, or that one was refused. */
  arrive(): "deliver" | "nothing" {
    if (this.#state !== "arriving") return "nothing";
    this.#state = "settled";
    return "deliver";
  }

  /** Records that the grace period after a cancel is over. `kill` means that the worker has not answered. */
  graceOver(): "kill" | "nothing" {
    return this.#state === "cancelling" ? "kill" : "nothing";
  }

  /**
   * Records that the call's worker is gone. `mayHaveRun` is true if the call began or if that is unknown. Such a call is repeated only if
   * `mayRepeat` is true.
   */
  lose(mayHaveRun: boolean, mayRepeat: boolean): "requeue" | "fail" | "release" | "nothing" {
    const action = this.answer();
    if (action === "release" || action === "nothing") return action;
    if (mayHaveRun && !mayRepeat) return "fail";
    this.#state = "queued";
    return "requeue";
  }

  /** Whether a worker has the call and the caller still wants the result. */
  get #isOut(): boolean {
    return this.#state === "posted" || this.#state === "started";
  }
}

const nothing: object[] = [];
// Shared by all promises, because a closure per call would cost more than the promise.
let settleLatest: ((value: unknown) => void) | undefined;
const keepSettle = (settle: (value: unknown) => void): void => {
  settleLatest = settle;
};

/** One call of a pool, from `submit` to its outcome. All calls have the same object shape, for fast property access. */
export class PoolCall extends CallLife {
  readonly priority: number;
  transfer: object[] = nothing;
  /** Bytes of binary memory in the arguments, moved or copied. */
  bytes = 0;
  deep = false;
  forms: Form[] | undefined;
  inputs: Input[] | undefined;
  /** Ledger entries for the arguments. The pool adds them to its ledger when the call is sent. */
  crossing: LedgerSide | undefined;
  worker: PoolWorker | undefined;
  /** The call's stream. Set for a stream task, and while the pool does not know whether the task is one. */
  stream: CallStream | undefined;
  counted = 0;
  submittedMs = 0;
  postedMs = 0;
  /** Number of runs of this call that ended because the worker died. */
  lostRuns = 0;
  /** Number of workers that ended while they had this call, and said that no call had begun. */
  unbegun = 0;
  /** Whether this call did not stop within its grace period. */
  declare overdue: boolean | undefined;
  /** Units of progress that this side has read and not yet acknowledged. */
  declare unacknowledged: number | undefined;
  /** Timer for the deadline of the whole call. */
  deadline: Timer | undefined;
  /** Timer for the timeout of the current run, or for the grace period after a cancel. */
  limit: Timer | undefined;
  unlisten: (() => void) | undefined;
  /** The error object that the pool made for this call only. The caller's stack is added to it. */
  ownError: unknown;
  /** Adds the caller's stack to `ownError` and throws it. The function belongs to `lifecycle/`, which is loaded later. */
  rethrow: ((error: unknown) => never) | undefined;
  /** Progress listener of the call. Runs in the async context of the call if the host has such contexts. */
  readonly onProgress: ((value: unknown) => void) | undefined;
  #settle: ((value: unknown) => void) | undefined;
  #promise: Promise<unknown> | undefined;

  constructor(
    public id: number,
    readonly task: PoolTask,
    public args: unknown[],
    readonly options: CallSettings,
    /** The caller's stack if the pool captured it at the call (see `stackAbove` in error/clearway-error.ts), otherwise empty. */
    readonly callerStack: string,
  ) {
    super();
    this.priority = options.priority;
    this.onProgress = options.onProgress && inContext(options.onProgress);
  }

  /** Returns a new promise for the caller. `settle` and `fail` settle it. */
  promise(): Promise<unknown> {
    const promise = new OwnPromise<unknown>(keepSettle);
    this.#settle = settleLatest;
    this.#promise = promise;
    settleLatest = undefined;
    return promise;
  }

  get isStream(): boolean {
    return this.task.kind === "stream";
  }

  /**
   * Whether the pool may have to stop the call while it runs. The worker reports the start of such a call. A guarded call never waits at a
   * busy worker for another call, and no call waits there for a guarded call.
   */
  get guarded(): boolean {
    return this.options.limited || this.isStream || this.inputs !== undefined;
  }

  get flags(): number {
    return (
      (this.guarded ? CallFlag.guarded : 0) |
      (this.options.strict ? CallFlag.strict : 0) |
      (this.onProgress ? CallFlag.progress : 0)
    );
  }

  get active(): boolean {
    return !this.isStream || this.stream?.consumer?.active === true;
  }

  get credit(): Grant | undefined {
    return this.isStream ? this.stream?.consumer?.credit : undefined;
  }

  /** Whether the arguments are still available here, because they were copied and not moved. */
  get whole(): boolean {
    return this.transfer.length === 0 && !this.inputs;
  }

  /**
   * Settles the promise, if there is one. Only the first use of this method has an effect. The call then drops the promise, because a
   * reference to it would keep a forgotten stream alive.
   */
  settle(value: unknown): void {
    this.#settle?.(value);
    this.#settle = this.#promise = undefined;
  }

  fail(reason: unknown): void {
    if (!this.#settle) return;
    // No worker has listed its tasks yet, so the caller may hold a stream that it reads later. Its reader receives the failure then.
    if (this.stream && !this.task.kind) this.#promise?.catch(() => {});
    this.settle(rejected(reason, reason === this.ownError ? this.rethrow : undefined));
  }

  /** Resolves the caller's promise with the stream, because the task is a stream. */
  settleStream(): void {
    this.settle(this.stream?.handle);
  }

  /** Closes the input streams, because the call is over. */
  release(): void {
    for (const input of this.inputs ?? []) input.stop();
  }

  /** Removes the call's timers and its abort listener. */
  cleanUp(): void {
    if (this.limit) clearTimeout(this.limit);
    if (this.deadline) clearTimeout(this.deadline);
    this.unlisten?.();
    this.limit = this.deadline = this.unlisten = undefined;
  }
}

/** Passes the outcome of a call to its caller, or to the reader of its stream. */
export type Settle = (call: PoolCall, outcome: unknown) => void;

/** Passes on the result of a call that succeeded. For a stream, `value` is the return value of its generator. */
export const settleResult: Settle = (call, value) => {
  if (call.isStream) return endReader(call, value);
  // Most values need no reader.
  call.settle(value instanceof CodedValue ? revive(value) : value);
  if (call.stream)
    failReader(call, new ClearwayError("not-a-stream", `${call.task.name}() gives one result: await it`));
};

/** Passes on the error of a call that failed or was cancelled. */
export const settleFailure: Settle = (call, reason) => {
  call.task.countError(reason, reason === call.ownError ? "task" : "cancelled");
  // A promise that resolves with a stream never rejects. The stream's reader receives the error.
  failReader(call, reason);
  if (call.isStream) call.settleStream();
  else call.fail(reason);
};

/** Settles the caller's promise after the reader has ended the stream. If the task is not a stream, the promise must still settle. */
export const settleEnded: Settle = (call) => {
  if (call.isStream) call.settleStream();
  else call.fail(new ClearwayError("cancelled", `${call.task.name}() was ended by its reader`));
};

/** Ends the stream of a call. After a cancel, only the stream's reader may still wait for this end. */
export const endReader: Settle = (call, value) => call.stream?.finish((consumer) => consumer.ended(value));

/** Ends the stream of a call with an error. */
export const failReader: Settle = (call, reason) => call.stream?.finish((consumer) => consumer.failed(reason));

// The stack of an error from a worker has only the frames of the worker. Clearway adds the caller's frames. Capturing the caller's stack at
// every call would cost 2 us each (4 us with cold caches), although few calls fail.
//
// V8 can show later which functions await a promise. If a handler runs because a promise was rejected, its stack has `at async …` frames of
// those functions. V8 can also follow a promise that was resolved with the rejected one. The cost is then paid only when a call fails.
//
// The handler's stack lacks a function that only passes the promise on, if no other function awaits its result. For streams, and for calls
// before the first worker is ready, the pool captures the stack at the call. Only V8 has frames of awaiting functions: elsewhere, other calls
// show no caller.

// Returns a rejected promise, with which the caller's promise is resolved. If the pool made the error for this call, `rethrow` first adds
// the caller's stack. An abort reason belongs to the caller and stays unchanged.
function rejected(reason: unknown, rethrow: ((error: unknown) => never) | undefined): Promise<never> {
  // Rejects one microtask later. By then the caller's promise depends on this one, so V8 can find the functions that await it.
  const later = OwnPromise.resolve().then(() => OwnPromise.reject(reason));
  return rethrow ? later.catch(rethrow) : later;
}

/**
 * Prepares the arguments of a call: unwraps values from `move()`, opens streams, and counts what will be moved and copied. Moves nothing
 * yet. Copies the list of arguments before changing it. Throws `would-copy` under `strict`.
 */
export function prepareArguments(call: PoolCall): void {
  const { args } = call;
  // Opens the streams first: they must be closed if another argument cannot cross.
  for (let at = 0; at < args.length; at++) {
    const value = args[at];
    if (value === null || typeof value !== "object") continue;
    if (call.args === args) call.args = args.slice();
    if (value instanceof MovedValue || !isAsyncIterable(value)) continue;
    call.inputs ??= [];
    call.inputs.push(new Input(at, asyncIteratorOf(value)!.call(value), call.options.onError));
    call.args[at] = undefined;
  }
  let shared: Map<object, object> | undefined;
  for (let at = 0; at < args.length; at++) {
    const value = call.args[at];
    if (value === null || typeof value !== "object") continue;
    call.crossing ??= emptySide();
    shared ??= sharedCopies(args);
    const toProcess = hasProcesses && call.options.toProcess;
    const prepare = toProcess ? prepareForProcess : prepareValue;
    const ready = prepare(value, call.options.strict, call.crossing, shared);
    call.args[at] = ready.value;
    if (ready.form !== Form.plain) {
      call.forms ??= new Array(args.length).fill(Form.plain);
      call.forms[at] = ready.form;
    }
    call.bytes += ready.bytes;
    if (ready.deep) call.deep = true;
    if (ready.transfer.length > 0)
      call.transfer = addTransfer(call.transfer, ready.transfer, toProcess ? undefined : call.crossing);
  }
}

/**
 * Takes moved memory away from its owner now, for a call that has to wait. `move` promises that the caller loses the memory at the call,
 * not later.
 *
 * Moves that memory into new objects of this thread, and copies all other memory in the arguments. The copy has no other owner, so it is
 * moved when the call is sent. In total there is one copy, as the ledger says.
 */
export function detach(call: PoolCall): void {
  if (call.transfer.length === 0) return;
  const { args, transfer } = structuredClone(
    { args: call.args, transfer: call.transfer },
    { transfer: call.transfer as Transferable[] },
  );
  const { value, transfer: own, compacted } = findMemory(args, searchLimit);
  call.args = value as unknown[];
  call.transfer = [...new Set([...transfer, ...own, ...compacted])];
}
