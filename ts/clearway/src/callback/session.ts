// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import { checkDepth } from "../error/depth.js";
import { OwnPromise } from "../globals.js";
import { allCodedAs, Form } from "../transfer/coded.js";
import { emptySide, isEmpty, type LedgerSide, merge } from "../transfer/ledger.js";
import { prepareForProcess } from "../transfer/other-process.js";
import { prepareValue } from "../transfer/prepare-argument.js";
import { notCloneable } from "../transfer/refusal.js";
import { revive } from "../transfer/revive.js";
import { encodeThrown } from "../transfer/thrown.js";
import {
  type CallbackAnswer,
  type CallbackCall,
  type CallbackEnd,
  type CallbackWire,
  callbackKey,
} from "../transport/callback.js";
import { isFormsOf } from "../transport/frame-check.js";

/**
 * The caller's end of one callback in one call. Runs the function, and answers the task.
 *
 * The function is foreign code: it may throw, hang, end the call or the pool, and return any value. The messages come from a worker, which
 * may be hostile. Either affects only the session's own call.
 */
export class Session implements CallbackEnd, AsyncIterator<never> {
  readonly [callbackKey]: CallbackEnd = this;
  readonly producer = { grant: (): void => {}, stop: (): void => this.#stop() };
  /** Undefined once the call is over, so that what the function refers to is free. */
  #fn: ((...args: unknown[]) => unknown) | undefined;
  #wire: CallbackWire | undefined;
  /** Numbers of the calls without an answer. */
  readonly #open = new Set<number>();
  /** Settles when the tables in earlier calls are ready. Undefined if no call waits for its tables. */
  #reading: Promise<void> | undefined;
  #over = false;
  /** Ledger entries of sent answers that contain memory. If the transport then refuses an answer, its entries are reversed. */
  readonly #entered = new WeakMap<object, LedgerSide>();

  constructor(
    fn: (...args: unknown[]) => unknown,
    readonly concurrency: number,
    readonly methods?: readonly string[],
  ) {
    this.#fn = fn;
  }

  get asked(): boolean {
    return this.#open.size > 0;
  }

  /** Never called by a pool. A reader that takes the mark for a stream finds it empty. */
  async next(): Promise<IteratorResult<never>> {
    return { done: true, value: undefined };
  }

  /** Ends the session of a call that was never sent. */
  async return(): Promise<IteratorResult<never>> {
    this.#stop();
    return { done: true, value: undefined };
  }

  connect(wire: CallbackWire): void {
    this.#wire = wire;
    this.#open.clear();
  }

  called(message: unknown): void {
    if (this.#over) return;
    if (!this.#accepts(message)) {
      this.#wire?.fail(
        new ClearwayError("protocol", "the worker sent a call of a callback that its credit does not allow"),
      );
      return;
    }
    const [call, args, forms] = message;
    this.#open.add(call);
    if (this.#reading === undefined && forms === undefined) this.#run(call, args);
    else this.#read(call, args, forms);
  }

  refuse(message: unknown, reason: unknown): void {
    const entry = this.#entered.get(message as object);
    if (entry && this.#wire) merge(this.#wire.ledger, entry, -1);
    this.#sendError((message as CallbackAnswer)[0], refusalOf(reason));
  }

  #accepts(message: unknown): message is CallbackCall {
    if (!Array.isArray(message)) return false;
    const [call, args, forms] = message;
    if (!Array.isArray(args) || (forms !== undefined && !isFormsOf(forms, args.length))) return false;
    return Number.isInteger(call) && !this.#open.has(call) && this.#open.size < this.concurrency;
  }

  // Reads the arguments that are not plain. Later calls wait, because calls keep their order.
  #read(call: number, args: readonly unknown[], forms: CallbackCall[2]): void {
    const before = this.#reading;
    const read = async (): Promise<void> => {
      await before;
      try {
        const ready = await OwnPromise.all(allCodedAs(forms, args).map((each) => revive(each)));
        if (!this.#over) this.#run(call, ready);
      } catch (reason) {
        this.#fail(call, reason);
      }
    };
    const reading = read().then(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    this.#reading = reading;
  }

  #run(call: number, args: readonly unknown[]): void {
    try {
      // The function is called without a `this`.
      const fn = this.#fn;
      const value = fn?.(...args);
      if (!isThenable(value)) return this.#answer(call, value);
      // A foreign thenable may settle twice, or throw after it has settled.
      OwnPromise.resolve(value).then(
        (each) => this.#answer(call, each),
        (reason) => this.#fail(call, reason),
      );
    } catch (reason) {
      this.#fail(call, reason);
    }
  }

  #answer(call: number, value: unknown): void {
    if (!this.#close(call) || !this.#wire) return;
    const { strict, ledger } = this.#wire;
    const prepare = hasProcesses && this.#wire.toProcess ? prepareForProcess : prepareValue;
    const entry = emptySide();
    try {
      const ready = prepare(value, strict, entry);
      if (ready.deep) checkDepth(ready.value);
      const message: CallbackAnswer =
        ready.form === Form.plain ? [call, ready.value] : [call, ready.value, undefined, ready.form];
      if (!isEmpty(entry)) {
        merge(ledger, entry);
        this.#entered.set(message, entry);
      }
      this.#wire.answer(message, ready.transfer);
    } catch (reason) {
      // The value's getters and traps are foreign code.
      this.#sendError(call, refusalOf(reason));
    }
  }

  #fail(call: number, reason: unknown): void {
    if (this.#close(call)) this.#sendError(call, reason);
  }

  #sendError(call: number, reason: unknown): void {
    if (!this.#over) this.#wire?.answer([call, undefined, encodeThrown(reason)], []);
  }

  // Returns whether the task still waits for the answer.
  #close(call: number): boolean {
    return this.#open.delete(call) && !this.#over;
  }

  #stop(): void {
    this.#over = true;
    this.#fn = undefined;
    this.#wire = undefined;
    this.#open.clear();
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return value !== null && typeof value === "object" && typeof (value as { then?: unknown }).then === "function";
}

function refusalOf(reason: unknown): ClearwayError {
  return reason instanceof ClearwayError ? reason : notCloneable("the value of a callback", reason);
}
