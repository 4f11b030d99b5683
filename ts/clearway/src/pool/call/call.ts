// SPDX-License-Identifier: MIT OR Apache-2.0
import { inContext } from "#host";
import type { Timer } from "../../lazy/timer.js";
import type { Consumer } from "../../stream/consumer.js";
import type { Grant } from "../../stream/credit.js";
import type { LedgerSide } from "../../transfer/ledger.js";
import { CallFlag } from "../../transport/protocol.js";
import type { CallSettings } from "../options.js";
import type { Schedulable } from "../schedule/scheduler.js";
import type { TaskRecord } from "../schedule/task-stats.js";
import type { PoolWorker } from "../worker/worker.js";
import type { Input } from "./input.js";

/** The states of a call. `idle` is a stream whose reader has not asked for a value. */
export type CallState = "idle" | "queued" | "posted" | "started" | "cancelling" | "settled";

/**
 * The state machine of one call. Pure: its methods return what the tracker has to do. In any order of events, a call reaches `settled`
 * once, and its caller receives one outcome.
 */
export class CallLife {
  #state: CallState = "idle";

  get state(): CallState {
    return this.#state;
  }

  /** The call waits in the queue. */
  enqueue(): void {
    if (this.#state === "idle") this.#state = "queued";
  }

  /** The call is a stream without a reader: it leaves the queue until its reader asks for a value. */
  setAside(): void {
    if (this.#state === "queued") this.#state = "idle";
  }

  /** The call leaves for a worker. */
  post(): void {
    if (this.#state === "queued") this.#state = "posted";
  }

  /** The worker has begun the call. */
  start(): "armTimeout" | "nothing" {
    if (this.#state !== "posted") return "nothing";
    this.#state = "started";
    return "armTimeout";
  }

  /**
   * The caller cancels, or the time is over. `drop`: the call never left; tell the caller and forget it. `tell`: tell the caller and the
   * worker. The call still counts at its worker until the worker answers or the grace is over.
   */
  cancel(): "drop" | "tell" | "nothing" {
    if (this.#isOut) {
      this.#state = "cancelling";
      return "tell";
    }
    if (this.#state !== "idle" && this.#state !== "queued") return "nothing";
    this.#state = "settled";
    return "drop";
  }

  /** The worker answered. `release`: the caller already has an outcome. */
  answer(): "deliver" | "release" | "nothing" {
    const action = this.#isOut ? "deliver" : this.#state === "cancelling" ? "release" : "nothing";
    if (action !== "nothing") this.#state = "settled";
    return action;
  }

  /** The grace after a cancel is over. `kill`: the worker has not answered. */
  graceOver(): "kill" | "nothing" {
    return this.#state === "cancelling" ? "kill" : "nothing";
  }

  /** The call's worker is gone. `mayHaveRun`: the call began, or that is unknown; it is then run again only if `mayRepeat`. */
  lose(mayHaveRun: boolean, mayRepeat: boolean): "requeue" | "fail" | "release" | "nothing" {
    const action = this.answer();
    if (action !== "deliver") return action;
    if (mayHaveRun && !mayRepeat) return "fail";
    this.#state = "queued";
    return "requeue";
  }

  /** Whether the call is with a worker, and its caller still wants the result. */
  get #isOut(): boolean {
    return this.#state === "posted" || this.#state === "started";
  }
}

/** What reads streams. It is in the lifecycle part. */
export interface StreamParts {
  readonly Consumer: typeof Consumer;
}

/** The stream of a call, as the call and its tracker use it. `CallStream` implements it. */
export interface StreamSide {
  /** Undefined until the lifecycle part is loaded. */
  readonly consumer: Consumer | undefined;
  /** What the caller holds, unless it was garbage-collected. */
  readonly handle: object | undefined;
  open(parts: StreamParts): void;
  /** Gives the call's end to the consumer, now or when there is one. */
  tell(word: (consumer: Consumer) => void): void;
}

const nothing: object[] = [];

// One function for all promises, because a closure per call would cost more than the promise.
let settleLatest: ((value: unknown) => void) | undefined;
const keepSettle = (settle: (value: unknown) => void): void => {
  settleLatest = settle;
};

/** One call of a pool, from `submit` to its outcome. One object per call, always of the same shape. */
export class PoolCall extends CallLife implements Schedulable<PoolCall> {
  readonly priority: number;
  transfer: object[] = nothing;
  /** Bytes of binary memory in the arguments, moved or copied. */
  bytes = 0;
  deep = false;
  inputs: Input[] | undefined;
  /** Ledger entries for the arguments. They count when the call leaves. */
  crossing: LedgerSide | undefined;
  worker: PoolWorker<PoolCall> | undefined;
  /** Set for a stream, and while the pool does not know whether the task is one. */
  stream: StreamSide | undefined;
  counted = false;
  submittedMs = 0;
  postedMs = 0;
  /** Run time in its worker, in microseconds; -1 without an answer. */
  ranUs = -1;
  /** Receives `ranUs` when the call is over, to place later calls. */
  placed: ((ranUs: number) => void) | undefined;
  /** Number of runs that a worker's death ended. */
  lostRuns = 0;
  /** Timer for the whole call. */
  deadline: Timer | undefined;
  /** Timer for the current run, or for its grace. */
  limit: Timer | undefined;
  unlisten: (() => void) | undefined;
  /** The error that the pool made for this call. It gets the caller's stack. */
  own: unknown;
  /** Adds the caller's stack to `own` and throws it. It is in the lifecycle part. */
  stitch: ((error: unknown) => never) | undefined;
  /** Runs in the async context of the call, where the host has such contexts. */
  readonly onProgress: ((value: unknown) => void) | undefined;
  #settle: ((value: unknown) => void) | undefined;

  constructor(
    readonly id: number,
    readonly record: TaskRecord,
    public args: unknown[],
    readonly options: CallSettings,
    /** The caller's stack if it was captured at the call (see `stackAbove`), or empty. */
    readonly callerStack: string,
  ) {
    super();
    this.priority = options.priority;
    this.onProgress = options.onProgress && inContext(options.onProgress);
  }

  /** Returns the promise for the caller. */
  promise(): Promise<unknown> {
    const promise = new Promise<unknown>(keepSettle);
    this.#settle = settleLatest;
    settleLatest = undefined;
    return promise;
  }

  get isStream(): boolean {
    return this.record.kind === "stream";
  }

  /** Whether the pool may have to stop the call while it runs. Such a call runs alone in its worker, which reports its start. */
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

  /** Whether its arguments are still here, because they were copied and not moved. */
  get whole(): boolean {
    return this.transfer.length === 0 && !this.inputs;
  }

  /** Settles the promise, if there is one, once. The call then drops the promise: holding it would keep a forgotten stream alive. */
  settle(value: unknown): void {
    this.#settle?.(value);
    this.#settle = undefined;
  }

  fail(reason: unknown): void {
    if (this.#settle) this.settle(rejected(reason, reason === this.own ? this.stitch : undefined));
  }

  /** The task is a stream: resolves the caller's promise with the stream. */
  tellStream(): void {
    this.settle(this.stream?.handle);
  }

  /** The call is over: reports its run time and closes its input streams. */
  release(): void {
    this.placed?.(this.ranUs);
    if (this.inputs) for (const input of this.inputs) input.stop();
  }

  /** Removes its timers and its abort listener. */
  cleanUp(): void {
    if (this.limit) clearTimeout(this.limit);
    if (this.deadline) clearTimeout(this.deadline);
    this.unlisten?.();
    this.limit = this.deadline = this.unlisten = undefined;
  }
}

// The stack of an error from a worker has only the worker's half. Capturing the caller's stack at every call would cost 2 us each (4 us
// with cold caches), although few calls fail. V8 can show later which functions await a promise: a handler that runs because a promise was
// rejected sees those functions as `at async …` frames. It also sees them through a promise that was resolved with the rejected one. So
// only failures pay. The handler does not see a caller that neither awaits nor is awaited. For streams, and calls before the first worker
// is ready, the pool captures the stack at the call.

/** Returns the stack above `below`, without the error's own line. Empty if the engine has no `captureStackTrace`. */
export function stackAbove(below: (...args: never[]) => unknown): string {
  const trace: { stack?: string } = {};
  (Error as { captureStackTrace?(target: object, below: unknown): void }).captureStackTrace?.(trace, below);
  const stack = trace.stack ?? "";
  return stack.includes("\n") ? stack.slice(stack.indexOf("\n") + 1) : "";
}

// Returns a rejected promise, to resolve the caller's promise with. `stitch` receives the error first, if the pool made it for this call.
// An abort reason is the caller's own, and stays as it is.
function rejected(reason: unknown, stitch: ((error: unknown) => never) | undefined): Promise<never> {
  // Rejects one microtask later. By then the caller's promise depends on this one, and V8 can see who awaits it.
  const later = Promise.resolve().then(() => Promise.reject(reason));
  return stitch ? later.catch(stitch) : later;
}
