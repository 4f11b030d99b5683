// SPDX-License-Identifier: MIT OR Apache-2.0
import { SendCredit } from "./credit.js";

/** What a producer asks of its wire. */
export interface ProducerWire {
  /** Posts one value; returns the bytes of binary memory in it. Throws when the value cannot cross. */
  chunk(value: unknown): number;
  end(value: unknown): void;
  fail(reason: unknown): void;
}

type AnyIterator = AsyncIterator<unknown, unknown, void> | Iterator<unknown, unknown, void>;

/**
 * The sending half of a stream: draws from an iterator while there is credit. Draws nothing before the first credit and
 * nothing ahead of it. Always ends with exactly one `end` or `fail`: after the iterator's `finally` has run, or, where a value was
 * refused or the iterator cannot hear that it should stop, without waiting for one that is at work.
 */
export class Producer {
  readonly #iterator: AnyIterator;
  readonly #wire: ProducerWire;
  readonly #credit = new SendCredit();
  #drawing = false;
  /** The iterator is at work on its next value, which may never come. */
  #awaiting = false;
  #refused: { reason: unknown } | undefined;
  #stopping = false;
  #over = false;

  constructor(iterator: AnyIterator, wire: ProducerWire) {
    this.#iterator = iterator;
    this.#wire = wire;
  }

  /** Settled: has ended or failed. */
  get over(): boolean {
    return this.#over;
  }

  grant(items: number, bytes: number): void {
    this.#credit.grant(items, bytes);
    if (!this.#drawing && !this.#over && !this.#stopping) void this.#draw();
  }

  /**
   * The consumer wants no more: runs the iterator's `finally`, then ends. `deaf`: an iterator that is at work hears nothing of it, and
   * may wait for long; its `finally` runs when it comes back, and nobody waits for that.
   */
  stop(deaf = false): void {
    if (this.#over || this.#stopping) return;
    this.#stopping = true;
    // While the iterator is at work, the loop below sees the flag when it comes back.
    if (!this.#drawing) void this.#finish();
    else if (deaf && this.#awaiting) {
      this.#over = true;
      this.#wire.end(undefined);
    }
  }

  /** A value that was sent could not cross: the iterator is closed, and the stream fails with that. */
  refuse(reason: unknown): void {
    if (this.#over || this.#refused) return;
    this.#refused = { reason };
    if (!this.#awaiting) return this.stop();
    this.#stopping = true;
    // Its `finally` runs when it comes back: nobody need wait for that to hear of the failure.
    this.#over = true;
    this.#wire.fail(reason);
  }

  async #draw(): Promise<void> {
    this.#drawing = true;
    try {
      while (this.#credit.maySend && !this.#stopping) {
        let step = this.#iterator.next();
        // A synchronous generator is not made to wait a turn for each value.
        if (isThenable(step)) {
          this.#awaiting = true;
          step = await step;
          this.#awaiting = false;
        }
        if (step.done) {
          // A getter may throw, or stop this stream: read while the failure can still be told.
          const { value } = step;
          this.#drawing = false;
          if (this.#over) return;
          this.#over = true;
          return this.#wire.end(value);
        }
        if (this.#stopping) break;
        this.#credit.spend(this.#wire.chunk(step.value));
      }
    } catch (reason) {
      this.#awaiting = false;
      // Closing may take a while: neither a grant nor a stop that comes meanwhile may end the stream without the error.
      this.#stopping = true;
      this.#drawing = false;
      // The iterator threw, and is done; or a value could not cross, and the iterator must still be closed.
      return this.#finish({ reason });
    }
    this.#drawing = false;
    if (this.#stopping) await this.#finish();
  }

  // Runs the iterator's `finally`. Of two errors the first is the one to tell.
  async #finish(failure?: { reason: unknown }): Promise<void> {
    let told = this.#refused ?? failure;
    try {
      await this.#iterator.return?.();
    } catch (reason) {
      told ??= { reason };
    }
    if (this.#over) return;
    this.#over = true;
    if (!told) this.#wire.end(undefined);
    else this.#wire.fail(told.reason);
  }
}

function isThenable<T>(value: T | Promise<T> | PromiseLike<T>): value is Promise<T> | PromiseLike<T> {
  return typeof (value as { then?: unknown }).then === "function";
}

/** The iterator of an async or sync iterable; undefined when the value is neither (strings do not count). */
export function iteratorOf(value: unknown): AnyIterator | undefined {
  if (value === null || typeof value !== "object") return undefined;
  const source = value as Partial<AsyncIterable<unknown, unknown, void> & Iterable<unknown, unknown, void>>;
  return source[Symbol.asyncIterator]?.() ?? source[Symbol.iterator]?.();
}
