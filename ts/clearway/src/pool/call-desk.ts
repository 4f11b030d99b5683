// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import { ClearwayError, caused } from "../error/clearway-error.js";
import { decodeError, type WireError } from "../error/wire.js";
import { Consumer } from "../stream/consumer.js";
import { notCloneable } from "../transfer/refusal.js";
import { Op } from "../transport/protocol.js";
import { detach } from "./arguments.js";
import type { Backlog } from "./backlog.js";
import { ownError } from "./caller-stack.js";
import type { Metrics } from "./metrics.js";
import { type Settings, windowOf } from "./options.js";
import type { PoolCall } from "./pool-call.js";
import type { Scheduler } from "./scheduler.js";
import type { Slot } from "./slot.js";
import { StreamHandle } from "./stream-handle.js";
import { after } from "./timer.js";

/** What the desk asks of the pool. */
export interface DeskOwner {
  readonly settings: Settings;
  readonly backlog: Backlog;
  readonly scheduler: Scheduler;
  readonly metrics: Metrics | undefined;
  /** Why no call can be taken any more; undefined while they can. */
  readonly ended: ClearwayError | undefined;
  /** A worker has one call fewer, or is less busy. */
  eased(slot: Slot): void;
  /** A call has not stopped within its grace. */
  overdue(slot: Slot, call: PoolCall): void;
}

/** Follows every call from the caller's hand to its last word: does what its life says. */
export class CallDesk {
  /** How many calls have been asked for and are not settled. */
  openCount = 0;
  readonly #owner: DeskOwner;
  #idleWaiters: (() => void)[] = [];

  constructor(owner: DeskOwner) {
    this.#owner = owner;
  }

  /** Gives a call a stream's receiving end. Nothing of it starts before its first `next()`. */
  makeStream(call: PoolCall): StreamHandle {
    const window = windowOf(call.options.window, this.#owner.settings.window);
    call.consumer = new Consumer(window, {
      grant: (items, bytes) => this.#grant(call, items, bytes),
      // It is told when the task's `finally` has run.
      cancel: () => this.cancel(call, undefined, () => call.tellEnded()),
    });
    const handle = new StreamHandle(call.consumer, () => {
      if (call.isStream) this.cancel(call, new ClearwayError("abandoned", "the stream was dropped before its end"));
    });
    call.handle = new WeakRef(handle);
    return handle;
  }

  /** Takes a call in: it waits, or leaves at once. Tells its caller where it cannot be taken. */
  enqueue(call: PoolCall): void {
    const { backlog, ended, scheduler } = this.#owner;
    if (ended) return this.#reject(call, ended);
    this.openCount++;
    call.open = true;
    call.record.calls++;
    this.#armLimits(call);
    if (call.life.state === "settled") return;
    call.life.enqueue();
    try {
      // A large call may take the room of several small ones.
      for (let victim = backlog.admit(call); victim; victim = backlog.admit(call)) {
        this.cancel(victim, new ClearwayError("dropped", "the queue was full"));
        if (victim === call) return;
      }
      if (!scheduler.sendNow(call)) {
        backlog.add(call);
        scheduler.run();
      }
      // `move` promises that the caller loses it now, not when a worker is free.
      if (call.prepared.transfer.length === 0) return;
      if (call.life.state === "queued") detach(call.prepared);
      else call.slot?.transport.flush();
    } catch (reason) {
      this.cancel(
        call,
        reason instanceof ClearwayError ? reason : notCloneable(`an argument of ${call.record.name}()`, reason),
      );
    }
  }

  /** A stream that is nobody's yet was about to leave: it waits for its reader instead. */
  setAside(call: PoolCall): void {
    call.life.setAside();
    call.record.calls--;
    call.cleanUp();
    this.#shut(call);
  }

  /** The caller gives up, or time is over: the caller is told at once, the worker too. */
  cancel(call: PoolCall, reason: unknown, tell = (): void => call.tellFailure(reason)): void {
    const { slot } = call;
    if (call.life.cancel() === "nothing") return;
    // A stream that nobody had asked for a value was not counted as a call.
    if (call.open) call.record.cancelled++;
    tell();
    if (!slot) {
      call.consumer?.ended(undefined);
      this.#owner.backlog.remove(call);
      this.#settle(call);
      return;
    }
    slot.cancel(call, reason);
    call.addTimer(() => {
      if (call.life.graceOver() === "kill") this.#owner.overdue(slot, call);
    }, this.#owner.settings.graceMs);
  }

  /** A frame about a call that is with a worker. */
  frame(slot: Slot, call: PoolCall, op: Op, a: unknown, b: unknown): void {
    switch (op) {
      case Op.Result:
        return this.#answered(slot, call, b as number, true, a);
      case Op.Failure: {
        const reason = ownError(decodeError(a as WireError, call.callerStack));
        return this.#answered(slot, call, b as number, false, reason);
      }
      case Op.Chunk:
        if (!call.consumer!.arrived(a, b as number)) {
          this.cancel(call, new ClearwayError("protocol", "the worker sent more than the window allows"));
        }
        if (slot.count(call)) slot.eased = true;
        return;
      case Op.Progress:
        if (call.life.state === "cancelling") return;
        try {
          call.options.onProgress?.(b === 1 ? decodeError(a as WireError) : a);
        } catch (reason) {
          // The listener is the caller's own: what it throws ends its call, and no other frame of this message is lost.
          this.cancel(call, reason);
        }
        return;
      case Op.Started: {
        const { timeoutMs } = call.options;
        if (call.life.start() !== "armTimeout" || timeoutMs === undefined) return;
        const why = ownError(new ClearwayError("timeout", `the task ran longer than ${timeoutMs} ms`));
        call.runTimer = after(timeoutMs, () => this.cancel(call, why));
        return;
      }
      case Op.Times:
        this.#owner.metrics?.enter(call.record.name, [
          call.submittedMs,
          call.postedMs,
          a as number,
          b as number,
          now(),
        ]);
    }
  }

