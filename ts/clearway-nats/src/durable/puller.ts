// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Msg, type NatsConnection, nanos, type Subscription } from "@nats-io/transport-node";
import { ClearwayError } from "clearway/remote";
import { timers } from "../clock.js";
import { inboxOf, watchConnection } from "./connection.js";

const encoder = new TextEncoder();
const ackBody = encoder.encode("+ACK");
const workingBody = encoder.encode("+WPI");
const termBody = encoder.encode("+TERM");

// Maximum bytes of the calls of one request. Larger than any message that servers accept: their own limit is 64 MiB.
const bytesMax = 2 ** 27;

/** A call that the servers have delivered to this process. */
export interface Delivery {
  readonly body: Uint8Array;
  /** Place of the call in the queue's stream. Every delivery of a stored call has the same one. */
  readonly seq: number;
  /** How often the servers have delivered the call, as they say. The number may be too small. */
  readonly deliveries: number;
  /** Whether the servers have, or may have, delivered the call before. */
  readonly again: boolean;
  /** Whether the servers have lost the stream of the call. Nothing is then sent to them: the place may be that of another call now. */
  readonly lost: boolean;
  /** Removes the call from the queue. The message may be lost, and the call then comes again. */
  ack(): void;
  /** Like {@link Delivery.ack}. Resolves when the servers have confirmed it. Rejects if they do not in time. */
  confirmedAck(): Promise<void>;
  /** Tells the servers that the call is still in work. */
  working(): void;
  /** Gives the call back. The servers deliver it again after a time, in milliseconds, perhaps to another process. */
  giveBack(delayMs: number): void;
  /** Removes a call that cannot be read from the queue. */
  discard(): void;
}

/** Settings of a {@link Puller}. */
export interface PullerSettings {
  readonly connection: NatsConnection;
  readonly stream: string;
  readonly consumer: string;
  /** Calls up to this place in the stream may have been delivered before. 0 for none. */
  readonly deliveredSeq: number;
  /** Longest time for which a request for calls waits at the servers, in milliseconds. */
  readonly pullMs: number;
  /** Number of calls of the consumer that this process takes at once now. */
  capacity(): number;
  /** Called when the servers say that the consumer cannot be asked. Settles when it can be asked again. */
  missing(): Promise<void>;
  /** Runs a function when the process is sure that the stream is the one that has delivered the calls. */
  whenSure(act: () => void): void;
  /** Receives a call. When the call has ended, `release()` must be called once. */
  onDelivery(delivery: Delivery, release: () => void): void;
}

/**
 * Asks the servers for calls of one consumer, never for more than this process has room for.
 *
 * `consume()` of JetStream's own client asks for more as messages arrive. This asks as calls end, so that waiting calls stay at the servers,
 * where any process can take them.
 */
export class Puller {
  readonly #settings: PullerSettings;
  readonly #inbox: string;
  readonly #subscription: Subscription;
  readonly #unwatch: () => void;
  // The open requests, by the last part of their reply subject: how many calls each may still bring.
  readonly #requests = new Map<string, { left: number; timer: NodeJS.Timeout }>();
  #requested = 0;
  #held = 0;
  #tokens = 0;
  #deliveredSeq: number;
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;
  readonly #stream = { lost: false };

