// SPDX-License-Identifier: MIT OR Apache-2.0
import { revive } from "../transfer/revive.js";
import { type Grant, ReceiveCredit, type Window } from "./credit.js";
import { Reader } from "./reader.js";

/** What a consumer asks of its wire. */
export interface ConsumerWire {
  /** Lets the producer send more. */
  grant(items: number, bytes: number): void;
  /** Asks the producer to end early; it answers with its end or its failure. */
  cancel(): void;
}

type End = { done: unknown } | { failed: unknown };
type Waiter = {
  resolve(result: IteratorResult<unknown> | PromiseLike<IteratorResult<unknown>>): void;
  reject(reason: unknown): void;
};

/**
 * The receiving half of a stream, as an async iterator. Values keep their order; the producer is held at the window.
 * Nothing starts before the first `next()`. `return()` reaches the producer's `finally` and settles after it.
 */
export class Consumer extends Reader {
  readonly #credit: ReceiveCredit;
  readonly #wire: ConsumerWire;
  #ready: { value: unknown; bytes: number }[] = [];
  #waiting: Waiter[] = [];
  #opened = false;
  #returning = false;
  #end: End | undefined;
  /** What is held on to until nothing is awaited any more. */
  keeper: object | undefined;

  constructor(window: Window, wire: ConsumerWire) {
    super();
    this.#credit = new ReceiveCredit(window);
    this.#wire = wire;
  }

  /** Whether the producer can run now without hearing from this side first. */
  get active(): boolean {
    return this.#opened && !this.#end && this.#credit.outstanding;
  }

  /** What the producer may still send: what another producer in its place has to be granted. */
  get credit(): Grant {
    return this.#credit.left;
  }

  next(): Promise<IteratorResult<unknown>> {
    const first = this.#ready.shift();
    if (first) {
      this.keeper = undefined;
      this.#grant(this.#credit.taken(first.bytes));
      return Promise.resolve(revive(first.value, stepOf));
    }
    if (this.#end) return this.#takeEnd();
    const result = new Promise<IteratorResult<unknown>>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    if (!this.#opened) {
      this.#opened = true;
      this.#grant(this.#credit.open());
    }
    return result;
  }

  /** Ends the stream early. Values that wait are dropped. Settles when the producer has ended. */
  return(value?: unknown): Promise<IteratorResult<unknown>> {
    this.#ready = [];
    if (this.#end) {
      this.#end = { done: undefined };
      return Promise.resolve({ done: true, value });
    }
    const ended = new Promise<IteratorResult<unknown>>((resolve, reject) =>
      // An error in the producer's `finally` belongs to whoever ended the stream, as it would without a thread between.
      this.#waiting.push({ resolve: () => resolve({ done: true, value }), reject }),
    );
    if (!this.#returning) {
      this.#returning = true;
      this.#wire.cancel();
    }
    return ended;
  }

  /** A value came over the wire. Returns false when the producer broke the window. */
  arrived(value: unknown, bytes: number): boolean {
    if (this.#end) return true;
    if (!this.#credit.arrived(bytes)) return false;
    if (this.#returning) return true;
    const waiter = this.#waiting.shift();
    if (!waiter) {
      this.#ready.push({ value, bytes });
      return true;
    }
    this.#grant(this.#credit.taken(bytes));
    waiter.resolve(revive(value, stepOf));
    if (this.#waiting.length === 0) this.keeper = undefined;
    return true;
  }

  /** The producer ended; `value` is what its generator returned. */
  ended(value: unknown): void {
    this.#finish({ done: this.#returning ? undefined : value });
  }

  /** The producer failed, or was lost. Values that arrived before are still given out first. */
  failed(reason: unknown): void {
    this.#finish({ failed: reason });
  }

  #grant(grant: Grant | undefined): void {
    if (grant && !this.#end) this.#wire.grant(grant.items, grant.bytes);
  }

  #finish(end: End): void {
    if (this.#end) return;
    this.#end = end;
    this.keeper = undefined;
    for (const { resolve, reject } of this.#waiting.splice(0)) this.#takeEnd().then(resolve, reject);
  }

  // The end is given once, then the iterator is done, as a generator's is.
  #takeEnd(): Promise<IteratorResult<unknown>> {
    const end = this.#end;
    this.#end = { done: undefined };
    if (end && "failed" in end) return Promise.reject(end.failed);
    return Promise.resolve({ done: true, value: end?.done });
  }
}

function stepOf(value: unknown): IteratorResult<unknown> {
  return { done: false, value };
}
