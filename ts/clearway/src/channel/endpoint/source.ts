// SPDX-License-Identifier: MIT OR Apache-2.0

import { ClearwayError } from "../../error/clearway-error.js";
import { newAbortController, OwnPromise } from "../../globals.js";
import { asyncIteratorOf } from "../../host/async-iterable.js";
import { type Budget, turnBudget } from "../../transport/turn-budget.js";
import { Status } from "../wire/frame.js";
import { bytesOf, type Encoded, type OutgoingValue } from "./outgoing-value.js";
import { type ByteBudget, type QueueLimits, SourceQueue } from "./source-queue.js";

/** Sends a source's events to one listener. */
export interface EventSink<T = unknown> {
  /** The channel's name. */
  readonly channel: string;
  /** Aborts when the listener has cancelled, or the transport has closed. */
  readonly signal: AbortSignal;
  /**
   * Sends an event. Encodes the event at once and moves its large lists.
   *
   * Resolves to true when the event has been sent or waits in the queue. Resolves to false if the event was dropped or the
   * stream is over. If the queue is full, `whenFull` decides: the promise waits for room, the promise rejects with
   * `queue-full`, or an event is dropped. Rejects with the codec's error if the codec cannot encode the event. Rejects with
   * `queue-full` if 1024 calls already wait, or if a call waits and the events for this peer take `replyBytesMax` bytes.
   *
   * If no code handles a rejection with `queue-full` or `too-large`, the event is lost and the process goes on: the listener
   * causes them.
   *
   * A loop that awaits its calls lets the event loop turn after 2 ms, whatever the listener chose for a full queue.
   */
  send(event: T): Promise<boolean>;
  /** Ends the stream after the events sent so far. */
  end(): void;
  /** Ends the stream with an error, after the events sent so far. */
  fail(error: unknown): void;
}

/** Encodes and sends the events of one source. */
export interface SourceWire {
  encode(event: unknown): Encoded;
  event(message: Encoded, dropped: number): void;
  end(status: Status, error: unknown, dropped: number): void;
  /** Reports an error that no listener receives. */
  report(error: unknown): void;
  /** Counts the bytes that wait for the same peer. */
  readonly budget?: ByteBudget;
  /** Whether the transport is congested. */
  congested(): boolean;
}

// Maximum number of `send` calls that may wait for room in one stream. A source that exceeds it does not await its calls.
const waitersMax = 1024;

/** One listener's stream, at the serving end. A stream ends once. */
export class Source implements EventSink {
  readonly queue: SourceQueue<Encoded>;
  readonly #wire: SourceWire;
  readonly #limits: QueueLimits;
  readonly #controller = newAbortController();
  readonly #onEnded: () => void;
  readonly #turns: Budget;
  /** Sends that wait for room, in order. */
  #waiters: { message: Encoded; bytes: number; settle: (taken: boolean) => void }[] = [];
  /** The end of the stream. It is sent after all events. */
  #ending: { status: Status; error: unknown } | undefined;
  #ended = false;
  /** Whether the transport has had room since the last value of an iterable. Others may have filled it before the source runs. */
  #hadRoom = false;
  /** Resolves the promise of a waiting `#waitToPull`. */
  #resumePump = (): void => {};

