// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import type { TaskContext } from "./task.js";

/** What a context needs of the call it belongs to. */
export interface ContextWire {
  readonly id: number;
  readonly cancelCells: Int32Array | undefined;
  progress(value: unknown): void;
}

/** The live context of one call. The abort signal is made when it is first asked for: most tasks never do. */
export class CallContext implements TaskContext {
  readonly #wire: ContextWire;
  #controller: AbortController | undefined;
  #reason: { value: unknown } | undefined;
  #asked = false;
  /** Bound, so that a task may take it out of its context. */
  readonly progress = (value: unknown): void => this.#wire.progress(value);

  constructor(wire: ContextWire) {
    this.#wire = wire;
  }

  /** Whether its task may hear of a cancel. */
  static listens(context: CallContext): boolean {
    return context.#asked;
  }

  get signal(): AbortSignal {
    this.#asked = true;
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason.value);
    }
    return this.#controller.signal;
  }

  get cancelled(): boolean {
    this.#asked = true;
    if (this.#reason !== undefined) return true;
    const { cancelCells, id } = this.#wire;
    // Pairs with the store in `pool/lifecycle/stop.ts`; the id alone is the message, nothing else is read after it.
    return cancelCells !== undefined && Atomics.load(cancelCells, cellOf(id, cancelCells)) === id;
  }

  /** The call of this context was cancelled. Static, so that a resource may be called `cancel`. */
  static cancel(context: CallContext, reason: unknown): void {
    if (context.#reason !== undefined) return;
    context.#reason = { value: reason };
    context.#controller?.abort(reason);
  }
}

/**
 * Where the cancelling of a call is written. Two calls of one worker may share a cell; the later one wins, and the
 * earlier one hears of it by message, as it would without shared memory.
 */
export function cellOf(id: number, cells: Int32Array): number {
  return id & (cells.length - 1);
}

/** 64 cells, 256 bytes a worker: more calls are seldom cancelled at once. A power of two, for `cellOf`. */
export const cancelCellCount = 64;

/**
 * A context for unit tests of tasks: `myTask(testContext(), 1, 2)`. Its signal is never aborted and its progress goes
 * nowhere, unless you say otherwise; add the resources that the task names.
 */
export function testContext(): TaskContext;
export function testContext<Extra extends object>(extra: Extra & Partial<TaskContext>): TaskContext & Extra;
export function testContext<Extra extends object>(extra?: Extra & Partial<TaskContext>): TaskContext & Extra {
  if (extra !== undefined && (typeof extra !== "object" || extra === null)) {
    throw new ClearwayError("invalid-argument", "testContext() takes an object of context properties");
  }
  const signal = extra?.signal ?? new AbortController().signal;
  const base: TaskContext = {
    signal,
    get cancelled() {
      return signal.aborted;
    },
    progress: () => {},
  };
  return Object.create(base, extra === undefined ? {} : Object.getOwnPropertyDescriptors(extra)) as TaskContext & Extra;
}
