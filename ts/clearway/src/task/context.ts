// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import { newAbortController } from "../globals.js";
import type { TaskContext } from "./task.js";

/** The part of a call that its context uses. */
export interface ContextWire {
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
    // Pairs with the store in `pool/lifecycle/stop.ts`. The id is the only data that this store publishes. No other memory depends on it.
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
