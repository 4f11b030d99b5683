// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Msg, MsgHdrs, NatsConnection, Subscription } from "@nats-io/transport-node";
import { ClearwayError, caused } from "clearway/remote";
import { stopwatch, timers } from "../clock.js";
import { inboxOf, isFull, isPassing, notAllowed, refused, serverNumbers, watchConnection } from "./connection.js";
import type { StreamSettings } from "./options.js";
import type { Storage } from "./storage.js";

/** The servers' confirmation that a message is stored. */
export interface Stored {
  readonly stream: string;
  readonly seq: number;
  /** Whether a message with the same id was stored before, and this one was not. */
  readonly duplicate: boolean;
  /** Whether the message was sent more than once, so that it may be a duplicate of itself. */
  readonly resent: boolean;
}

/** How a message is published. */
export interface PublishOptions {
  readonly headers?: MsgHdrs;
  /**
   * Time after its first sending in which the message may be sent again, in milliseconds. With it, the message fails instead of waiting: when it
   * would have to be sent later, when it may be in streams that the servers have lost, and when the streams cannot be made again.
   */
  readonly resendMsMax?: number;
  /** Whether the message waits for room when the servers are full, and is sent again until there is some. */
  readonly waitsForRoom?: boolean;
}

interface Waiting {
  readonly token: string;
  readonly subject: string;
  readonly body: Uint8Array;
  readonly options: PublishOptions;
  readonly resolve: (stored: Stored) => void;
  readonly reject: (reason: unknown) => void;
  /** The number of the sweep in which the message was sent the last time. */
  sweep: number;
  /** Time since there was a connection for the message for the first time, and it was sent, or waited for a check of the streams. */
  ageMs: (() => number) | undefined;
  /** Number of sendings, and of those that the servers have answered with something else than a confirmation. The message may be stored while they differ. */
  sent: number;
  answered: number;
  /** The servers' refusal of one sending, while another one has no answer. */
  refusal: ClearwayError | undefined;
}

/** Settings of a {@link Publisher}. */
export interface PublisherSettings {
  /** Maximum number of messages that wait for their confirmation, and of their bytes. Further ones wait here. */
  outstandingMax: number;
  outstandingBytesMax: number;
  /** Time after which an unconfirmed message is sent again, in milliseconds. */
  resendMs: number;
  /** The streams, which are looked at when no stream answers. Default: they are always there. */
  storage?: Pick<Storage<StreamSettings>, "check" | "onLost">;
  /** Receives the servers' refusal of a message that waits for room, once for each message. */
  onFull?(reason: ClearwayError): void;
}

const present: NonNullable<PublisherSettings["storage"]> = { check: async () => false, onLost: () => () => {} };

/**
 * Publishes messages to streams, with a bounded number of unconfirmed ones. Has one subscription for all confirmations.
 *
 * Sends a message again until it is confirmed or refused, also after the connection was lost. So a message may be stored twice, unless its
 * headers prevent that: a message id, which the servers remember for a time only, or the expected last sequence of its subject. JetStream's own
 * client makes a request with a timer for
 * each message, which costs more than twice the processor time, and gives up after the first lost confirmation.
 */
export class Publisher {
  /** Number of messages that were sent more than once. */
  resent = 0;
  readonly #connection: NatsConnection;
  readonly #settings: PublisherSettings;
  readonly #inbox: string;
  readonly #subscription: Subscription;
  readonly #timer: NodeJS.Timeout;
  readonly #storage: NonNullable<PublisherSettings["storage"]>;
  readonly #unwatch: () => void;
  readonly #unlisten: () => void;
  readonly #sent = new Map<string, Waiting>();
  readonly #queue: Waiting[] = [];
  #queueHead = 0;
  #sentBytes = 0;
  #tokens = 0;
  #sweep = 0;
  // Whether messages may be sent: not without a connection, and not before the streams were seen behind a new one.
  #ready = true;
  #connected = true;
  // Counts the looks at the streams. A later one replaces an earlier one.
  #looks = 0;
  #ended: ClearwayError | undefined;

