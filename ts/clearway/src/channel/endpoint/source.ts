// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { Status } from "../wire/frame.js";
import type { Encoded } from "./link.js";
import { type QueueCharge, type QueueLimits, SourceQueue } from "./source-queue.js";

/** What the one who serves events is given beside the listener's arguments. */
export interface EventSink<T = unknown> {
  /** The channel's name. */
  readonly channel: string;
  /** Aborts when the listener has cancelled, or the transport is closed. */
  readonly signal: AbortSignal;
  /**
   * Sends an event: encodes it at once and moves its large lists. Settles true when it is on its way or waits for credit, false
   * when it was dropped or nobody listens any more. When the queue is full, it waits for room, or rejects with `queue-full`, as
   * `whenFull` says. Throws what the codec throws.
   */
  send(event: T): Promise<boolean>;
  /** Ends the stream behind what was sent. */
  end(): void;
  /** Ends the stream with an error, behind what was sent. */
  fail(error: unknown): void;
}

/** Where a source's events go. */
export interface SourceWire {
  encode(event: unknown): Encoded;
  event(message: Encoded, dropped: number): void;
  end(status: Status, error: unknown, dropped: number): void;
  /** An error that no listener can be told. */
  report(error: unknown): void;
  /** What waits for the same peer. */
  readonly charge?: QueueCharge;
  /** Whether the transport asks to hold back. */
  held(): boolean;
}

// So many `send`s may wait for room in one stream; more is a source that does not wait for them.
const waitersMax = 1024;

/** One listener's stream, at the end that serves it. Ends once. */
export class Source implements EventSink {
  readonly queue: SourceQueue<Encoded>;
  readonly #wire: SourceWire;
  readonly #limits: QueueLimits;
  readonly #controller = new AbortController();
  readonly #onEnded: () => void;
  /** Sends that wait for room, in their order. */
  #waiters: { message: Encoded; bytes: number; settle: (taken: boolean) => void }[] = [];
  /** What ends the stream when all has left. */
  #ending: { status: Status; error: unknown } | undefined;
  #ended = false;
  /** Wakes whoever waits to draw. */
  #draw = (): void => {};

  constructor(
    readonly channel: string,
    limits: QueueLimits,
    wire: SourceWire,
    onEnded: () => void,
  ) {
    this.queue = new SourceQueue(limits, wire.charge);
    this.#limits = limits;
    this.#wire = wire;
    this.#onEnded = onEnded;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async send(event: unknown): Promise<boolean> {
    if (this.#over) return false;
    const { message, bytes } = this.#encode(event);
    const taken = this.#waiters.length > 0 ? "full" : this.queue.push(message, bytes);
    if (taken !== "full") {
      this.drain();
      return taken === "taken";
    }
    if (this.#limits.whenFull === "fail")
      throw new ClearwayError("queue-full", `${this.channel}: the listener is ${this.#limits.capacity} events behind`);
    if (this.#waiters.length >= waitersMax)
      throw new ClearwayError("queue-full", `${this.channel}: ${waitersMax} sends wait already; await them`);
    return new Promise((settle) => this.#waiters.push({ message, bytes, settle }));
  }

  end(): void {
    this.#finish(Status.done, undefined);
  }

  fail(error: unknown): void {
    this.#finish(Status.error, error);
  }

  /** Sends what may leave. */
  drain(): void {
    while (!this.#ended && !this.#wire.held()) {
      while (this.#waiters.length > 0 && this.queue.room) {
        const { message, bytes, settle } = this.#waiters.shift()!;
        this.queue.push(message, bytes);
        settle(true);
      }
      const next = this.queue.next();
      if (next === undefined) break;
      try {
        this.#wire.event(next.value, next.dropped);
      } catch (reason) {
        // An event that no frame can hold: what waits behind it is not sent as if it had never been.
        return this.#close(Status.error, reason);
      }
    }
    const empty = this.queue.length === 0 && this.#waiters.length === 0;
    if (this.#ending && !this.#ended && empty && !this.#wire.held())
      this.#close(this.#ending.status, this.#ending.error);
    if (this.#mayDraw) this.#draw();
  }

  /** Nobody listens any more; `status` tells the listener, where it is to be told. */
  cancel(reason: unknown, status?: Status): void {
    if (this.#ended) return;
    if (status !== undefined) this.#wire.end(status, undefined, this.queue.dropped);
    this.#stop(reason);
  }

  /**
   * Draws the values of an iterable, each when it may leave at once: nothing waits, the transport does not hold back, and there
   * is credit. Closes the iterator, unless it has ended. Never rejects.
   */
  async pump(events: AsyncIterable<unknown> | Iterable<unknown>): Promise<void> {
    let iterator: AsyncIterator<unknown> | Iterator<unknown>;
    try {
      iterator = Symbol.asyncIterator in events ? events[Symbol.asyncIterator]() : events[Symbol.iterator]();
      if (typeof iterator?.next !== "function") {
        // A promise of one, as an async method gives: what it rejects with is told here, and nowhere else.
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
      // A synchronous generator is not made to wait a turn for each value.
      while (this.#mayDraw || (await this.#turn())) {
        const given = iterator.next();
        const step = "then" in given ? await given : given;
        if (step.done) open = false;
        if (step.done || this.#over) break;
        // What pushed events found full meanwhile is no reason to lose what was drawn.
        this.#waiters.push({ ...this.#encode(step.value), settle: () => {} });
        this.drain();
      }
      this.end();
    } catch (error) {
      this.fail(error);
    }
    this.signal.removeEventListener("abort", close);
    await close();
  }

  /** Settles true when the next value may be drawn, false when no more are wanted. */
  async #turn(): Promise<boolean> {
    while (!this.#mayDraw && !this.#over) await new Promise<void>((resolve) => (this.#draw = resolve));
    return !this.#over;
  }

  get #mayDraw(): boolean {
    const empty = this.queue.length + this.#waiters.length === 0;
    return empty && !this.#over && this.queue.credit.maySend && !this.#wire.held();
  }

  #encode(event: unknown): { message: Encoded; bytes: number } {
    const message = this.#wire.encode(event);
    const beside = message.attachments?.list.reduce((sum, each) => sum + each.length, 0) ?? 0;
    return { message, bytes: message.body.length + beside };
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
    this.queue.clear();
    this.#controller.abort(reason);
    for (const { settle } of this.#waiters.splice(0)) settle(false);
    this.#draw();
    this.#onEnded();
  }
}
