// SPDX-License-Identifier: MIT OR Apache-2.0
import { onAbort } from "#host";
import { ClearwayError } from "../../error/clearway-error.js";
import { OwnPromise } from "../../globals.js";
import { after } from "../../lazy/lazy.js";
import { notCloneable } from "../../transfer/refusal.js";
import { revive } from "../../transfer/revive.js";
import type { Backlog } from "../schedule/backlog.js";
import type { Scheduler } from "../schedule/scheduler.js";
import type { PoolWorker } from "../worker/worker.js";
import { detach, type PoolCall, type StreamCode } from "./call.js";

/** The methods of the lifecycle that the tracker and streams use. Loaded before the first worker is ready. */
export interface CallLifecycle extends StreamCode {
  /** Sends a waiting call to each worker that is starting. */
  sendEarly(): void;
  /** Notifies a worker that a call was cancelled. */
  cancel(worker: PoolWorker<PoolCall>, call: PoolCall, reason: unknown): void;
  /** Adds the caller's stack to an error and throws the error; see `PoolCall.rethrow`. */
  rethrow(error: unknown): never;
}

/** The part of a pool that the tracker uses. The engine implements it. */
export interface TrackerHost {
  /** The error with which every new call fails once the pool has ended. Undefined before. */
  readonly ended: ClearwayError | undefined;
  /** Whether the pool ends after its first call. */
  readonly once: boolean;
  readonly lifecycle: CallLifecycle | undefined;
  loadLifecycle(): Promise<CallLifecycle>;
  close(): Promise<void>;
}

/** Passes the outcome of a call to its caller, or to the reader of its stream. */
export type Settle = (call: PoolCall, outcome: unknown) => void;

/** Passes on the result of a call that succeeded. For a stream, `value` is the return value of its generator. */
export const settleResult: Settle = (call, value) => {
  if (call.isStream) return endReader(call, value);
  call.settle(revive(value));
  if (call.stream)
    failReader(call, new ClearwayError("not-a-stream", `${call.record.name}() gives one result: await it`));
};

/** Passes on the error of a call that failed or was cancelled. */
export const settleFailure: Settle = (call, reason) => {
  call.record.countError(reason, reason === call.ownError ? "task" : "cancelled");
  // A promise that resolves with a stream never rejects. The stream's reader receives the error.
  failReader(call, reason);
  if (call.isStream) call.settleStream();
  else call.fail(reason);
};

/** Settles the caller's promise after the reader has ended the stream. If the task is not a stream, the promise must still settle. */
export const settleEnded: Settle = (call) => {
  if (call.isStream) call.settleStream();
  else call.fail(new ClearwayError("cancelled", `${call.record.name}() was ended by its reader`));
};

/** Ends the stream of a call. After a cancel, only the stream's reader may still wait for this end. */
export const endReader: Settle = (call, value) => call.stream?.finish((consumer) => consumer.ended(value));

/** Ends the stream of a call with an error. */
export const failReader: Settle = (call, reason) => call.stream?.finish((consumer) => consumer.failed(reason));

/** Performs the actions that each call's state machine returns, from `enqueue` to the outcome. */
export class CallTracker {
  /** Number of calls without an outcome. */
  openCount = 0;
  readonly host: TrackerHost;
  readonly #backlog: Backlog<PoolCall>;
  readonly #scheduler: Scheduler<PoolCall>;
  #whenIdle: (() => void) | undefined;

  constructor(host: TrackerHost, backlog: Backlog<PoolCall>, scheduler: Scheduler<PoolCall>) {
    this.host = host;
    this.#backlog = backlog;
    this.#scheduler = scheduler;
  }

  /** Accepts a call. Sends it at once, or adds it to the queue. A call that cannot be accepted fails. */
  enqueue(call: PoolCall): void {
    call.enqueue();
    this.openCount++;
    call.record.calls++;
    if (call.options.limited) this.#armLimits(call);
    const { ended, lifecycle } = this.host;
    // The caller's signal is foreign code. Reading it may have ended the call or the pool.
    if (ended) this.cancel(call, ended);
    if (call.state === "settled") return call.cleanUp();
    try {
      if (!this.#scheduler.sendNow(call)) {
        // A large call may need the space of several small ones.
        for (let victim = this.#backlog.admit(call); victim; victim = this.#backlog.admit(call)) {
          this.cancel(victim, new ClearwayError("dropped", "the queue was full"));
          if (victim === call) return;
        }
        this.#backlog.add(call);
        this.#scheduler.run();
        lifecycle?.sendEarly();
      }
      // `move` promises that the caller loses the memory now, and not when a worker is free.
      if (call.transfer.length === 0) return;
      if (call.state === "queued") detach(call);
      else call.worker?.transport.flush();
    } catch (reason) {
      this.refuse(call, reason);
    }
  }

