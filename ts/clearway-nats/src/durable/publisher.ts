// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Msg, MsgHdrs, NatsConnection, Subscription } from "@nats-io/transport-node";
import { ClearwayError, caused } from "clearway/remote";
import { inboxOf, isPassing, notAllowed, watchConnection } from "./connection.js";

/** The servers' confirmation that a message is stored. */
export interface Stored {
  readonly stream: string;
  readonly seq: number;
  /** Whether a message with the same id was stored before, and this one was not. */
  readonly duplicate: boolean;
  /** Whether the message was sent more than once, so that it may be a duplicate of itself. */
  readonly resent: boolean;
}

/** The servers' refusal to store a message. `code` is the number of JetStream's own error. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

interface Waiting {
  readonly token: string;
  readonly subject: string;
  readonly body: Uint8Array;
  readonly headers: MsgHdrs | undefined;
  readonly resolve: (stored: Stored) => void;
  readonly reject: (reason: unknown) => void;
  /** Time after the first sending in which the message may be sent again, in milliseconds. */
  readonly resendMsMax: number;
  /** The number of the sweep in which the message was sent the last time. */
  sweep: number;
  /** When the message was sent the first time while there was a connection. */
  sentMs: number | undefined;
  resent: boolean;
}

/** Settings of a {@link Publisher}. */
export interface PublisherSettings {
  /** Maximum number of messages that wait for their confirmation, and of their bytes. Further ones wait here. */
  outstandingMax: number;
  outstandingBytesMax: number;
  /** Time after which an unconfirmed message is sent again, in milliseconds. */
  resendMs: number;
}

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
  readonly #unwatch: () => void;
  readonly #sent = new Map<string, Waiting>();
  readonly #queue: Waiting[] = [];
  #queueHead = 0;
  #sentBytes = 0;
  #tokens = 0;
  #sweep = 0;
  #connected = true;
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
    // A message is sent again between one and two periods after it was sent.
    this.#timer = setInterval(() => this.#resend(), settings.resendMs);
    this.#timer.unref();
    this.#unwatch = watchConnection(connection, {
      disconnected: () => {
        this.#connected = false;
      },
      reconnected: () => {
        this.#connected = true;
        this.#resend(true);
      },
      refused: (error) => {
        if (error.operation !== "publish") return;
        for (const waiting of [...this.#sent.values()]) {
          if (waiting.subject !== error.subject) continue;
          this.#settle(waiting);
          waiting.reject(notAllowed(error));
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
   * Publishes a message and resolves when it is stored. Does not copy the body. Rejects with a {@link StoreError} if the servers refuse it,
   * with `not-allowed` if the user may not publish to the subject, and with `transport-closed` if the connection ends first.
   *
   * With `resendMsMax`, also rejects with `transport-closed` when the message would have to be sent again later than this time after it was first
   * sent, in milliseconds. It may be stored then.
   */
  publish(
    subject: string,
    body: Uint8Array,
    headers?: MsgHdrs,
    resendMsMax = Number.POSITIVE_INFINITY,
  ): Promise<Stored> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      const token = (this.#tokens++).toString(36);
      const sweep = this.#sweep;
      const waiting = {
        token,
        subject,
        body,
        headers,
        resolve,
        reject,
        resendMsMax,
        sweep,
        sentMs: undefined,
        resent: false,
      };
      if (this.#hasRoom) this.#send(waiting);
      else this.#queue.push(waiting);
    });
  }

  /** Ends the publisher. Messages that are not confirmed reject with the error. */
  end(reason: ClearwayError = new ClearwayError("transport-closed", "the connection to the servers is closed")): void {
    if (this.#ended) return;
    this.#ended = reason;
    clearInterval(this.#timer);
    this.#unwatch();
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
    const { token, subject, body, headers } = waiting;
    const reply = `${this.#inbox}.${token}`;
    // What is sent without a connection, the client drops when it connects again.
    if (this.#connected) waiting.sentMs ??= performance.now();
    try {
      this.#connection.publish(subject, body, headers === undefined ? { reply } : { reply, headers });
    } catch (reason) {
      // The subject or the headers are invalid, the message is too large, or the connection is closed.
      this.#settle(waiting);
      waiting.reject(caused("transport-closed", "the message cannot be sent", reason));
    }
  }

  #confirmed(message: Msg): void {
    const token = message.subject.slice(this.#inbox.length + 1);
    const waiting = this.#sent.get(token);
    // A confirmation of a message that was sent twice. The first one has settled it.
    if (waiting === undefined) return;
    // No stream has the subject now. This passes when the servers have elected a leader; the next sweep sends the message again.
    if (message.headers?.code === 503) return;
    const answer = readAnswer(message);
    if (answer === undefined) return;
    if (answer instanceof StoreError) {
      if (isPassing(answer.code)) return;
      this.#settle(waiting);
      waiting.reject(answer);
    } else {
      this.#settle(waiting);
      waiting.resolve({ ...answer, resent: waiting.resent });
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
    const at = performance.now();
    for (const waiting of [...this.#sent.values()]) {
      if (!all && waiting.sweep === this.#sweep) continue;
      const { sentMs, resendMsMax } = waiting;
      if (sentMs !== undefined && at - sentMs > resendMsMax) {
        this.#settle(waiting);
        const message = `the servers have not confirmed the message within ${resendMsMax} ms: it may be stored`;
        waiting.reject(new ClearwayError("transport-closed", message));
        continue;
      }
      this.resent++;
      waiting.resent = true;
      waiting.sweep = this.#sweep + 1;
      this.#transmit(waiting);
    }
    this.#sweep++;
  }
}

// Returns the servers' answer to a published message. Undefined for anything else.
function readAnswer(message: Msg): Omit<Stored, "resent"> | StoreError | undefined {
  try {
    const answer = message.json<{
      stream?: unknown;
      seq?: unknown;
      duplicate?: unknown;
      error?: { err_code?: number; description?: string };
    }>();
    if (answer.error) return new StoreError(answer.error.err_code ?? 0, String(answer.error.description));
    if (typeof answer.stream !== "string" || typeof answer.seq !== "number") return undefined;
    return { stream: answer.stream, seq: answer.seq, duplicate: answer.duplicate === true };
  } catch {
    return undefined;
  }
}
