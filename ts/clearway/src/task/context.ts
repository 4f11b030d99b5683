// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { clock, newAbortController, OwnPromise } from "../globals.js";
import type { Held } from "../resource/resource.js";
import { roughBytes } from "../transfer/uncloneable.js";
import type { ServedCall } from "./runner.js";
import type { TaskContext } from "./task.js";

/**
 * Maximum number of units of progress that a call's listener has not acknowledged: 8,192 small values, or 4 MiB of larger ones. If the
 * listener's thread is blocked for 100 ms, a task that reports every 13 us stays within this window.
 */
export const progressWindow = 8192;
// Bytes per unit. A value costs one unit, plus one more for every full 512 bytes in it.
const unitBytes = 512;
// If the window is used up and the thread has read no messages for this many milliseconds, one more value is sent. A task that blocks its
// thread for this long cannot receive acknowledgements.
const blockedMs = 100;

/** The thread's clock and message loop. Tests replace them. */
interface ProgressClock {
  nowMs(): number;
  /** Calls `next` after the thread has read the messages that are waiting now. */
  afterMessages(next: () => void): void;
}

const threadClock: ProgressClock = { nowMs: clock, afterMessages };

/** Returns the cost of a posted value in units. */
export function unitsOf(value: unknown): number {
  return 1 + Math.floor(roughBytes(value, progressWindow * unitBytes) / unitBytes);
}

/**
 * Sends the progress of one call in order, at most a window ahead of its listener. Beyond the window, only the newest value waits. That
 * value is sent when the listener has caught up, or by `last()`. A task that never yields its thread cannot receive acknowledgements.
 * Beyond the window, such a task sends ten values per second.
 */
export class Progress {
  readonly #send: (value: unknown) => number;
  readonly #clock: ProgressClock;
  #unread = 0;
  #waiting: { value: unknown } | undefined;
  /**
   * Time in milliseconds from which `#isBlocked` counts how long the thread has read no messages. Undefined while `#isBlocked` does not
   * count.
   */
  #checkSinceMs: number | undefined;

  /** `send` posts a value and returns its cost in units. */
  constructor(send: (value: unknown) => number, clock = threadClock) {
    this.#send = send;
    this.#clock = clock;
  }

  report(value: unknown): void {
    if (this.#unread < progressWindow || this.#isBlocked()) this.#sendNow(value);
    else this.#waiting = { value };
  }

  /** Records that the listener has read `units` more. Sends the waiting value if the window has room. */
  read(units: number): void {
    this.#unread = Math.max(0, this.#unread - units);
    if (this.#unread < progressWindow) this.last();
  }

  /** Sends the waiting value, so that no later frame overtakes it. */
  last(): void {
    if (this.#waiting) this.#sendNow(this.#waiting.value);
  }

  #sendNow(value: unknown): void {
    this.#waiting = undefined;
    this.#unread += this.#send(value);
  }

  // Returns whether the thread has read no message for `blockedMs`. The first value after a message starts a new check.
  #isBlocked(): boolean {
    const nowMs = this.#clock.nowMs();
    if (this.#checkSinceMs === undefined) {
      this.#checkSinceMs = nowMs;
      this.#clock.afterMessages(() => {
        this.#checkSinceMs = undefined;
      });
    }
    if (nowMs - this.#checkSinceMs < blockedMs) return false;
    this.#checkSinceMs = nowMs;
    return true;
  }
}

/** The part of a call that its context uses. */
interface ContextWire {
  readonly id: number;
  readonly cancelCells: Int32Array | undefined;
  progress(value: unknown): void;
}

/** The context of one call. Makes the abort signal at its first use, because most tasks never use it. */
export class CallContext implements TaskContext {
  readonly #wire: ContextWire;
  #controller: AbortController | undefined;
  #reason: { value: unknown } | undefined;
  #wasRead = false;
  /** Bound to this object, so that a task may destructure its context. */
  readonly progress = (value: unknown): void => this.#wire.progress(value);

  constructor(wire: ContextWire) {
    this.#wire = wire;
  }

  /** Returns whether the task has read `signal` or `cancelled`. */
  static listens(context: CallContext): boolean {
    return context.#wasRead;
  }

  get signal(): AbortSignal {
    this.#wasRead = true;
    if (this.#controller === undefined) {
      this.#controller = newAbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason.value);
    }
    return this.#controller.signal;
  }

  get cancelled(): boolean {
    this.#wasRead = true;
    if (this.#reason !== undefined) return true;
    const { cancelCells, id } = this.#wire;
    // Pairs with the store in `pool/lifecycle/cancel.ts`. The id is the only data that this store publishes. No other memory depends on it.
    return cancelCells !== undefined && Atomics.load(cancelCells, cellOf(id, cancelCells)) === id;
  }

  /** Cancels the context of a call. The method is static, so that a resource may have the name `cancel`. */
  static cancel(context: CallContext, reason: unknown): void {
    if (context.#reason !== undefined) return;
    context.#reason = { value: reason };
    context.#controller?.abort(reason);
  }
}

/**
 * Returns the index of the cell that records a call's cancel. Two calls of one worker may share a cell. The later cancel then overwrites
 * the earlier one. The call with the earlier cancel learns of it by message, as without shared memory.
 */
export function cellOf(id: number, cells: Int32Array): number {
  return id & (cells.length - 1);
}

/**
 * Number of cells per worker (256 bytes). Calls that are cancelled at the same time are rarely more. A power of two, as `cellOf` requires.
 */
export const cancelCellCount = 64;

/**
 * Returns a context for unit tests of tasks: `myTask(testContext(), 1, 2)`. By default, its signal never aborts and it ignores progress.
 * Pass other members, and the resources that the task uses, in `extra`.
 */
export function testContext(): TaskContext;
export function testContext<Extra extends object>(extra: Extra & Partial<TaskContext>): TaskContext & Extra;
export function testContext<Extra extends object>(extra?: Extra & Partial<TaskContext>): TaskContext & Extra {
  if (extra !== undefined && (typeof extra !== "object" || extra === null)) {
    throw new ClearwayError("invalid-argument", "testContext() takes an object of context properties");
  }
  const signal = extra?.signal ?? newAbortController().signal;
  const base: TaskContext = {
    signal,
    get cancelled() {
      return signal.aborted;
    },
    progress: () => {},
  };
  return Object.create(base, extra === undefined ? {} : Object.getOwnPropertyDescriptors(extra)) as TaskContext & Extra;
}

/**
 * Waits for a call's resources, unless the call is cancelled. A resource may take long to open. If the call is cancelled in the meantime, the resource
 * is kept for the next call.
 */
export function unlessCancelled(call: ServedCall, holding: Promise<Held>): Promise<Held> {
  return new OwnPromise((resolve, reject) => {
    call.giveUp = (reason) => {
      call.giveUp = undefined;
      reject(reason);
      holding.then(
        (held) => held.release("ok"),
        () => {},
      );
    };
    if (call.cancelled !== undefined) return call.giveUp(call.cancelled.reason);
    const settle =
      <T>(end: (outcome: T) => void) =>
      (outcome: T): void => {
        call.giveUp = undefined;
        end(outcome);
      };
    holding.then(settle(resolve), settle(reject));
  });
}
