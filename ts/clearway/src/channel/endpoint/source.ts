// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";
import { ClearwayError } from "../../error/clearway-error.js";
import { Status } from "../wire/frame.js";
import type { Encoded } from "./link.js";
import { type QueueLimits, SourceQueue } from "./source-queue.js";

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

  constructor(
    readonly channel: string,
    limits: QueueLimits,
    wire: SourceWire,
    onEnded: () => void,
  ) {
    this.queue = new SourceQueue(limits);
    this.#limits = limits;
    this.#wire = wire;
    this.#onEnded = onEnded;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async send(event: unknown): Promise<boolean> {
    if (this.#over) return false;
    const message = this.#wire.encode(event);
    const bytes = message.body.length + (message.attachments?.list.reduce((sum, each) => sum + each.length, 0) ?? 0);
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
  }

  /** Nobody listens any more; `status` tells the listener, where it is to be told. */
  cancel(reason: unknown, status?: Status): void {
    if (this.#ended) return;
    if (status !== undefined) this.#wire.end(status, undefined, this.queue.dropped);
    this.#stop(reason);
  }

  /** Draws the values of an iterable, one when the one before is on its way. */
  async pump(events: AsyncIterable<unknown> | Iterable<unknown>): Promise<void> {
    const iterator = Symbol.asyncIterator in events ? events[Symbol.asyncIterator]() : events[Symbol.iterator]();
    const stop = async (): Promise<void> => {
      try {
        await iterator.return?.();
      } catch (error) {
        this.#wire.report(error);
      }
    };
    if (this.signal.aborted) return stop();
    this.signal.addEventListener("abort", stop, { once: true });
    try {
      for (;;) {
        const step = await iterator.next();
        if (step.done || this.#over) break;
        // A source without a pause of its own would never let the credit in.
        if (!(await this.send(step.value))) await new Promise<void>((resolve) => afterMessages(resolve));
      }
      this.end();
    } catch (error) {
      this.fail(error);
    } finally {
      this.signal.removeEventListener("abort", stop);
    }
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
    this.#onEnded();
  }
}
