// SPDX-License-Identifier: MIT OR Apache-2.0
import { clock, OwnPromise } from "../globals.js";
import { isCoded } from "../transfer/crossing.js";
import { revive } from "../transfer/revive.js";
import { type Budget, turnBudget } from "../transport/turn-budget.js";
import { type Grant, inFlightMax, ReceiveCredit, type WindowSetting } from "./credit.js";
import { Reader } from "./reader.js";

/** The messages that a consumer sends to its producer. */
export interface ConsumerWire {
  /** Grants the producer credit for more items and bytes. */
  grant(items: number, bytes: number): void;
  /** Asks the producer to end early. The producer answers with `end` or `fail`. */
  cancel(): void;
}

interface Arrived {
  value: unknown;
  bytes: number;
}
type End = { done: unknown } | { failed: unknown };
type Waiter = {
  /** Whether the reader wants an array of values. */
  readonly isBatch: boolean;
  resolve(result: IteratorResult<unknown> | PromiseLike<IteratorResult<unknown>>): void;
  reject(reason: unknown): void;
};

/**
 * Maximum number of values in an array of `nextBatch`. The reader handles such an array in one turn of the event loop, in about a
 * millisecond if it needs a microsecond for each value.
 */
export const batchItemsMax = 1024;

/**
 * The receiving half of a stream, as an async iterator.
 *
 * Values keep their order. The window limits how far the producer runs ahead. The producer starts at the first `next()`. `return()` makes
 * the producer run its `finally`, and settles after it. If the thread's time for streams is spent, the next value waits for the next turn of
 * the event loop.
 */
export class Consumer extends Reader {
  readonly #credit: ReceiveCredit;
  readonly #wire: ConsumerWire;
  readonly #turns: Budget;
  /** The values that arrived. The entries before `#head` were read and are empty. */
  #ready: (Arrived | undefined)[] = [];
  #head = 0;
  #waiting: Waiter[] = [];
  #paused = false;
  #grantsLater = false;
  #servesAfterMessage = false;
  #opened = false;
  #returning = false;
  #end: End | undefined;
  /** An object that must stay alive while a caller awaits a result. */
  keepAlive: object | undefined;

  constructor(window: WindowSetting, wire: ConsumerWire, turns: Budget = turnBudget) {
    super();
    this.#credit = new ReceiveCredit(window, () => clock(), inFlightMax);
    this.#wire = wire;
    this.#turns = turns;
  }

  /** Whether the producer can run now, without a further message from the consumer. */
  get active(): boolean {
    return this.#opened && !this.#end && this.#credit.outstanding;
  }

  /** The credit that the producer has not used. If another producer replaces it, grant that producer the same credit. */
  get credit(): Grant {
    return this.#credit.left;
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#read(false);
  }

  /**
   * Returns the values that have arrived, as an array of 1 to 1,024 values, but at most about half of the window. Waits for the first one.
   * The array also has the values of the same message. A table, and a value with instances of classes, comes in an array of its own.
   */
  nextBatch(): Promise<IteratorResult<unknown>> {
    return this.#read(true);
  }

