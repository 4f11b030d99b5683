// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { type Frame, type FrameParts, Op, Status, whenFullShift } from "../wire/frame.js";
import { type Connection, type Encoded, nothing, type Received } from "./connection.js";
import { limitsFor } from "./listen-options.js";
import type { Asked } from "./request-router.js";
import { Source, type SourceWire } from "./source.js";
import type { QueueLimits } from "./source-queue.js";

/** How a channel's events are queued, encoded and started. */
export interface Serving {
  readonly limits: QueueLimits;
  encode(event: unknown): Encoded;
  /** Starts the stream. The promise settles when none of the source's code runs any more, and never rejects; undefined: none runs. */
  begin(source: Source, args: Received): Promise<void> | undefined;
}

/** A stream that the other end asked for, on Clearway's wire. */
export class AskedStream implements Asked {
  readonly #publishers: Publishers;
  /** Credit granted before the stream began. */
  items: number;
  bytes: number;

  constructor(
    sources: Publishers,
    readonly id: number,
    readonly channel: string,
    readonly args: Received,
    frame: Frame,
  ) {
    this.#publishers = sources;
    this.items = frame.a;
    this.bytes = frame.b;
    this.asked = { capacity: frame.c, policy: frame.flags >>> whenFullShift };
  }

  readonly asked: { capacity: number; policy: number };

  refuse(status: Status): void {
    this.#publishers.refuse(this, status);
  }

  serve(serving: Serving): void {
    this.#publishers.serve(this, serving);
  }
}

/** Sends the ends of streams, and keeps the requests that wait for their handlers. */
export interface PublishersOwner {
  /** Sends a frame, and charges it to the other end until it has left. Never throws. */
  reply(parts: FrameParts, message?: Encoded): void;
  /** Removes a requested stream that waits for its handler, if it waits. */
  withdraw(asked: AskedStream): void;
}

/** Event streams that this end serves, on Clearway's wire. */
export class Publishers {
  readonly #connection: Connection;
  readonly #owner: PublishersOwner;
  /** By id: streams that have not begun. `#open` has those that have. */
  readonly #asked = new Map<number, AskedStream>();
  readonly #open = new Map<number, Source>();
  /** Streams whose source still runs, with or without a listener. They occupy a place until it ends. */
  readonly #running = new Set<Source>();

  constructor(connection: Connection, owner: PublishersOwner) {
    this.#connection = connection;
    this.#owner = owner;
  }

  get size(): number {
    return this.#open.size + this.#asked.size;
  }

  /** Takes in a listen. Returns undefined when the other end may not open the stream. */
  ask(frame: Frame, channel: string, args: Received): AskedStream | undefined {
    const { id } = frame;
    if (this.#asked.has(id) || this.#open.has(id)) {
      this.#connection.broken(`two streams of number ${id}`);
      return undefined;
    }
    this.#replace(channel);
    // A source's abort listeners may have closed this end, or too many ends wait.
    if (this.#connection.reason !== undefined) return undefined;
    const asked = new AskedStream(this, id, channel, args, frame);
    this.#asked.set(id, asked);
    let places = this.size;
    for (const source of this.#running) if (source.ended) places++;
    if (places <= this.#connection.settings.callsMax) return asked;
    asked.refuse(Status.busy);
    return undefined;
  }

  serve(asked: AskedStream, { limits, encode, begin }: Serving): void {
    if (!this.#take(asked)) return;
    const { id, channel } = asked;
    const connection = this.#connection;
    const wire: SourceWire = {
      encode,
      event: (message, dropped) => connection.send({ op: Op.event, id, a: dropped }, message),
      end: (status, error, dropped) => {
        const body = status === Status.error ? connection.errorBody(error, channel) : nothing;
        this.#owner.reply({ op: Op.end, id, a: status, b: dropped }, body);
      },
      report: (error) => connection.report(error, channel),
      charge: connection.queued,
      held: () => connection.congested,
    };
    const source = new Source(channel, limitsFor(asked.asked, limits), wire, () => this.#open.delete(id));
    source.queue.credit.grant(asked.items, asked.bytes);
    this.#open.set(id, source);
    const running = begin(source, asked.args);
    if (running === undefined) return;
    this.#running.add(source);
    void running.then(() => this.#running.delete(source));
  }

  refuse(asked: AskedStream, status: Status): void {
    if (this.#take(asked)) this.#owner.reply({ op: Op.end, id: asked.id, a: status });
  }

  credit({ id, a, b }: Frame): void {
    const source = this.#open.get(id);
    if (source) {
      source.queue.credit.grant(a, b);
      return source.drain();
    }
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    asked.items += a;
    asked.bytes += b;
  }

  /** Cancels a stream for its listener. Returns the stream if it has not begun. */
  cancel(id: number): AskedStream | undefined {
    this.#open.get(id)?.cancel(new ClearwayError("cancelled", "the listener has cancelled"));
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    return asked;
  }

  /** Sends waiting events. The owner calls this when the transport has room again. */
  drain(): void {
    for (const source of [...this.#open.values()]) source.drain();
  }

  /** Ends all streams, because this end closes. */
  finish(): void {
    for (const source of [...this.#open.values()])
      source.cancel(this.#connection.closedError("closing"), Status.cancelled);
  }

  closed(): void {
    this.#asked.clear();
    for (const source of [...this.#open.values()])
      source.cancel(this.#connection.closedError(`events of ${source.channel}`));
  }

  /** Removes a stream that has not begun. Returns false if it was refused: another may have its number since. */
  #take(asked: AskedStream): boolean {
    return this.#asked.get(asked.id) === asked && this.#asked.delete(asked.id);
  }

  // A second listen on a channel ends the first: spec/wire.md.
  #replace(channel: string): void {
    for (const source of this.#open.values()) {
      if (source.channel !== channel) continue;
      source.cancel(
        new ClearwayError("cancelled", `${channel}: a second listen took this one's place`),
        Status.cancelled,
      );
      return;
    }
    for (const asked of this.#asked.values()) {
      if (asked.channel !== channel) continue;
      this.#owner.withdraw(asked);
      return asked.refuse(Status.cancelled);
    }
  }
}
