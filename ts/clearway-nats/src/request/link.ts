// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Msg, type NatsConnection, PermissionViolationError, type Subscription } from "@nats-io/transport-node";
import { ClearwayError, caused } from "clearway/remote";
import type { Clock } from "../clock.js";

/** The events of a connection. */
export interface LinkEvents {
  /** The connection is interrupted. Messages that were under way in either direction may be lost. */
  interrupted(): void;
  /** The connection is made again. */
  back(): void;
  /** NATS refused a publish or a subscription, because the user has no permission for the subject. */
  denied(subject: string, cause: Error): void;
  /** The connection has ended for good. */
  closed(why: ClearwayError): void;
  /** Receives an error that handling a message has thrown and that no peer can cause. */
  error(thrown: unknown): void;
}

interface Held {
  readonly subject: string;
  readonly bytes: Uint8Array;
  readonly reply: string | undefined;
  readonly wanted: (() => boolean) | undefined;
}

// Maximum bytes and number of messages that wait here while the connection is interrupted. Later ones are dropped, and their calls fail by
// the other side's silence.
const heldBytesMax = 16 * 2 ** 20;
const heldMax = 65_536;

/** Maximum time for a round trip to the server when a pool or a server starts or closes, in milliseconds. */
const flushMs = 1_000;

/** Bytes that may be on their way to the server. Above it, streams wait. Hides a round trip of 100 ms at 160 MB a second. */
const underWayMax = 16 * 2 ** 20;

/** Size of the largest message in bytes, if the server has not said it: the default of NATS. */
const payloadDefault = 2 ** 20;

/**
 * The messages of a pool or a server on a NATS connection. Holds messages while the connection is interrupted: the NATS client would drop
 * them when it connects again.
 */
export class Link {
  readonly connection: NatsConnection;
  /** Number of messages that were not sent, because too many waited for the connection, or because it was closing. */
  unsent = 0;
  /** Number of received messages that were dropped, because they break the protocol and belong to no call. */
  malformed = 0;
  /** Bytes of messages that were sent and received. */
  sentBytes = 0;
  receivedBytes = 0;
  readonly #events: LinkEvents;
  readonly #subscriptions: Subscription[] = [];
  readonly #statuses: ReturnType<NatsConnection["status"]>;
  /** What the connection keeps: this link until it is closed. A connection of the app may outlive any number of pools. */
  readonly #open: { link: Link | undefined } = { link: this };
  /** Value of `sentBytes` of which the server has confirmed that everything before it has arrived. */
  #confirmedBytes = 0;
  #confirming: Promise<void> | undefined;
  #held: Held[] | undefined;
  #heldBytes = 0;
  #payloadMax = payloadDefault;
  #over = false;

  constructor(connection: NatsConnection, events: LinkEvents) {
    this.connection = connection;
    this.#events = events;
    this.#readInfo();
    this.#statuses = connection.status();
    this.#follow(this.#statuses).catch(() => {}); // the iteration ends with the connection, which `closed()` reports
    const open = this.#open;
    void connection.closed().then((error) => {
      const message = "the connection to NATS is closed";
      const why = error ? caused("transport-closed", message, error) : new ClearwayError("transport-closed", message);
      if (open.link) open.link.#end(why);
    });
  }

  /** Size of the largest message that NATS carries, in bytes. */
  get payloadMax(): number {
    return this.#payloadMax;
  }

  /** Whether the connection is interrupted, and is being made again. */
  get interrupted(): boolean {
    return this.#held !== undefined;
  }

