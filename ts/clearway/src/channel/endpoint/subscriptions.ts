// SPDX-License-Identifier: MIT OR Apache-2.0

import { abortOf } from "../../error/checked.js";
import { ClearwayError } from "../../error/clearway-error.js";
import { turnBudget } from "../../transport/turn-budget.js";
import type { MethodCodec } from "../codec/codec.js";
import { messageBytes } from "../transport/transport.js";
import { Op, Status, whenFullShift } from "../wire/frame.js";
import { type Calls, failure, follow, type Head, type Outbox, type QueuedRequest } from "./calls.js";
import type { Connection } from "./connection.js";
import { guarded, Listener } from "./event-stream.js";
import { type ListenOptions, listenSettings, policyNumber } from "./options.js";
import { noAnswer, RemoteError } from "./outcome.js";
import { type Encoded, keptBytes, type Received } from "./outgoing-value.js";
import type { WhenFull } from "./source-queue.js";

/** A stream that this end listens to. */
interface Listen extends QueuedRequest {
  readonly id: number;
  readonly channel: string;
  readonly stream: Listener<Received>;
  /**
   * Maximum charge of the events that wait when another one arrives. Credit counts bytes only, and an event may have thousands of empty
   * attachments. Events whose attachments have 128 bytes or more never exceed it.
   */
  readonly waitingBytesMax: number;
  /** Credit that is given back and not sent yet. */
  items: number;
  bytes: number;
  /** Removes the stream's listener from the abort signal. */
  unlisten: () => void;
}

/** Event streams that this end listens to, on Clearway's wire. A second stream on a channel ends the first stream. */
export class Subscriptions {
  readonly #connection: Connection;
  readonly #outbox: Outbox;
  readonly #open = new Map<number, Listen>();
  #last = 0;

