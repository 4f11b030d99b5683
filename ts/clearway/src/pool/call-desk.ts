// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import { ClearwayError, caused } from "../error/clearway-error.js";
import type { WireError } from "../error/wire.js";
import { notCloneable } from "../transfer/refusal.js";
import { Op } from "../transport/protocol.js";
import { detach } from "./arguments.js";
import { ownError } from "./caller-stack.js";
import type { Engine } from "./engine.js";
import { decoded, loadErrors } from "./errors.js";
import { expectPart } from "./part.js";
import { endReader, failReader, type PoolCall, tellFailure, tellResult, type Word } from "./pool-call.js";
import type { Slot } from "./slot.js";
import { unknownTask } from "./task-record.js";
import { after } from "./timer.js";

/** Follows every call from the caller's hand to its last word: does what its life says. */
export class CallDesk {
  /** How many calls have been asked for and are not settled. */
  openCount = 0;
  readonly #engine: Engine;
  #whenIdle: (() => void) | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Takes a call in: it waits, or leaves at once. Tells its caller where it cannot be taken. */
  enqueue(call: PoolCall): void {
    const { backlog, ended, scheduler } = this.#engine;
    if (ended) return this.cancel(call, ended);
    call.enqueue();
    this.openCount++;
    call.record.calls++;
    if (call.options.limited) this.#armLimits(call);
    if (call.state === "settled") return;
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
      if (call.transfer.length === 0) return;
      if (call.state === "queued") detach(call);
      else call.slot?.transport.flush();
    } catch (reason) {
      this.refuse(call, reason);
    }
  }

  /** Something in what the caller gave cannot cross, or may not. */
  refuse(call: PoolCall, reason: unknown): void {
    const own = reason instanceof ClearwayError;
    this.cancel(call, own ? reason : notCloneable(`an argument of ${call.record.name}()`, reason));
  }

  /** Whether a call that is about to leave may leave; if not, it has been dealt with. */
  admits(call: PoolCall): boolean {
    const { record } = call;
    if (record.index < 0) {
      this.cancel(call, unknownTask(record.name, this.#engine.records));
      return false;
    }
    if (!call.isStream) return true;
    call.tellStream();
    if (call.stream?.consumer?.credit.items) return true;
    // It is nobody's yet: it waits for its reader instead.
    call.setAside();
    record.calls--;
    this.#settled(call);
    return false;
  }

  /** The caller gives up, or time is over: the caller is told at once, the worker too. */
  cancel(call: PoolCall, reason: unknown, word: Word = tellFailure): void {
    const { slot } = call;
    // A stream that nobody had asked for a value was not counted as a call.
    const open = call.state !== "idle";
    const action = call.cancel();
    if (action === "nothing") return;
    if (open) call.record.cancelled++;
    this.#say(call, word, reason);
    if (slot) {
      slot.cancel(call, reason);
      call.limit = after(this.#engine.settings.graceMs, () => {
        if (call.graceOver() === "kill") this.#engine.overdue(slot);
      });
      return;
    }
    this.#engine.backlog.remove(call);
    this.#say(call, endReader);
    if (open) this.#settled(call);
    else call.release();
  }

  /** A frame about a call that is with a worker. */
  frame(slot: Slot, call: PoolCall, op: Op, a: unknown, b: unknown): void {
    switch (op) {
      case Op.Result: {
        const action = this.#leave(slot, call, b as number);
        if (action === "nothing") return;
        if (action === "deliver") call.record.ok++;
        this.#say(call, action === "deliver" ? tellResult : endReader, a);
        return this.#settled(call);
      }
      case Op.Failure: {
        const action = this.#leave(slot, call, b as number);
        if (action === "nothing") return;
        if (action === "deliver") call.record.failed++;
        void decoded(a as WireError, call.callerStack).then((reason) => {
          const word = action === "deliver" ? tellFailure : isCancel(reason) ? endReader : failReader;
          this.#say(call, word, word === endReader ? undefined : ownError(reason));
        });
        return this.#settled(call);
      }
      case Op.Chunk:
        if (!call.stream?.consumer?.arrived(a, b as number)) {
          this.cancel(call, new ClearwayError("protocol", "the worker sent more than the window allows"));
        }
        if (slot.count(call)) slot.eased = true;
        return;
      case Op.Progress:
        if (call.state === "cancelling") return;
        try {
          call.options.onProgress?.(b === 1 ? new ClearwayError("not-cloneable", (a as Error).message) : a);
        } catch (reason) {
          // The listener is the caller's own: what it throws ends its call, and no other frame of this message is lost.
          this.cancel(call, reason);
        }
        return;
      case Op.Started: {
        const { timeoutMs } = call.options;
        if (call.start() !== "armTimeout" || timeoutMs === undefined) return;
        const why = ownError(new ClearwayError("timeout", `the task ran longer than ${timeoutMs} ms`));
        call.limit = after(timeoutMs, () => this.cancel(call, why));
        return;
      }
      case Op.Times: {
        const { record, submittedMs, postedMs } = call;
        this.#engine.metrics?.enter(record.name, [submittedMs, postedMs, a as number, b as number, now()]);
      }
    }
  }

  /** The carrier could not post a call. Nothing of it was moved. */
  unsendable(slot: Slot, call: PoolCall, reason: unknown): void {
    if (call.inputs) slot.transport.send(Op.Cancel, call.id);
    if (this.#leave(slot, call, -1) === "deliver") {
      call.record.failed++;
      this.#say(call, tellFailure, notCloneable(`an argument of ${call.record.name}()`, reason));
    }
    this.#settled(call);
    this.#engine.eased(slot);
  }

  /** Its worker is gone. What never began goes back to where it was; what may have run fails, unless it may run twice. */
  lost(slot: Slot, call: PoolCall, why: ClearwayError, mayHaveRun: boolean): void {
    const mayRepeat = call.whole && !call.isStream && call.lostRuns < call.options.retries;
    const action = call.lose(mayHaveRun || !call.whole, mayRepeat);
    slot.remove(call);
    if (action === "requeue") {
      clearTimeout(call.limit);
      if (mayHaveRun) call.lostRuns++;
      return this.#engine.backlog.add(call);
    }
    if (action === "fail") call.record.failed++;
    this.#say(call, action === "fail" ? tellFailure : endReader, action === "fail" ? stitched(why, call) : undefined);
    this.#settled(call);
  }

  /** Settles when no call is open. */
  async idle(): Promise<void> {
    if (this.openCount > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
  }

  // The one way out of a worker that lives. `runUs` is -1 where it did not run.
  #leave(slot: Slot, call: PoolCall, runUs: number): ReturnType<PoolCall["answer"]> {
    const action = call.answer();
    if (action === "nothing") return action;
    slot.remove(call);
    slot.tasksRun++;
    if (runUs >= 0) {
      call.ranUs = runUs;
      slot.runUs += runUs;
      if (!call.isStream) call.record.estimate.add(runUs);
    }
    // Told to the pool when the whole message is read: a hundred answers are one occasion to send more.
    slot.eased = true;
    return action;
  }

  #say(call: PoolCall, word: Word, outcome?: unknown): void {
    call.cleanUp();
    const { once } = this.#engine;
    if (!once) return word(call, outcome);
    // Whoever hears of the end of its one call finds its worker ended.
    void this.#engine.close().then(() => word(call, outcome));
  }

  #armLimits(call: PoolCall): void {
    // A worker may have to be told why.
    expectPart(loadErrors);
    const { signal, deadlineMs } = call.options;
    if (signal) {
      const abort = (): void => this.cancel(call, signal.reason);
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort, { once: true });
      call.unlisten = () => signal.removeEventListener("abort", abort);
    }
    if (deadlineMs === undefined) return;
    const why = ownError(new ClearwayError("deadline", `the call was not finished within ${deadlineMs} ms`));
    call.deadline = after(deadlineMs, () => this.cancel(call, why));
  }

  // No longer open.
  #settled(call: PoolCall): void {
    call.cleanUp();
    if (call.state === "settled") call.release();
    this.shut();
  }

  /** One open call fewer. */
  shut(): void {
    if (--this.openCount === 0) this.#whenIdle?.();
  }
}

// What a generator throws because its reader left is not news to that reader.
function isCancel(reason: unknown): boolean {
  const { code, name } = (reason ?? {}) as { code?: unknown; name?: unknown };
  return name === "AbortError" || (reason instanceof ClearwayError && code === "cancelled");
}

// One worker's death fails several calls; each gets an error of its own, with its own caller's stack.
function stitched(why: ClearwayError, call: PoolCall): ClearwayError {
  const error = caused(why.code, why.message, why.cause);
  error.stack = `${why.name}: ${why.message}${call.callerStack && `\n${call.callerStack}`}`;
  return ownError(error);
}
