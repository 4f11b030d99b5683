// SPDX-License-Identifier: MIT OR Apache-2.0

import { ClearwayError } from "../../error/clearway-error.js";
import { abortOf } from "../../error/read-signal.js";
import type { MethodCodec } from "../codec/codec.js";
import type { Calls } from "./calls.js";
import { type Connection, nothing, type Received } from "./connection.js";
import { guarded, Listener } from "./event-stream.js";
import { follow } from "./follow.js";
import { type ListenOptions, listenSettings } from "./listen-options.js";
import { RemoteError } from "./remote-error.js";
import type { WhenFull } from "./source-queue.js";
import { noAnswer } from "./status.js";
import { replaced } from "./subscriptions.js";

type Sent = (name: string, body: Uint8Array) => Promise<Received>;

interface Listen {
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
 * message without bytes ends the stream. There is no credit, so the reader's own buffer has the limit. Under `dropOldest` and
 * `dropNewest`, a full buffer drops events and reports their number. Under every other policy, a full buffer ends the stream
 * with `queue-full`, because no event may be lost silently.
 */
export class PlainSubscriptions {
  readonly #connection: Connection;
  readonly #call: Sent;
  readonly #open = new Map<string, Listen>();

  constructor(connection: Connection, calls: Calls) {
    this.#connection = connection;
    this.#call = (name, body) => calls.call(connection.name(name), name, { ...nothing, body });
  }

  get size(): number {
    return this.#open.size;
  }

  listen(channel: string, codec: MethodCodec, args: unknown, options?: ListenOptions): Listener<Received> {
    const { signal, capacity = capacityDefault, whenFull, onDrop } = listenSettings(options);
    // Throws for a name that is too long, before the stream counts as open.
    this.#connection.name(channel);
    const body = codec.call.encode({ method: "listen", args });
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
    const listen: Listen = { stream, end, cancelRemote, capacity, whenFull, missed: 0 };
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
    this.#call(channel, body).then(
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
      this.#call(channel, codec.call.encode({ method: "cancel", args })).catch(() => {});
    } catch (error) {
      this.#connection.report(error, channel);
    }
  }

  /** Passes a message to its channel's stream. Returns false if this end does not listen to the channel. */
  message(channel: string, message: Received): boolean {
    const listen = this.#open.get(channel);
    if (listen === undefined) return false;
    if (message.body.length === 0) listen.end({});
    else keep(listen, channel, message);
    return true;
  }

  closed(): void {
    for (const [channel, { end }] of [...this.#open])
      end({ error: this.#connection.closedError(`events of ${channel}`) });
  }
}

function keep(listen: Listen, channel: string, message: Received): void {
  const { stream, capacity, whenFull } = listen;
  if (stream.waiting >= capacity) {
    if (whenFull === "dropNewest") {
      listen.missed++;
      return;
    }
    if (whenFull !== "dropOldest") {
      listen.cancelRemote();
      return stream.fail(new ClearwayError("queue-full", `${channel}: the reader is ${capacity} events behind`));
    }
    stream.dropOldest();
  }
  stream.arrived(message, 0, listen.missed);
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