  /** The carrier could not post a call. Nothing of it was moved. */
  refused(slot: Slot, call: PoolCall, reason: unknown): void {
    const why = notCloneable(`an argument of ${call.record.name}()`, reason);
    if (call.prepared.feeds) slot.transport.send(Op.Cancel, call.id);
    this.#answered(slot, call, undefined, false, why);
    this.#owner.eased(slot);
  }

  /** Its worker is gone. What never began goes back to where it was; what may have run fails, unless it may run twice. */
  lost(slot: Slot, call: PoolCall, why: ClearwayError, mayHaveRun: boolean): void {
    const whole = !call.prepared.moved && !call.prepared.feeds;
    const action = call.life.lose(mayHaveRun || !whole, call.retriesLeft > 0 && !call.isStream);
    slot.remove(call);
    if (action === "requeue") {
      clearTimeout(call.runTimer);
      if (mayHaveRun) call.retriesLeft--;
      if (call.isStream) {
        // Its credit went down with the worker.
        const { items, bytes } = call.consumer!.credit;
        call.pendingItems = items;
        call.pendingBytes = bytes;
      }
      this.#owner.backlog.putBack(call);
      return;
    }
    if (action === "fail") this.#fail(call, stitched(why, call));
    else call.consumer?.ended(undefined);
    this.#settle(call);
  }

  /** Settles when no call is open. */
  idle(): Promise<void> {
    return this.openCount === 0 ? Promise.resolve() : new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #grant(call: PoolCall, items: number, bytes: number): void {
    const { slot } = call;
    if (slot) {
      slot.transport.send(Op.Credit, call.id, items, bytes);
      slot.count(call);
      slot.setRef(true);
      return;
    }
    call.pendingItems += items;
    call.pendingBytes += bytes;
    if (call.life.state === "idle") this.enqueue(call);
  }

  #answered(slot: Slot, call: PoolCall, runUs: number | undefined, ok: boolean, outcome: unknown): void {
    const action = call.life.answer();
    if (action === "nothing") return;
    slot.remove(call);
    slot.tasksRun++;
    if (runUs !== undefined) {
      slot.runUs += runUs;
      if (!call.isStream) call.record.estimate.add(runUs);
    }
    if (action === "release") {
      if (ok || isCancel(outcome)) call.consumer?.ended(undefined);
      else call.consumer?.failed(outcome);
    } else if (ok) {
      call.record.ok++;
      call.tellResult(outcome);
    } else {
      this.#fail(call, outcome);
    }
    this.#settle(call);
    // Told to the pool when the whole message is read: a hundred answers are one occasion to send more.
    slot.eased = true;
  }

  #fail(call: PoolCall, reason: unknown): void {
    call.record.failed++;
    call.tellFailure(reason);
  }

  #reject(call: PoolCall, reason: unknown): void {
    if (call.life.cancel() === "nothing") return;
    call.tellFailure(reason);
    call.releaseInputs();
  }

  #armLimits(call: PoolCall): void {
    const { signal, deadlineMs } = call.options;
    if (signal) {
      const abort = (): void => this.cancel(call, signal.reason);
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort, { once: true });
      call.unlisten = () => signal.removeEventListener("abort", abort);
    }
    if (deadlineMs === undefined) return;
    const why = ownError(new ClearwayError("deadline", `the call was not finished within ${deadlineMs} ms`));
    call.addTimer(() => this.cancel(call, why), deadlineMs);
  }

  #settle(call: PoolCall): void {
    call.cleanUp();
    call.releaseInputs();
    this.#shut(call);
  }

  #shut(call: PoolCall): void {
    if (!call.open) return;
    call.open = false;
    if (--this.openCount > 0 || this.#idleWaiters.length === 0) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}

// What a generator throws because its reader left is not news to that reader.
function isCancel(reason: unknown): boolean {
  return (
    (reason instanceof ClearwayError && reason.code === "cancelled") ||
    (reason as { name?: unknown } | null)?.name === "AbortError"
  );
}

// One worker's death fails several calls; each gets an error of its own, with its own caller's stack.
function stitched(why: ClearwayError, call: PoolCall): ClearwayError {
  const error = caused(why.code, why.message, why.cause);
  error.stack = `${why.name}: ${why.message}${call.callerStack && `\n${call.callerStack}`}`;
  return ownError(error);
}
