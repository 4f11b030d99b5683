// SPDX-License-Identifier: MIT OR Apache-2.0
import { onAbort } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { notCloneable } from "../transfer/refusal.js";
import { detach } from "./arguments.js";
import type { Engine } from "./engine.js";
import type { PoolCall } from "./pool-call.js";
import { endReader, type Settle, tellFailure, tellResult } from "./settle.js";
import { after } from "./timer.js";
import type { PoolWorker } from "./worker.js";

/** Follows every call from the caller's hand to its last word: does what its life says. */
export class CallTracker {
  /** How many calls have been asked for and are not settled. */
  openCount = 0;
  readonly #engine: Engine;
  #whenIdle: (() => void) | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Takes a call in: it waits, or leaves at once. Tells its caller where it cannot be taken. */
  enqueue(call: PoolCall): void {
    const { backlog, scheduler } = this.#engine;
    call.enqueue();
    this.openCount++;
    call.record.calls++;
    if (call.options.limited) this.#armLimits(call);
    // Its signal, which is not ours, may have ended the call or the pool.
    if (this.#engine.ended) this.cancel(call, this.#engine.ended);
    if (call.state === "settled") return call.cleanUp();
    try {
      // A large call may take the room of several small ones.
      for (let victim = backlog.admit(call); victim; victim = backlog.admit(call)) {
        this.cancel(victim, new ClearwayError("dropped", "the queue was full"));
        if (victim === call) return;
      }
      if (!scheduler.sendNow(call)) {
        backlog.add(call);
        scheduler.run();
        this.#engine.lifecycle?.sendEarly(this.#engine);
      }
      // `move` promises that the caller loses it now, not when a worker is free.
      if (call.transfer.length === 0) return;
      if (call.state === "queued") detach(call);
      else call.worker?.transport.flush();
    } catch (reason) {
      this.refuse(call, reason);
    }
  }

  /** Something in what the caller gave cannot cross, or may not. */
  refuse(call: PoolCall, reason: unknown): void {
    const own = reason instanceof ClearwayError;
    this.cancel(call, own ? reason : notCloneable(`an argument of ${call.record.name}()`, reason));
  }

  /** Whether a call that is about to leave may leave; if not, it has been dealt with. A worker is ready, so its lifecycle is there. */
  admits(call: PoolCall): boolean {
    return this.#engine.lifecycle!.admits(this.#engine, call);
  }

  /** The caller gives up, or time is over: the caller is told at once, the worker too. */
  cancel(call: PoolCall, reason: unknown, word: Settle = tellFailure): void {
    const { worker } = call;
    // A stream that nobody had asked for a value was not counted as a call.
    const open = call.state !== "idle";
    const action = call.cancel();
    if (action === "nothing") return;
    if (open) call.record.cancelled++;
    this.say(call, word, reason);
    if (worker) return this.#engine.lifecycle?.cancel(worker, call, reason);
    this.#engine.backlog.remove(call);
    this.say(call, endReader);
    if (open) this.settled(call);
    else call.release();
  }

  /** A call is out of time, or lost: it ends with an error of its own. */
  expire(call: PoolCall, why: ClearwayError): void {
    call.own = why;
    call.stitch = this.#engine.lifecycle?.stitch;
    this.cancel(call, why);
  }

  /** Its worker says that it succeeded. */
  result(worker: PoolWorker, call: PoolCall, value: unknown, runUs: number): void {
    const action = this.leave(worker, call, runUs);
    if (action === "nothing") return;
    if (action === "deliver") call.record.ok++;
    this.say(call, action === "deliver" ? tellResult : endReader, value);
    this.settled(call);
  }

  /** Settles when no call is open. */
  async idle(): Promise<void> {
    if (this.openCount > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
  }

  /** The one way out of a worker that lives. `runUs` is -1 where it did not run. */
  leave(worker: PoolWorker, call: PoolCall, runUs: number): ReturnType<PoolCall["answer"]> {
    const action = call.answer();
    if (action === "nothing") return action;
    worker.remove(call);
    worker.tasksRun++;
    if (runUs >= 0) {
      call.ranUs = runUs;
      worker.runUs += runUs;
      if (!call.isStream) call.record.estimate.add(runUs);
    }
    // Told to the pool when the whole message is read: a hundred answers are one occasion to send more.
    worker.loadDropped = true;
    return action;
  }

  /** Tells the caller, or the reader of its stream, for good. */
  say(call: PoolCall, word: Settle, outcome?: unknown): void {
    call.cleanUp();
    const { once } = this.#engine;
    if (!once) return word(call, outcome);
    this.#sayLast(call, word, outcome);
  }

  // Whoever hears of the end of a pool's one call finds its worker ended. Apart from `say`, which would make a context for the
  // closure in every call.
  #sayLast(call: PoolCall, word: Settle, outcome: unknown): void {
    void this.#engine.close().then(() => word(call, outcome));
  }

  #armLimits(call: PoolCall): void {
    const { signal, deadlineMs } = call.options;
    if (signal) call.unlisten = onAbort(signal, (reason) => this.cancel(call, reason));
    if (deadlineMs === undefined) return;
    const why = new ClearwayError("deadline", `the call did not end within ${deadlineMs} ms`);
    call.deadline = after(deadlineMs, () => this.expire(call, why));
  }

  /** No longer open. */
  settled(call: PoolCall): void {
    call.cleanUp();
    if (call.state === "settled") call.release();
    this.shut();
  }

  /** One open call fewer. */
  shut(): void {
    if (--this.openCount === 0) this.#whenIdle?.();
  }
}
