// SPDX-License-Identifier: MIT OR Apache-2.0
import { clock, OwnPromise } from "../globals.js";
import { asyncIteratorOf } from "../host/async-iterable.js";
import type { Transport } from "../transport/port.js";
import type { Budget } from "../transport/turn-budget.js";
import { SendCredit } from "./credit.js";

/**
 * How many microtasks a value of an async iterator waits for the next value. An async generator takes 3 microtasks for a value that it
 * has, and 6 if it reads another async generator. A microtask takes about 25 ns, so a value that comes alone waits for 0.3 us.
 */
export const lingerMicrotasks = 12;

/**
 * Gathers the values of an async iterator into one message, although each value comes in a later tick.
 *
 * The end of a tick usually flushes the transport. Between `hold` and the end of the wait, frames of any kind stay in the transport. Its
 * `flush` still sends them at once.
 */
export class Linger {
  readonly #transport: Pick<Transport, "scheduled" | "flush">;
  #left = 0;

  constructor(transport: Pick<Transport, "scheduled" | "flush">) {
    this.#transport = transport;
  }

  /** Delays the next flush, or delays it further. Call it before each value. Does nothing if a flush is due at the end of this tick. */
  hold(): void {
    if (this.#left === 0) {
      if (this.#transport.scheduled) return;
      this.#transport.scheduled = true;
      void resolved.then(this.#wait);
    }
    this.#left = lingerMicrotasks;
  }

  readonly #wait = (): void => {
    this.#left--;
    if (this.#left > 0) return void resolved.then(this.#wait);
    this.#transport.scheduled = false;
    this.#transport.flush();
  };
}

const resolved = OwnPromise.resolve();

/** The messages that a producer sends to its consumer. */
export interface ProducerWire {
  /** Carries the messages. */
  readonly transport: Pick<Transport, "scheduled" | "flush" | "hurry">;
  /**
   * Posts one value. `weigh` returns its weight, which counts as bytes of the value unless the ring carries it. Returns the bytes for which
   * the consumer gives credit back. Throws if the value cannot be sent to another thread.
   */
  chunk(value: unknown, weigh: (value: unknown) => number): number;
  end(value: unknown): void;
  fail(reason: unknown): void;
}

type AnyIterator = AsyncIterator<unknown, unknown, void> | Iterator<unknown, unknown, void>;

/**
 * The sending half of a stream. Reads values from an iterator while it has credit, and posts them.
 *
 * Reads nothing before the first credit, and never reads ahead of its credit. Sends exactly one `end` or `fail`, normally after the
 * iterator's `finally` has run. There are two exceptions: a value was refused, or the iterator cannot learn that it should stop. The
 * producer then ends without waiting for a pending `next()`.
 */
export class Producer {
  readonly #iterator: AnyIterator;
  readonly #wire: ProducerWire;
  readonly #credit = new SendCredit();
  readonly #linger: Linger;
  readonly #turns: Budget | undefined;
  #pulling = false;
  /** True while the iterator's `next()` is pending. A `next()` may never settle. */
  #awaiting = false;
  #refused: { reason: unknown } | undefined;
  #stopping = false;
  /** Settles when the iterator has closed, if `#close` was called while its `next()` was pending. */
  #closed: Promise<unknown> | undefined;
  #over = false;

  /** With a budget, the iterator goes on in the next turn of the event loop when the thread's time for streams is spent. */
  constructor(iterator: AnyIterator, wire: ProducerWire, turns?: Budget) {
    this.#iterator = iterator;
    this.#wire = wire;
    this.#turns = turns;
    this.#linger = new Linger(wire.transport);
  }

  /** Whether the stream has ended or failed. */
  get over(): boolean {
    return this.#over;
  }

  grant(items: number, bytes: number): void {
    this.#credit.grant(items, bytes);
    if (!this.#pulling && !this.#over && !this.#stopping) void this.#pull();
  }

  /**
   * Stops the stream for a consumer that wants no more values: runs the iterator's `finally`, then ends. A generator whose `next()` is pending
   * closes when that has settled. Other iterators, such as those of streams and of events, may close at once.
   *
   * Pass true for `withoutWaiting` if the iterator cannot learn of the stop while its `next()` is pending, which may take long. The stream
   * then ends after a few microtasks, in which the `next()` of a generator that has a value settles. Otherwise the iterator's `finally` runs
   * after the end, when `next()` has settled.
   */
  stop(withoutWaiting = false): void {
    if (this.#over || this.#stopping) return;
    this.#stopping = true;
    // If `#pull` is running, its loop finds the flag after the current step.
    if (!this.#pulling) return void this.#finish();
    if (this.#awaiting) this.#close();
    if (withoutWaiting) void this.#endWithoutWaiting();
  }

  #close(): void {
    this.#closed = (async () => this.#iterator.return?.())();
    this.#closed.catch(Boolean); // `#finish` reports it, if the stream is not over.
  }

  async #endWithoutWaiting(): Promise<void> {
    for (let left = lingerMicrotasks; left > 0 && this.#awaiting; left--) await undefined;
    if (this.#over || !this.#awaiting) return;
    this.#over = true;
    this.#wire.end(undefined);
  }

  /** Handles a posted value that could not be sent: closes the iterator and fails the stream with that reason. */
  refuse(reason: unknown): void {
    if (this.#over || this.#refused) return;
    this.#refused = { reason };
    if (!this.#awaiting) return this.stop();
    this.#stopping = true;
    // The consumer receives the failure without waiting for the pending `next()`.
    this.#over = true;
    this.#close();
    this.#wire.fail(reason);
  }

  async #pull(): Promise<void> {
    this.#pulling = true;
    try {
      while (this.#credit.maySend && !this.#stopping) {
        if (this.#turns?.isSpent) {
          this.#wire.transport.flush();
          await new OwnPromise<void>((next) => this.#turns?.pause(next));
          // Then one value in any case. Sources before this one may use up the time of every turn, for as long as they have values.
          if (this.#stopping) break;
        }
        let step = this.#iterator.next();
        let isAsync = false;
        // Awaits only promises, so that a synchronous generator does not wait one turn for each value.
        if (isThenable(step)) {
          isAsync = this.#awaiting = true;
          step = await step;
          this.#awaiting = false;
        }
        if (Object(step) !== step) throw new TypeError("next() must return an object");
        if (step.done) {
          // Reads `value` before the stream counts as over. A getter may throw, and the consumer must still receive that failure. A getter
          // may also stop this stream.
          const { value } = step;
          this.#pulling = false;
          if (this.#over) return;
          this.#over = true;
          return this.#wire.end(value);
        }
        if (this.#stopping) break;
        if (isAsync) this.#linger.hold();
        const bytes = this.#wire.chunk(step.value, weightOf);
        this.#credit.spend(bytes);
        // The iterator may go on without letting this thread's turn end.
        this.#wire.transport.hurry(clock(), bytes);
      }
    } catch (reason) {
      this.#awaiting = false;
      // Closing the iterator may take a while. A grant or a stop that arrives in the meantime must not end the stream without the error.
      this.#stopping = true;
      this.#pulling = false;
      // Either the iterator threw and is done, or a value could not be sent and the iterator must still be closed.
      return this.#finish({ reason });
    }
    this.#pulling = false;
    if (this.#stopping) await this.#finish();
  }

  // Runs the iterator's `finally` and ends the stream. If two errors occurred, reports the first one.
  async #finish(failure?: { reason: unknown }): Promise<void> {
    let firstError = this.#refused ?? failure;
    try {
      await (this.#closed ?? this.#iterator.return?.());
    } catch (reason) {
      firstError ??= { reason };
    }
    if (this.#over) return;
    this.#over = true;
    if (!firstError) this.#wire.end(undefined);
    else this.#wire.fail(firstError.reason);
  }
}

function isThenable<T>(value: T | Promise<T> | PromiseLike<T>): value is Promise<T> | PromiseLike<T> {
  return typeof (value as { then?: unknown }).then === "function";
}

/** Returns the iterator of an async or sync iterable. Returns undefined for all other values, including strings. */
export function iteratorOf(value: unknown): AnyIterator | undefined {
  if (value === null || typeof value !== "object") return undefined;
  return asyncIteratorOf(value)?.call(value) ?? (value as Partial<Iterable<unknown>>)[Symbol.iterator]?.();
}

/**
 * Bytes that a node (a property, element or entry) counts. Structured clone reads about five nodes in a microsecond, so a window of 1 MiB
 * holds nodes for 3 ms.
 */
const nodeBytes = 64;

/** Values up to this size weigh nothing: 1,024 of them take a turn of the event loop about a millisecond. */
const freeBytes = 1024;

/** Maximum number of nodes that are counted. */
const nodesMax = 10_000;

/** The weight of a value with more nodes: by default, no second value may then be in flight. */
export const weightMax = 1 << 20;

/**
 * Estimates how many bytes structured clone reads for a value, without its binary memory. A stream counts them against `window.bytes`, so
 * that few large values are in flight: one turn of the reader's event loop may have to receive them all.
 *
 * Reads each property, as structured clone does. Visits at most 10,000 nodes. Returns 0 for small values, and for a value that cannot be
 * read. Allocates a list of the objects in it.
 */
export function weightOf(value: unknown): number {
  try {
    const bytes = typeof value === "string" ? value.length : bytesOf(value);
    return bytes > freeBytes ? Math.min(bytes, weightMax) : 0;
  } catch {
    // A getter or a trap threw. The transport reports that when it reads the value.
    return 0;
  }
}

function bytesOf(root: unknown): number {
  if (typeof root !== "object" || root === null) return 0;
  let waiting: object[] | undefined;
  let nodes = 0;
  let textLength = 0;
  const count = (value: unknown): void => {
    nodes++;
    if (typeof value === "string") textLength += value.length;
    else if (typeof value === "object" && value !== null) {
      // Most values are objects of a few primitives. For these, the search allocates no list.
      waiting ??= [];
      waiting.push(value);
    }
  };
  for (let object: object | undefined = root; object !== undefined; object = waiting?.pop()) {
    if (ArrayBuffer.isView(object)) continue;
    if (Array.isArray(object)) {
      const { length } = object;
      if (length > nodesMax) return weightMax;
      // By index, as structured clone reads it: an array may have an iterator of its own, which may never end.
      for (let at = 0; at < length; at++) count(object[at]);
    } else if (object instanceof Map) {
      if (object.size > nodesMax) return weightMax;
      Map.prototype.forEach.call(object, (value, key) => {
        count(value);
        count(key);
      });
    } else if (object instanceof Set) {
      if (object.size > nodesMax) return weightMax;
      Set.prototype.forEach.call(object, count);
    } else {
      for (const key in object) {
        count((object as Record<string, unknown>)[key]);
        if (nodes > nodesMax) return weightMax;
      }
    }
    // Also ends the search of a value that contains itself.
    if (nodes > nodesMax) return weightMax;
  }
  return nodes * nodeBytes + textLength;
}