  constructor(connection: NatsConnection, settings: PublisherSettings) {
    this.#connection = connection;
    this.#settings = settings;
    this.#inbox = inboxOf(connection);
    this.#subscription = connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#confirmed(message);
      },
    });
    // A message is sent again between one and two periods after it was sent. After a stall of this thread, its confirmation is read first.
    this.#timer = timers.setInterval(() => timers.setImmediate(() => this.#resend()), settings.resendMs);
    this.#timer.unref();
    this.#storage = settings.storage ?? present;
    this.#unlisten = this.#storage.onLost((reason) => this.#lost(reason));
    this.#unwatch = watchConnection(connection, {
      disconnected: () => {
        this.#looks++;
        this.#ready = false;
        this.#connected = false;
      },
      reconnected: () => {
        this.#connected = true;
        void this.#look(true);
      },
      refused: (error) => {
        if (error.operation !== "publish") return;
        for (const waiting of [...this.#sent.values()]) {
          if (waiting.subject !== error.subject) continue;
          this.#reject(waiting, notAllowed(error));
        }
      },
      closed: (reason) => this.end(reason),
    });
  }

  /** Number of messages that are not confirmed, including those that wait here. */
  get unconfirmed(): number {
    return this.#sent.size + this.#queue.length - this.#queueHead;
  }

  /**
   * Publishes a message and resolves when it is stored. Does not copy the body.
   *
   * Rejects with the servers' refusal as an error of ours, such as `queue-full`; it is then not stored. Rejects with `not-allowed` if the user may
   * not publish to the subject. Rejects with `transport-closed` if the connection ends first; it may be stored then.
   *
   * With `resendMsMax`, also rejects with `transport-closed` when the message would have to be sent again later than that, and with
   * `storage-lost` when the servers have lost the streams after it was sent. In both cases it may have been stored.
   */
  publish(subject: string, body: Uint8Array, options: PublishOptions = {}): Promise<Stored> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      const waiting: Waiting = {
        token: (this.#tokens++).toString(36),
        subject,
        body,
        options,
        resolve,
        reject,
        sweep: this.#sweep,
        ageMs: undefined,
        sent: 0,
        answered: 0,
        refusal: undefined,
      };
      if (this.#hasRoom) this.#send(waiting);
      else this.#queue.push(waiting);
    });
  }

  /** Ends the publisher. Messages that are not confirmed reject with the error. */
  end(reason: ClearwayError = new ClearwayError("transport-closed", "the connection to the servers is closed")): void {
    if (this.#ended) return;
    this.#ended = reason;
    timers.clearInterval(this.#timer);
    this.#unwatch();
    this.#unlisten();
    this.#subscription.unsubscribe();
    const waiting = [...this.#sent.values(), ...this.#queue.slice(this.#queueHead)];
    this.#sent.clear();
    this.#queue.length = 0;
    this.#queueHead = 0;
    for (const each of waiting) each.reject(reason);
  }

  // A message that is alone larger than the limit is sent when there is no other one.
  get #hasRoom(): boolean {
    const { outstandingMax, outstandingBytesMax } = this.#settings;
    return this.#sent.size < outstandingMax && this.#sentBytes < outstandingBytesMax;
  }

  #send(waiting: Waiting): void {
    waiting.sweep = this.#sweep;
    this.#sentBytes += waiting.body.length;
    this.#sent.set(waiting.token, waiting);
    this.#transmit(waiting);
  }

  #transmit(waiting: Waiting): void {
    if (this.#connected) waiting.ageMs ??= stopwatch();
    if (!this.#ready) return;
    const { token, subject, body, options } = waiting;
    const { headers } = options;
    const reply = `${this.#inbox}.${token}`;
    waiting.refusal = undefined;
    if (waiting.sent++ > 0) this.resent++;
    try {
      this.#connection.publish(subject, body, headers === undefined ? { reply } : { reply, headers });
    } catch (reason) {
      // The subject or the headers are invalid, the message is too large, or the connection is closed. An earlier sending may be stored.
      const { message } = reason as Error;
      const tooLarge = waiting.sent - waiting.answered === 1 && message.includes("max_payload");
      if (tooLarge) this.#reject(waiting, refused(serverNumbers.messageTooLarge, message, reason));
      else this.#reject(waiting, caused("transport-closed", "the message cannot be sent", reason));
    }
  }

  #confirmed(message: Msg): void {
    const token = message.subject.slice(this.#inbox.length + 1);
    const waiting = this.#sent.get(token);
    // A confirmation of a message that was sent twice. The first one has settled it.
    if (waiting === undefined) return;
    // No stream has the subject now: it has no leader yet, or the servers have lost it.
    if (message.headers?.code === 503) {
      waiting.answered++;
      if (this.#ready) void this.#look(false);
      return;
    }
    const answer = readAnswer(message);
    if (answer === undefined) return;
    if (answer instanceof ClearwayError) this.#refused(waiting, answer);
    else {
      this.#settle(waiting);
      waiting.resolve({ ...answer, resent: waiting.sent > 1 });
    }
  }

  #refused(waiting: Waiting, reason: ClearwayError): void {
    waiting.answered++;
    // The next sweep sends the message again.
    if (isPassing(reason)) return;
    const { waitsForRoom, resendMsMax } = waiting.options;
    if (waitsForRoom && isFull(reason)) {
      if (waiting.sent === 1) this.#settings.onFull?.(reason);
      return;
    }
    if (waiting.answered >= waiting.sent) return this.#reject(waiting, reason);
    // Another sending may be stored. Its answer decides, or the next sweep.
    if (resendMsMax !== undefined) waiting.refusal = reason;
    else if (!isFull(reason)) this.#reject(waiting, reason);
  }

  #reject(waiting: Waiting, reason: unknown): void {
    this.#settle(waiting);
    waiting.reject(reason);
  }

  // Sends nothing until the streams were seen, or made again. Sends everything again if they are others than before, or with `all`.
  async #look(all: boolean): Promise<void> {
    const look = ++this.#looks;
    this.#ready = false;
    let again = all;
    let refusal: unknown;
    try {
      again = (await this.#storage.check()) || all;
    } catch (reason) {
      refusal = reason;
    }
    if (look !== this.#looks || this.#ended) return;
    this.#ready = true;
    for (const waiting of refusal === undefined ? [] : [...this.#sent.values()]) {
      if (waiting.options.resendMsMax === undefined) continue;
      if (waiting.sent > waiting.answered)
        this.#reject(waiting, uncertain("the servers have not confirmed it", refusal));
      else this.#reject(waiting, refusal);
    }
    if (again) this.#resend(true);
    // What came meanwhile was not sent yet. The rest waits for the next sweep.
    else for (const waiting of this.#sent.values()) if (waiting.sent === 0) this.#transmit(waiting);
  }

  // What may be in the lost streams may have run. Sent again, it could run a second time, and no claim would prevent that.
  #lost(reason: ClearwayError): void {
    for (const waiting of [...this.#sent.values()]) {
      if (waiting.options.resendMsMax !== undefined && waiting.sent > waiting.answered) this.#reject(waiting, reason);
    }
  }

  #settle({ token, body }: Waiting): void {
    this.#sent.delete(token);
    this.#sentBytes -= body.length;
    while (this.#queueHead < this.#queue.length && this.#hasRoom) {
      this.#send(this.#queue[this.#queueHead++]!);
    }
    if (this.#queueHead === this.#queue.length) {
      this.#queue.length = 0;
      this.#queueHead = 0;
    }
  }

  // Sends messages again that were sent before the last sweep, or all of them.
  #resend(all = false): void {
    for (const waiting of [...this.#sent.values()]) {
      if (!all && waiting.sweep === this.#sweep) continue;
      const { ageMs = () => 0, refusal, sent, answered } = waiting;
      const { resendMsMax = Number.POSITIVE_INFINITY } = waiting.options;
      const late = `the servers have not confirmed it within ${resendMsMax} ms`;
      if (refusal !== undefined) this.#reject(waiting, uncertain("they have not answered another sending", refusal));
      else if (ageMs() <= resendMsMax) {
        waiting.sweep = this.#sweep + 1;
        this.#transmit(waiting);
      } else if (sent > answered) this.#reject(waiting, uncertain(late, undefined));
      else this.#reject(waiting, new ClearwayError("transport-closed", `the message is not stored: ${late}`));
    }
    this.#sweep++;
  }
}

function uncertain(why: string, cause: unknown): ClearwayError {
  return caused("transport-closed", `the message may be stored: ${why}`, cause);
}

// Returns the servers' answer to a published message. Undefined for anything else.
function readAnswer(message: Msg): Omit<Stored, "resent"> | ClearwayError | undefined {
  try {
    const answer = message.json<{
      stream?: unknown;
      seq?: unknown;
      duplicate?: unknown;
      error?: { err_code?: number; description?: string };
    }>();
    if (answer.error) return refused(Number(answer.error.err_code) || 0, String(answer.error.description));
    if (typeof answer.stream !== "string" || typeof answer.seq !== "number") return undefined;
    return { stream: answer.stream, seq: answer.seq, duplicate: answer.duplicate === true };
  } catch {
    return undefined;
  }
}