  constructor(
    readonly channel: string,
    limits: QueueLimits,
    wire: SourceWire,
    onEnded: () => void,
    turns: Budget = turnBudget,
  ) {
    this.#turns = turns;
    this.queue = new SourceQueue(limits, wire.budget);
    this.#limits = limits;
    this.#wire = wire;
    this.#onEnded = onEnded;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Whether events wait. */
  get waits(): boolean {
    return this.queue.length + this.#waiters.length > 0;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  send(event: unknown): Promise<boolean> {
    try {
      return OwnPromise.resolve(this.#send(event));
    } catch (reason) {
      const refused = OwnPromise.reject(reason);
      // The listener chooses these limits. It must not be able to end the process of a source that awaits nothing.
      if (hasCode(reason, "queue-full", "too-large")) refused.catch(() => {});
      return refused;
    }
  }

  #send(event: unknown): boolean | Promise<boolean> {
    if (this.#over) return false;
    const { message, bytes } = this.#encode(event);
    const { length } = this.#waiters;
    const taken = length > 0 ? "full" : this.queue.push(message, bytes);
    if (taken !== "full") {
      if (taken === "taken") {
        this.drain();
        if (message.value) this.#keep(message.value);
      }
      return this.#turns.isSpent ? this.#nextTurn().then(() => taken === "taken") : taken === "taken";
    }
    if (this.#limits.whenFull === "fail")
      throw new ClearwayError("queue-full", `${this.channel}: the listener is ${this.#limits.capacity} events behind`);
    if (length >= waitersMax || (length > 0 && this.queue.overBudget))
      throw new ClearwayError("queue-full", `${this.channel}: ${length} sends wait; await them`);
    message.value?.hold();
    return new OwnPromise((settle) => this.#wait(message, bytes, settle));
  }

  #wait(message: Encoded, bytes: number, settle: (taken: boolean) => void): void {
    // A getter of the event may have ended the stream.
    if (this.#ended) return settle(false);
    this.queue.charge(bytes);
    this.#waiters.push({ message, bytes, settle });
  }

  // Clones an event that waits for credit, because the source may change it meanwhile. Throws if the event cannot cross. An event that has
  // left needs no clone.
  #keep(value: OutgoingValue): void {
    if (value.failed) throw value.failed.reason;
    if (value.left) return;
    try {
      value.hold();
    } catch (reason) {
      value.failed = { reason };
      throw reason;
    }
  }

  end(): void {
    this.#finish(Status.done, undefined);
  }

  fail(error: unknown): void {
    this.#finish(Status.error, error);
  }

  /** Sends all events that may leave now. */
  drain(): void {
    while (!this.#ended && !this.#wire.congested()) {
      while (this.#waiters.length > 0 && this.queue.room) {
        const { message, bytes, settle } = this.#waiters.shift()!;
        this.queue.release(bytes);
        this.queue.push(message, bytes);
        settle(true);
      }
      const next = this.queue.next();
      if (next === undefined) break;
      const { value } = next.value;
      if (value?.failed) {
        this.queue.skip(next);
        continue;
      }
      try {
        this.#wire.event(next.value, next.dropped);
        if (value) value.left = true;
      } catch (reason) {
        if (value && hasCode(reason, "not-cloneable")) {
          // `send` throws the reason. The stream goes on without the event, as it does if a codec refuses one.
          value.failed = { reason };
          this.queue.skip(next);
          continue;
        }
        // The event does not fit into a frame. The stream ends with an error, because later events would hide the gap.
        return this.#close(Status.error, reason);
      }
    }
    if (this.#ending && !this.#ended && !this.waits && !this.#wire.congested())
      this.#close(this.#ending.status, this.#ending.error);
    if (!this.#mayPull) return;
    this.#hadRoom = true;
    this.#resumePump();
  }

  /**
   * Ends the stream because its listener has gone, or because this end closes. If `status` is given, the other end receives it, and the
   * reason if it is an error.
   */
  cancel(reason: unknown, status?: Status): void {
    if (this.#ended) return;
    if (status !== undefined) this.#wire.end(status, reason, this.queue.dropped);
    this.#stop(reason);
  }

  /**
   * Reads an iterable and sends its values. Requests a value only when no event waits, there is credit, and the transport is not
   * congested, or was not since the last value. Closes the iterator unless the iterator has ended. Never rejects.
   */
  async pump(events: AsyncIterable<unknown> | Iterable<unknown>): Promise<void> {
    let iterator: AsyncIterator<unknown> | Iterator<unknown>;
    try {
      iterator = asyncIteratorOf(events)?.call(events) ?? (events as Iterable<unknown>)[Symbol.iterator]();
      if (typeof iterator?.next !== "function") {
        // The object is not an iterator, but may be a promise: async methods return one. Awaiting it lets `fail` report its
        // rejection.
        await iterator;
        throw new TypeError("what the iterable gave has no next()");
      }
    } catch (error) {
      return this.fail(error);
    }
    let open = true;
    const close = async (): Promise<void> => {
      if (!open) return;
      open = false;
      try {
        await iterator.return?.();
      } catch (error) {
        this.#wire.report(error);
      }
    };
    this.signal.addEventListener("abort", close, { once: true });
    try {
      // `#mayPull` comes first, so that values of a synchronous generator do not wait for a microtask each.
      while (this.#mayPull || (await this.#waitToPull())) {
        this.#hadRoom = false;
        const given = iterator.next();
        const step = "then" in given ? await given : given;
        if (step.done) open = false;
        if (step.done || this.#over) break;
        // The value does not go through `queue.push`. Pushed events may have filled the queue meanwhile, and a value that was
        // taken from the iterator must not be lost.
        const { message, bytes } = this.#encode(step.value);
        this.#wait(message, bytes, () => {});
        this.drain();
        if (message.value) this.#keep(message.value);
        if (this.#turns.isSpent) await this.#nextTurn();
      }
      this.end();
    } catch (error) {
      this.fail(error);
    }
    this.signal.removeEventListener("abort", close);
    await close();
  }

  /** Waits until the next value may be requested, then resolves to true. Resolves to false if the stream is over. */
  async #waitToPull(): Promise<boolean> {
    while (!this.#mayPull && !this.#over) await new OwnPromise<void>((resolve) => (this.#resumePump = resolve));
    return !this.#over;
  }

  /**
   * Waits for the next turn of the event loop, because streams have used up the time of this one. Without this, a source that never waits
   * would block its thread: where events are dropped, and on the plain wire, there is always room.
   */
  #nextTurn(): Promise<void> {
    return new OwnPromise((resolve) => this.#turns.pause(resolve));
  }

  get #mayPull(): boolean {
    const room = this.#hadRoom || !this.#wire.congested();
    return room && !this.waits && !this.#over && this.queue.credit.maySend;
  }

  #encode(event: unknown): { message: Encoded; bytes: number } {
    const message = this.#wire.encode(event);
    return { message, bytes: bytesOf(message) };
  }

  get #over(): boolean {
    return this.#ended || this.#ending !== undefined;
  }

  #finish(status: Status, error: unknown): void {
    if (this.#over) return;
    this.#ending = { status, error };
    this.drain();
  }

  #close(status: Status, error: unknown): void {
    this.#wire.end(status, error, this.queue.dropped);
    this.#stop(new ClearwayError("cancelled", `${this.channel}: the stream has ended`));
  }

  #stop(reason: unknown): void {
    this.#ended = true;
    const waiters = this.#waiters.splice(0);
    for (const { bytes } of waiters) this.queue.release(bytes);
    this.queue.clear();
    this.#controller.abort(reason);
    for (const { settle } of waiters) settle(false);
    this.#resumePump();
    this.#onEnded();
  }
}

function hasCode(reason: unknown, ...codes: readonly string[]): boolean {
  return reason instanceof ClearwayError && codes.includes(reason.code);
}