  constructor(settings: PullerSettings) {
    this.#settings = settings;
    this.#deliveredSeq = settings.deliveredSeq;
    this.#inbox = inboxOf(settings.connection);
    this.#subscription = settings.connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#receive(message);
      },
    });
    this.#unwatch = watchConnection(settings.connection, {
      reconnected: () => {
        // The servers may have forgotten the requests, or their answers were lost.
        for (const token of [...this.#requests.keys()]) this.#forget(token);
        this.pull();
      },
      closed: () => this.stop(),
    });
    this.pull();
  }

  /** Whether this process has calls of the consumer that have not ended. */
  get holds(): boolean {
    return this.#held > 0;
  }

  /** Asks for no more calls. Calls that were delivered are not affected. A call that still arrives is given back. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const token of [...this.#requests.keys()]) this.#forget(token);
    timers.clearTimeout(this.#retry);
    this.#unwatch();
  }

  /** Ends the subscription. Calls that still arrive come to another process after `ackWaitMs`. */
  close(): void {
    this.stop();
    this.#subscription.unsubscribe();
  }

  /** Ends the puller, whose stream the servers have lost, and the deliveries. */
  abandon(): void {
    this.#stream.lost = true;
    this.close();
  }

  /** Asks for calls if there is room for more. */
  pull(): void {
    if (this.#stopped || this.#settings.connection.isClosed()) return;
    const capacity = this.#settings.capacity();
    const room = capacity - this.#held - this.#requested;
    // Asks again when half of the room is free, so that a request brings several calls if there are many.
    if (room < 1 || (this.#requested > 0 && room * 2 < capacity)) return;
    const { connection, stream, consumer, pullMs } = this.#settings;
    const token = (this.#tokens++).toString(36);
    // The servers end the request after `pullMs` and say so. If they do not, they have restarted, have another leader, or have lost the
    // consumer: they do not answer a request to a consumer that does not exist.
    const timer = timers.setTimeout(() => this.#later(token, 0, true), pullMs + 1_000);
    timer.unref();
    this.#requests.set(token, { left: room, timer });
    this.#requested += room;
    try {
      connection.publish(
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
        JSON.stringify({ batch: room, expires: nanos(pullMs), max_bytes: bytesMax }),
        { reply: `${this.#inbox}.${token}` },
      );
    } catch {
      // The connection is closed.
      this.stop();
    }
  }

  #receive(message: Msg): void {
    if (message.subject.startsWith(this.#inbox)) return this.#status(message);
    const { deliveries, seq } = countsOf(message.reply ?? "");
    const again = deliveries > 1 || seq <= this.#deliveredSeq;
    if (seq > this.#deliveredSeq) this.#deliveredSeq = seq;
    const delivery = deliveryOf(message, this.#settings, { seq, deliveries, again }, this.#stream);
    if (this.#stopped) return delivery.giveBack(0);
    this.#held++;
    for (const [token, request] of this.#requests) {
      this.#requested--;
      request.left--;
      if (request.left === 0) this.#forget(token);
      break;
    }
    let released = false;
    this.#settings.onDelivery(delivery, () => {
      if (released) return;
      released = true;
      this.#held--;
      this.pull();
    });
  }

  // A message to the reply subject of a request is a status: the request has ended, and the rest of its calls does not come.
  #status(message: Msg): void {
    const code = message.headers?.code ?? 0;
    if (code === 100) return;
    const token = message.subject.slice(this.#inbox.length + 1);
    if (!this.#requests.has(token)) return;
    // 408: the request's time is over. A request may also have its bytes. Anything else says that the consumer cannot be asked now: it has
    // no leader, or too many requests wait.
    const description = message.headers?.description ?? "";
    if (code !== 408 && code !== 404 && !/maxbytes|max bytes/i.test(description)) {
      return this.#later(token, 250, code === 503 || /deleted/i.test(description));
    }
    this.#forget(token);
    this.pull();
  }

  // Asks again after a time, in milliseconds. Looks for the consumer before, if it may be gone.
  #later(token: string, ms: number, mayBeGone: boolean): void {
    this.#forget(token);
    this.#retry ??= timers.setTimeout(async () => {
      if (mayBeGone) await this.#settings.missing();
      this.#retry = undefined;
      this.pull();
    }, ms);
  }

  #forget(token: string): void {
    const request = this.#requests.get(token);
    if (!request) return;
    this.#requests.delete(token);
    this.#requested -= request.left;
    timers.clearTimeout(request.timer);
  }
}

function deliveryOf(
  message: Msg,
  { connection, whenSure }: PullerSettings,
  counts: Pick<Delivery, "seq" | "deliveries" | "again">,
  stream: { readonly lost: boolean },
): Delivery {
  const reply = message.reply ?? "";
  const answer = (body: Uint8Array): void =>
    whenSure(() => {
      if (stream.lost) return;
      try {
        connection.publish(reply, body);
      } catch {
        // The connection is closed. The servers deliver the call again.
      }
    });
  return {
    body: message.data,
    ...counts,
    get lost() {
      return stream.lost;
    },
    ack: () => answer(ackBody),
    confirmedAck: async () => {
      await new Promise<void>(whenSure);
      if (stream.lost) throw new ClearwayError("storage-lost", "the servers have lost the stream of the call");
      await connection.request(reply, ackBody, { timeout: 5_000 });
    },
    working: () => answer(workingBody),
    giveBack: (delayMs) => answer(encoder.encode(delayMs > 0 ? `-NAK {"delay":${nanos(delayMs)}}` : "-NAK")),
    discard: () => answer(termBody),
  };
}

// The reply subject of a delivery is `$JS.ACK.<stream>.<consumer>.<deliveries>.<place in the stream>.…`, or has a domain and an account after
// `ACK`. A server that has forgotten the earlier deliveries of a call says 1. But servers deliver calls for the first time in the order of the
// stream, so the place of the call shows that it was delivered before.
function countsOf(reply: string): { readonly deliveries: number; readonly seq: number } {
  const parts = reply.split(".");
  const at = parts.length === 9 ? 4 : 6;
  return { deliveries: Number(parts[at]) || 1, seq: Number(parts[at + 1]) || 0 };
}