  /** Fails a call whose arguments cannot be sent, or must not be sent. */
  refuse(call: PoolCall, reason: unknown): void {
    const isOurs = reason instanceof ClearwayError;
    this.cancel(call, isOurs ? reason : notCloneable(`an argument of ${call.record.name}()`, reason));
  }

  /** Cancels a call. Notifies its caller at once, and also its worker if a worker has the call. */
  cancel(call: PoolCall, reason: unknown, settle: Settle = settleFailure): void {
    const { worker } = call;
    // A stream whose reader has not asked for a value does not count as an open call.
    const open = call.state !== "idle";
    const action = call.cancel();
    if (action === "nothing") return;
    if (open) call.record.cancelled++;
    call.cleanUp();
    this.#settle(call, settle, reason);
    if (worker) return this.host.lifecycle?.cancel(worker, call, reason);
    this.#backlog.remove(call);
    this.#settle(call, endReader);
    call.release();
    if (open) this.shut();
  }

  /** Fails a call with an error that the pool made for it, because its time is over or its worker is lost. */
  expire(call: PoolCall, why: ClearwayError): void {
    call.ownError = why;
    call.rethrow = this.host.lifecycle?.rethrow;
    this.cancel(call, why);
  }

  /** Handles a result from a worker. */
  result(worker: PoolWorker<PoolCall>, call: PoolCall, value: unknown, runUs: number): void {
    const action = this.leave(worker, call, runUs);
    if (action === "nothing") return;
    if (action === "deliver") call.record.ok++;
    this.end(call, action === "deliver" ? settleResult : endReader, value);
  }

  /** Settles when no call is open. */
  async idle(): Promise<void> {
    if (this.openCount > 0) await new OwnPromise<void>((resolve) => (this.#whenIdle = resolve));
  }

  /**
   * Removes an answered call from its worker, which is still alive. `runUs` is -1 if the call did not run. `inPieces` says that the pieces of
   * its result are on their way.
   */
  leave(worker: PoolWorker<PoolCall>, call: PoolCall, runUs: number, inPieces = false): ReturnType<PoolCall["answer"]> {
    const action = call.answer(inPieces);
    if (action === "nothing") return action;
    worker.remove(call);
    worker.tasksRun++;
    if (runUs >= 0) {
      worker.runUs += runUs;
      if (!call.isStream) call.record.estimate.add(runUs);
    }
    // The scheduler runs once per message, after all results in it.
    worker.loadDropped = true;
    return action;
  }

  /** Ends a call that was removed from its worker, and passes on its outcome. */
  end(call: PoolCall, settle: Settle, outcome?: unknown): void {
    call.cleanUp();
    this.#settle(call, settle, outcome);
    call.release();
    this.shut();
  }

  /** Subtracts one from the open calls. */
  shut(): void {
    if (--this.openCount === 0) this.#whenIdle?.();
  }

  #settle(call: PoolCall, settle: Settle, outcome?: unknown): void {
    if (!this.host.once) return settle(call, outcome);
    this.#settleAfterClose(call, settle, outcome);
  }

  // Ends the worker of a pool for one call before the caller receives the outcome. The code is not part of `#settle`, because a closure in
  // `#settle` would make every call allocate a context.
  #settleAfterClose(call: PoolCall, settle: Settle, outcome: unknown): void {
    void this.host.close().then(() => settle(call, outcome));
  }

  #armLimits(call: PoolCall): void {
    const { signal, deadlineMs } = call.options;
    if (signal) call.unlisten = onAbort(signal, (reason) => this.cancel(call, reason));
    if (deadlineMs === undefined) return;
    const why = new ClearwayError("deadline", `the call did not end within ${deadlineMs} ms`);
    call.deadline = after(deadlineMs, () => this.expire(call, why));
  }
}