  #read(isBatch: boolean): Promise<IteratorResult<unknown>> {
    if (this.#hasReady) {
      if (this.#waiting.length === 0 && !this.#turns.isSpent) return OwnPromise.resolve(this.#takeStep(isBatch));
    } else if (this.#end) return this.#takeEnd();
    const result = new OwnPromise<IteratorResult<unknown>>((resolve, reject) =>
      this.#waiting.push({ isBatch, resolve, reject }),
    );
    if (this.#hasReady) {
      if (!this.#servesAfterMessage) this.#serveLater();
    } else if (!this.#opened) {
      this.#opened = true;
      this.#grant(this.#credit.open());
    }
    return result;
  }

  /** Ends the stream early and drops the values that wait to be read. The promise settles when the producer has ended. */
  return(value?: unknown): Promise<IteratorResult<unknown>> {
    this.#ready = [];
    this.#head = 0;
    if (this.#end) {
      this.#end = { done: undefined };
      return OwnPromise.resolve({ done: true, value });
    }
    const ended = new OwnPromise<IteratorResult<unknown>>((resolve, reject) =>
      // If the producer's `finally` throws, `return()` rejects with that error. A local iterator does the same.
      this.#waiting.push({ isBatch: false, resolve: () => resolve({ done: true, value }), reject }),
    );
    if (!this.#returning) {
      this.#returning = true;
      this.#wire.cancel();
    }
    return ended;
  }

  /** Handles a value that arrived. Returns false if the producer had no credit for it. */
  arrived(value: unknown, bytes: number): boolean {
    if (this.#end) return true;
    if (!this.#credit.arrived(bytes)) return false;
    if (this.#returning) return true;
    this.#ready.push({ value, bytes });
    if (this.#credit.hasMore) this.#grantMore();
    if (this.#waiting[0]?.isBatch) this.#serveAfterMessage();
    else if (this.#waiting.length > 0) this.#serve();
    return true;
  }

  /** Records that the producer ended. `value` is the return value of its generator. */
  ended(value: unknown): void {
    this.#finish({ done: this.#returning ? undefined : value });
  }

  /** Records that the producer failed or was lost. The consumer still gets the values that arrived before. */
  failed(reason: unknown): void {
    this.#finish({ failed: reason });
  }

  #grant(grant: Grant | undefined): void {
    // All of a grant may be withheld until values have arrived.
    if (grant && !this.#end && (grant.items > 0 || grant.bytes > 0)) this.#wire.grant(grant.items, grant.bytes);
  }

  /** Grants the credit that `#credit` has withheld, in this turn if its time allows. */
  #grantMore(): void {
    if (!this.#turns.isSpent) return this.#grant(this.#credit.more());
    if (this.#grantsLater) return;
    this.#grantsLater = true;
    this.#turns.pause(() => {
      this.#grantsLater = false;
      if (this.#credit.hasMore) this.#grant(this.#credit.more());
    });
  }

  #finish(end: End): void {
    if (this.#end) return;
    this.#end = end;
    this.#serve();
  }

  get #hasReady(): boolean {
    return this.#head < this.#ready.length;
  }

  /** Takes the oldest value that arrived. */
  #take(): unknown {
    const { value, bytes } = this.#ready[this.#head] as Arrived;
    this.#ready[this.#head++] = undefined;
    // `shift` would move all waiting values for each value.
    if (this.#head * 2 >= this.#ready.length) {
      this.#ready.splice(0, this.#head);
      this.#head = 0;
    }
    if (this.#waiting.length === 0) this.keepAlive = undefined;
    this.#grant(this.#credit.taken(bytes));
    return value;
  }

  #takeStep(isBatch: boolean): IteratorResult<unknown> | Promise<IteratorResult<unknown>> {
    if (!isBatch) return revive(this.#take(), stepOf);
    // If the code that makes such a value throws, only the read of this value may fail.
    if (this.#isCodedNext) return revive(this.#take(), (value) => stepOf([value]));
    const values: unknown[] = [];
    const granted = this.#credit.left.items;
    // The array ends when the producer gets more credit. The grant then leaves while the reader works on this array, so that both threads
    // work. With both halves of a window in one array, each thread would wait for the other.
    do values.push(this.#take());
    while (
      this.#hasReady &&
      values.length < batchItemsMax &&
      !this.#isCodedNext &&
      this.#credit.left.items === granted
    );
    return stepOf(values);
  }

  get #isCodedNext(): boolean {
    return isCoded(this.#ready[this.#head]!.value);
  }

  /** Serves the readers after the current message, so that an array has all values of the message. */
  #serveAfterMessage(): void {
    if (this.#servesAfterMessage) return;
    this.#servesAfterMessage = true;
    void resolved.then(() => {
      this.#servesAfterMessage = false;
      this.#serve();
    });
  }

  /** Gives the waiting readers the values that arrived, in this turn as far as the time allows, and then the end. */
  #serve(): void {
    if (this.#paused) return;
    while (this.#hasReady && this.#waiting.length > 0) {
      if (this.#turns.isSpent) return this.#serveLater();
      const { isBatch, resolve } = this.#waiting.shift() as Waiter;
      resolve(this.#takeStep(isBatch));
    }
    if (this.#end && !this.#hasReady) {
      this.keepAlive = undefined;
      for (const { resolve, reject } of this.#waiting.splice(0)) this.#takeEnd().then(resolve, reject);
    }
  }

  #serveLater(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#turns.pause(() => {
      this.#paused = false;
      this.#serve();
    });
  }

  // Returns the result or the error of the stream once. After that the iterator is done, like a generator.
  #takeEnd(): Promise<IteratorResult<unknown>> {
    const end = this.#end;
    this.#end = { done: undefined };
    if (end && "failed" in end) return OwnPromise.reject(end.failed);
    return OwnPromise.resolve(revive(end?.done, (value) => ({ done: true, value })));
  }
}

function stepOf(value: unknown): IteratorResult<unknown> {
  return { done: false, value };
}

const resolved = OwnPromise.resolve();