  constructor(connection: Connection, outbox: Outbox) {
    this.#connection = connection;
    this.#outbox = outbox;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Starts a stream. Throws `invalid-argument`. The reader of the stream receives all other errors. */
  listen(
    name: Uint8Array,
    channel: string,
    args: Encoded,
    decode: (message: Received) => unknown,
    options: ListenOptions | undefined,
  ): Listener<Received> {
    const { signal, window, capacity = 0, whenFull, onDrop } = listenSettings(options);
    const id = this.#nextId();
    const remove = (notifyPeer: boolean): void => {
      if (!this.#open.delete(id) || this.#outbox.remove(listen) || !notifyPeer) return;
      this.#connection.control({ op: Op.stop, id });
    };
    const stream = new Listener<Received>(
      {
        decode,
        onDrop: guarded(onDrop, (error) => this.#connection.report(error, channel)),
        grant: (items, bytes) => {
          listen.items += items;
          listen.bytes += bytes;
          this.#sendCredit(listen);
        },
        cancel: () => remove(true),
        done: () => listen.unlisten(),
      },
      window,
      turnBudget,
    );
    const flags = policyNumber(whenFull) << whenFullShift;
    const parts = { op: Op.listen, id, name, channel, flags, a: window.items, b: window.bytes, c: capacity };
    const refuse = (reason: unknown): void => {
      remove(false);
      stream.fail(reason);
    };
    const listen: Listen = {
      id,
      channel,
      stream,
      waitingBytesMax: 2 * window.bytes + messageBytes * window.items + this.#connection.settings.replyBytesMax,
      items: 0,
      bytes: 0,
      unlisten: () => {},
      refuse,
      leave: () => this.#connection.send(parts, args),
      hold: () => args.value?.hold(),
    };
    const refusal = this.#refusal(channel, signal);
    if (refusal !== undefined) {
      stream.fail(refusal.reason);
      return stream;
    }
    this.#open.set(id, listen);
    if (signal) {
      const unlisten = follow(
        signal,
        () => this.#open.get(id) === listen,
        (reason, unsent) => {
          remove(!unsent);
          stream.fail(reason);
        },
      );
      if (unlisten === undefined) return stream;
      listen.unlisten = unlisten;
    }
    this.#outbox.push(listen);
    return stream;
  }

  event({ id, a, name }: Head & { readonly name: Uint8Array | string }, message: Received): void {
    const listen = this.#open.get(id);
    if (listen === undefined) return;
    const { stream, channel, waitingBytesMax } = listen;
    const bytes =
      message.value?.bytes ?? message.attachments.reduce((sum, each) => sum + each.length, message.body.length);
    if (stream.waitingBytes > waitingBytesMax)
      this.#connection.broken(`events with too many small attachments: ${channel}`);
    else if (!stream.arrived(message, bytes, a, keptBytes(message, name.length)))
      this.#connection.broken(`an event without credit: ${channel}`);
  }

  end(frame: Head): void {
    const listen = this.#open.get(frame.id);
    if (listen === undefined) return;
    this.#open.delete(frame.id);
    listen.stream.ended(
      frame.b,
      frame.a === Status.done ? {} : { error: failure(frame, listen.channel, this.#connection.valuesMax) },
    );
  }

  /** Sends credit that waits. The owner calls this when the transport has room again. */
  drain(): void {
    for (const listen of this.#open.values()) this.#sendCredit(listen);
  }

  // Without room, credit waits and adds up. Otherwise a peer that sends events and reads nothing would make one frame wait for
  // each of them.
  #sendCredit(listen: Listen): void {
    if (listen.items === 0 || this.#connection.congested) return;
    this.#connection.control({ op: Op.credit, id: listen.id, a: listen.items, b: listen.bytes });
    listen.items = listen.bytes = 0;
  }

  /** Ends all streams. The owner calls this when the transport has closed. */
  closed(): void {
    for (const { stream, channel } of this.#open.values())
      stream.ended(0, { error: this.#connection.closedError(`events of ${channel}`) });
    this.#open.clear();
  }

  #refusal(channel: string, signal: AbortSignal | undefined): { reason: unknown } | undefined {
    const { callsMax } = this.#connection.settings;
    const aborted = abortOf(signal);
    if (aborted) return aborted;
    if (this.#connection.over) return { reason: this.#connection.closedError(`events of ${channel}`) };
    if (this.#open.size < callsMax) return undefined;
    return { reason: new ClearwayError("queue-full", `too many open streams: callsMax=${callsMax}`) };
  }

  #nextId(): number {
    do this.#last = (this.#last % 0xffff_ffff) + 1;
    while (this.#open.has(this.#last));
    return this.#last;
  }
}

/** Returns the error that ends a channel's stream on the plain wire when a second one starts: the wire has no number of a stream. */
function replaced(channel: string): ClearwayError {
  return new ClearwayError("cancelled", `${channel}: a second listen took this one's place`);
}

interface PlainListen {
  readonly stream: Listener<Received>;
  readonly end: (end: { error: unknown } | { error?: never }) => void;
  /** Cancels the stream at the other end. */
  readonly cancelRemote: () => void;
  readonly capacity: number;
  readonly whenFull: WhenFull | undefined;
  /** Number of events dropped since the last kept event, under `dropNewest`. */
  missed: number;
}

// Default number of events that wait here before the policy applies. Without credit, the other end sends at its own speed.
const capacityDefault = 1024;

/**
 * Event streams of an end that is not Clearway's (spec/wire.md). `listen` and `cancel` are methods. Each event is a message. A
 * message without bytes ends the stream. There is no credit, so the reader's own buffer limits the number and the bytes of the
 * events that wait in each stream. Under `dropOldest` and `dropNewest`, a full buffer drops events and reports their number. Under
 * every other policy, a full buffer ends the stream with `queue-full`, because no event may be lost silently.
 */
export class PlainSubscriptions {
  readonly #connection: Connection;
  readonly #calls: Calls;
  readonly #open = new Map<string, PlainListen>();

  constructor(connection: Connection, calls: Calls) {
    this.#connection = connection;
    this.#calls = calls;
  }

  get size(): number {
    return this.#open.size;
  }

  listen(channel: string, codec: MethodCodec, args: unknown, options?: ListenOptions): Listener<Received> {
    const { signal, capacity = capacityDefault, whenFull, onDrop } = listenSettings(options);
    // Throws for a name that is too long, before the stream counts as open.
    this.#connection.name(channel);
    const message = this.#connection.encodeCall(codec, "listen", args);
    const cancelRemote = (): void => {
      if (this.#open.get(channel) !== listen) return;
      this.#open.delete(channel);
      this.#cancel(channel, codec, args);
    };
    let unlisten = (): void => {};
    // Without a turn budget: nothing slows the other end down, so a reader that waits for the next turn would only fall behind.
    const stream = new Listener<Received>(
      {
        decode: (message) => readEvent(this.#connection, codec, channel, message),
        grant: () => {},
        cancel: cancelRemote,
        done: () => unlisten(),
        onDrop: guarded(onDrop, (error) => this.#connection.report(error, channel)),
      },
      { items: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY },
    );
    const end = (how: { error: unknown } | { error?: never }): void => {
      if (this.#open.get(channel) === listen) this.#open.delete(channel);
      stream.ended(listen.missed, how);
    };
    const listen: PlainListen = { stream, end, cancelRemote, capacity, whenFull, missed: 0 };
    const refusal =
      abortOf(signal) ??
      (this.#connection.over ? { reason: this.#connection.closedError(`events of ${channel}`) } : undefined);
    if (refusal) {
      stream.fail(refusal.reason);
      return stream;
    }
    // The other end cancels the first stream itself when the second `listen` arrives.
    this.#open.get(channel)?.end({ error: replaced(channel) });
    this.#open.set(channel, listen);
    if (signal) {
      const unfollow = follow(
        signal,
        () => this.#open.get(channel) === listen,
        (reason) => {
          cancelRemote();
          stream.fail(reason);
        },
      );
      if (unfollow === undefined) return stream;
      unlisten = unfollow;
    }
    this.#calls.call(this.#connection.name(channel), channel, message).then(
      (reply) => {
        if (this.#open.get(channel) !== listen) return;
        const error = readRefusal(this.#connection, codec, channel, reply);
        if (error !== undefined) end({ error });
      },
      (error) => end({ error }),
    );
    return stream;
  }

  // Cancels a stream at the other end and ignores the answer. The codec could encode the arguments when the stream began, but
  // may be unable to encode them now.
  #cancel(channel: string, codec: MethodCodec, args: unknown): void {
    try {
      const message = this.#connection.encodeCall(codec, "cancel", args);
      // If the cancel were refused, the other end would go on sending.
      this.#calls.call(this.#connection.name(channel), channel, message, undefined, false).catch(() => {});
    } catch (error) {
      this.#connection.report(error, channel);
    }
  }

  /** Passes a message to its channel's stream. Returns false if this end does not listen to the channel. */
  message(channel: string, message: Received): boolean {
    const listen = this.#open.get(channel);
    if (listen === undefined) return false;
    if (message.body.length === 0) listen.end({});
    else keep(listen, channel, message, this.#connection.settings.replyBytesMax);
    return true;
  }

  closed(): void {
    for (const [channel, { end }] of [...this.#open])
      end({ error: this.#connection.closedError(`events of ${channel}`) });
  }
}

function keep(listen: PlainListen, channel: string, message: Received, bytesMax: number): void {
  const { stream, capacity, whenFull } = listen;
  const bytes = keptBytes(message, channel.length);
  // One event may wait, whatever its size.
  const isFull = (): boolean =>
    stream.waiting >= capacity || (stream.waiting > 0 && stream.waitingBytes + bytes > bytesMax);
  if (isFull()) {
    if (whenFull === "dropNewest") {
      listen.missed++;
      return;
    }
    if (whenFull !== "dropOldest") {
      listen.cancelRemote();
      return stream.fail(new ClearwayError("queue-full", `${channel}: the reader is ${stream.waiting} events behind`));
    }
    while (isFull()) stream.dropOldest();
  }
  stream.arrived(message, 0, listen.missed, bytes);
  listen.missed = 0;
}

function readEvent(connection: Connection, codec: MethodCodec, channel: string, message: Received): unknown {
  const envelope = connection.decode(codec.reply, message);
  if (envelope.kind === "success") return envelope.value;
  throw envelope.kind === "error" ? remote(envelope, channel) : noAnswer(channel);
}

function readRefusal(connection: Connection, codec: MethodCodec, channel: string, reply: Received): unknown {
  try {
    readEvent(connection, codec, channel, reply);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Returns the error in an error envelope of the plain wire. */
export function remote(
  { code, message, details, stack }: { code: string; message: string | null; details: unknown; stack?: string | null },
  channel: string,
): RemoteError {
  return new RemoteError(code, message ?? "", { details, channel, stack: stack ?? "" });
}
