// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { type FrameParts, Op, Status, whenFullShift } from "../wire/frame.js";
import type { Head } from "./calls.js";
import { type Connection, nothing } from "./connection.js";
import { limitsFor } from "./options.js";
import type { Encoded, Received } from "./outgoing-value.js";
import type { StreamRequest } from "./request-router.js";
import { Source, type SourceWire } from "./source.js";
import type { QueueLimits } from "./source-queue.js";

/** Limits and functions to serve a channel's events. */
export interface Serving {
  readonly limits: QueueLimits;
  encode(event: unknown): Encoded;
  /**
   * Starts the stream. Returns a promise that settles when all code of the source has ended, and never rejects. Returns
   * undefined if no code of the source runs.
   */
  begin(source: Source, args: Received): Promise<void> | undefined;
}

/** A stream that the other end asked for, on Clearway's wire. */
export class RequestedStream implements StreamRequest {
  readonly #publishers: Publishers;
  /** Credit that the other end granted before the stream began, in events and in bytes. */
  items: number;
  bytes: number;
  /** Limits of the queue that the listener asked for. 0 means that it left the choice to this end. */
  readonly limits: { capacity: number; policy: number };

  constructor(
    sources: Publishers,
    readonly id: number,
    readonly channel: string,
    readonly args: Received,
    frame: Head,
  ) {
    this.#publishers = sources;
    this.items = frame.a;
    this.bytes = frame.b;
    this.limits = { capacity: frame.c, policy: frame.flags >>> whenFullShift };
  }

  refuse(status: Status): void {
    this.#publishers.refuse(this, status);
  }

  serve(serving: Serving): void {
    this.#publishers.serve(this, serving);
  }
}

/** The owner of the publishers. It sends the frames that end streams, and keeps the requests that wait for their handlers. */
interface PublishersOwner {
  /**
   * Sends a frame. Until the frame has been sent, its bytes count towards the limit of replies that wait for the other end.
   * Never throws.
   */
  reply(parts: FrameParts, message?: Encoded): void;
}

/** Event streams that this end serves, on Clearway's wire. */
export class Publishers {
  readonly #connection: Connection;
  readonly #owner: PublishersOwner;
  /** Requested streams that have not begun, by id. `#open` has the streams that have begun. */
  readonly #requested = new Map<number, RequestedStream>();
  readonly #open = new Map<number, Source>();
  /**
   * Streams whose source still runs, with or without a listener. A stream counts against `callsMax` until all code of its source
   * has ended, even if the stream itself has ended before.
   */
  readonly #running = new Set<Source>();

  constructor(connection: Connection, owner: PublishersOwner) {
    this.#connection = connection;
    this.#owner = owner;
  }

  get size(): number {
    return this.#open.size + this.#requested.size;
  }

  /** Registers a request for a stream. Returns undefined if the other end may not open the stream. */
  request(frame: Head, channel: string, args: Received): RequestedStream | undefined {
    const { id } = frame;
    if (this.#requested.has(id) || this.#open.has(id)) {
      this.#connection.broken(`two streams of number ${id}`);
      return undefined;
    }
    const requested = new RequestedStream(this, id, channel, args, frame);
    this.#requested.set(id, requested);
    let count = this.size;
    for (const source of this.#running) if (source.ended) count++;
    if (count <= this.#connection.settings.callsMax) return requested;
    requested.refuse(Status.busy);
    return undefined;
  }

  serve(requested: RequestedStream, { limits, encode, begin }: Serving): void {
    if (!this.#take(requested)) return;
    const { id, channel } = requested;
    const connection = this.#connection;
    const wire: SourceWire = {
      encode,
      event: (message, dropped) => connection.send({ op: Op.event, id, a: dropped }, message),
      end: (status, error, dropped) => {
        const body = status === Status.error ? connection.errorBody(error, channel) : nothing;
        this.#owner.reply({ op: Op.end, id, a: status, b: dropped }, body);
      },
      report: (error) => connection.report(error, channel),
      budget: connection.queued,
      congested: () => connection.congested,
    };
    const source = new Source(channel, limitsFor(requested.limits, limits), wire, () => this.#open.delete(id));
    source.queue.credit.grant(requested.items, requested.bytes);
    this.#open.set(id, source);
    const running = begin(source, requested.args);
    if (running === undefined) return;
    this.#running.add(source);
    void running.then(() => this.#running.delete(source));
  }

  refuse(requested: RequestedStream, status: Status): void {
    if (this.#take(requested)) this.#owner.reply({ op: Op.end, id: requested.id, a: status });
  }

  credit({ id, a, b }: Head): void {
    const source = this.#open.get(id);
    if (source) {
      source.queue.credit.grant(a, b);
      return source.drain();
    }
    const requested = this.#requested.get(id);
    if (requested === undefined) return;
    requested.items += a;
    requested.bytes += b;
  }

  /** Cancels a stream because its listener has cancelled it. Returns the stream if it has not begun. */
  cancel(id: number): RequestedStream | undefined {
    this.#open.get(id)?.cancel(new ClearwayError("cancelled", "the listener has cancelled"));
    const requested = this.#requested.get(id);
    this.#requested.delete(id);
    return requested;
  }

  /** Sends waiting events. The owner calls this when the transport has room again. */
  drain(): void {
    for (const source of [...this.#open.values()]) source.drain();
  }

  /** Ends all streams that have begun, because this end closes. */
  finish(): void {
    for (const source of [...this.#open.values()])
      source.cancel(this.#connection.closedError("closing"), Status.cancelled);
  }

  closed(): void {
    this.#requested.clear();
    for (const source of [...this.#open.values()])
      source.cancel(this.#connection.closedError(`events of ${source.channel}`));
  }

  /**
   * Removes a stream that has not begun. Returns false if the stream was removed before. By then, another stream may
   * have the same number. That stream is not removed.
   */
  #take(requested: RequestedStream): boolean {
    return this.#requested.get(requested.id) === requested && this.#requested.delete(requested.id);
  }
}