  /**
   * Sends a message. Does not copy it, so its memory must not change. While the connection is interrupted, the message waits, and is dropped
   * if `wanted` then returns false. Never throws.
   */
  send(subject: string, bytes: Uint8Array, reply?: string, wanted?: () => boolean): void {
    if (this.#over) return;
    if (this.#held) {
      if (this.#held.length >= heldMax || this.#heldBytes + bytes.length > heldBytesMax) {
        this.unsent++;
        return;
      }
      this.#heldBytes += bytes.length;
      this.#held.push({ subject, bytes, reply, wanted });
      return;
    }
    try {
      this.connection.publish(subject, bytes, reply === undefined ? undefined : { reply });
      this.sentBytes += bytes.length;
    } catch {
      // The connection is closed or draining, or the server has lowered its limit. The other side's silence ends the call.
      this.unsent++;
    }
  }

  /**
   * Returns a promise if the network is slower than what is sent, so that messages pile up in this process. It settles when the server has
   * received them, or when the connection is interrupted. Never rejects.
   */
  drained(): Promise<void> | undefined {
    const underWay = this.sentBytes - this.#confirmedBytes;
    if (underWay > underWayMax / 2) this.#confirming ??= this.#confirm();
    return underWay > underWayMax ? this.#confirming : undefined;
  }

  async #confirm(): Promise<void> {
    const { sentBytes } = this;
    await this.connection.flush().catch(() => {}); // the connection is interrupted, and drops what has not arrived
    this.#confirmedBytes = sentBytes;
    this.#confirming = undefined;
  }

  /** Subscribes. A message for which `receive` throws a `ClearwayError` counts as malformed. */
  subscribe(subject: string, receive: (message: Msg) => void, queue?: string): Subscription {
    const subscription = this.connection.subscribe(subject, {
      ...(queue !== undefined && { queue }),
      callback: (error, message) => {
        // A refused subscription. The status of the connection reports it, too.
        if (error) return;
        this.receivedBytes += message.data.length;
        // An error that reached the NATS client would end its reading.
        try {
          receive(message);
        } catch (thrown) {
          if (thrown instanceof ClearwayError) this.malformed++;
          else this.#events.error(thrown);
        }
      },
    });
    this.#subscriptions.push(subscription);
    return subscription;
  }

  /** Settles when the server has processed everything that was sent, or after a second without its answer. Never rejects. */
  async flush(clock: Clock): Promise<void> {
    if (this.#over || this.#held) return;
    await new Promise<void>((resolve) => {
      const disarm = clock.after(flushMs, resolve);
      const done = (): void => {
        disarm();
        resolve();
      };
      this.connection.flush().then(done, done);
    });
  }

  /** Ends the subscriptions. The connection stays open. */
  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#held = undefined;
    this.#open.link = undefined;
    // The iterator of the NATS client has a `stop()` that its type does not have.
    (this.#statuses as { stop?: () => void }).stop?.();
    for (const each of this.#subscriptions) if (!each.isClosed()) each.unsubscribe();
  }

  async #follow(statuses: ReturnType<NatsConnection["status"]>): Promise<void> {
    for await (const status of statuses) {
      if (this.#over) return;
      if (status.type === "disconnect") this.#interrupt();
      else if (status.type === "reconnect") this.#resume();
      else if (status.type === "error" && status.error instanceof PermissionViolationError)
        this.#events.denied(status.error.subject, status.error);
    }
  }

  #interrupt(): void {
    if (this.#held) return;
    this.#held = [];
    this.#events.interrupted();
  }

  #resume(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#heldBytes = 0;
    this.#readInfo();
    for (const { subject, bytes, reply, wanted } of held)
      if (wanted === undefined || wanted()) this.send(subject, bytes, reply);
    this.#events.back();
  }

  #readInfo(): void {
    const most = this.connection.info?.max_payload;
    if (typeof most === "number" && most > 0) this.#payloadMax = most;
  }

  #end(why: ClearwayError): void {
    if (this.#over) return;
    this.#over = true;
    this.#held = undefined;
    this.#events.closed(why);
  }
}

/** Returns whether the message is NATS's own, which says that the message to which it answers had no receiver. */
export function hadNoReceiver(message: Msg): boolean {
  if (message.data.length > 0) return false;
  try {
    return message.headers?.code === 503;
  } catch {
    return false; // headers that a peer made up, and that the NATS client cannot read
  }
}
