// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ConsumerMessages, DeliverPolicy, type JetStreamClient, type JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection, Subscription } from "@nats-io/transport-node";
import { caused } from "clearway/remote";
import { timers, within } from "../clock.js";
import { numberOf, opening, serverError, serverNumbers, watchConnection } from "./connection.js";
import type { Names } from "./names.js";
import type { StreamSettings } from "./options.js";
import type { Storage } from "./storage.js";

// The servers end a request for outcomes after this time, and give a sign of life after half of it. A consumer is renewed after two signs are
// missing. So one that is lost while the connection stays is noticed in about this time.
const requestMs = 4_000;
// Messages that the servers send ahead. Each has at most half of the servers' limit of a message, 512 KiB, so all of them are below the 64 MiB
// after which the servers cut a client that reads too slowly.
const batch = 64;
// The servers keep outcomes that this caller has read for at most about this time.
const purgeMs = 10_000;
const retryMs = 500;
const retryMsMax = 5_000;

/** Settings of a {@link ReplyReader}. */
export interface ReplySettings {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly storage: Pick<Storage<StreamSettings>, "check" | "onLost">;
  readonly stream: string;
  /** The caller's own subject. */
  readonly subject: string;
  /** Receives messages in the order in which they were stored. */
  onMessage(body: Uint8Array): void;
  onError(error: unknown): void;
}

/**
 * Reads the outcomes for one caller from a stream, in order and without gaps, with JetStream's ordered consumer. The client makes a new
 * consumer at the right place when the old one is lost. This does so at once when the connection is made again: a consumer ends with its
 * server.
 */
export class ReplyReader {
  readonly #settings: ReplySettings;
  readonly #timer: NodeJS.Timeout;
  readonly #unwatch: () => void;
  readonly #unlisten: () => void;
  #messages: ConsumerMessages | undefined;
  // Counts the consumers. What an old one still delivers is ignored.
  #generation = 0;
  #nextSeq: number;
  #purgedSeq: number;
  #closed = false;

  private constructor(settings: ReplySettings, nextSeq: number) {
    this.#settings = settings;
    this.#nextSeq = nextSeq;
    this.#purgedSeq = nextSeq;
    this.#timer = timers.setInterval(() => void this.#purge(), purgeMs);
    this.#timer.unref();
    this.#unwatch = watchConnection(settings.connection, {
      reconnected: () => void this.#renew(undefined),
      closed: () => {},
    });
    this.#unlisten = settings.storage.onLost(() => {
      // The new stream begins at 1, and has nothing else on this subject.
      this.#nextSeq = 1;
      this.#purgedSeq = 1;
      void this.#renew(undefined);
    });
  }

  /** Opens a reader at the end of the stream: nothing is stored for a new caller. Rejects if the servers refuse it. */
  static async open(settings: ReplySettings): Promise<ReplyReader> {
    const { connection, manager, stream } = settings;
    const open = <Value>(act: () => Promise<Value>): Promise<Value> =>
      opening(connection, `the stream ${stream} cannot be read`, act);
    const { state } = await open(() => manager.streams.info(stream));
    const reader = new ReplyReader(settings, state.last_seq + 1);
    try {
      await open(() => reader.#consume());
    } catch (reason) {
      await reader.close(0);
      throw reason;
    }
    return reader;
  }

  /**
   * Ends the reader. Deletes what it has read from the stream, and waits for that for at most `purgeMs` milliseconds; without, the age of the
   * outcomes deletes them.
   */
  async close(purgeMs: number): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    timers.clearInterval(this.#timer);
    this.#unwatch();
    this.#unlisten();
    // The consumer ends with its connection, or when it was not used for some time.
    const ended = Promise.all([this.#messages?.close(), purgeMs > 0 && this.#purge()]);
    await within(Math.max(0, purgeMs), ended);
  }

  async #consume(): Promise<void> {
    const { client, stream, subject } = this.#settings;
    const generation = ++this.#generation;
    const consumer = await client.consumers.get(stream, {
      filter_subjects: subject,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: this.#nextSeq,
    });
    const messages = await consumer.consume({
      max_messages: batch,
      expires: requestMs,
      callback: (message) => {
        if (generation !== this.#generation || message.seq < this.#nextSeq) return;
        this.#nextSeq = message.seq + 1;
        this.#settings.onMessage(message.data);
      },
    });
    if (generation !== this.#generation || this.#closed) return void messages.close();
    this.#messages = messages;
    // If the streams were made again after the look at them, the consumer waits for a place that may come late. The storage reports what fails.
    this.#settings.storage.check().catch(() => {});
    void this.#watch(messages, generation);
    // The client gives a consumer up only if its stream is gone, or by a refusal.
    void messages.closed().then((error) => {
      if (generation === this.#generation) void this.#renew(error);
    });
  }

  // Renews a consumer that gives no signs of life. The client waits for the servers to say that it is gone, which a cluster does not say
  // while it hopes that the consumer's server comes back.
  async #watch(messages: ConsumerMessages, generation: number): Promise<void> {
    for await (const { type } of messages.status()) {
      if (generation !== this.#generation) return;
      if (type === "heartbeats_missed") return void this.#renew(undefined);
    }
  }

  // Makes a new consumer, when the streams are there. Tries again until the reader is closed, or until another renewal has begun.
  async #renew(error: unknown): Promise<void> {
    const old = this.#messages;
    this.#messages = undefined;
    const generation = ++this.#generation;
    void old?.close();
    let reason = error;
    // Each attempt to consume counts as a generation.
    let consumed = 0;
    for (let attempt = 0; ; attempt++) {
      if (reason) this.#settings.onError(serverError(reason));
      if (attempt > 0 || error)
        await new Promise((resolve) => timers.setTimeout(resolve, Math.min(retryMsMax, retryMs * 2 ** attempt)));
      if (this.#closed || this.#generation !== generation + consumed) return;
      try {
        // Other streams begin another renewal. The storage reports what fails.
        await this.#settings.storage.check();
      } catch {
        reason = undefined;
        continue;
      }
      if (this.#closed || this.#generation !== generation + consumed) return;
      consumed++;
      try {
        await this.#consume();
        return;
      } catch (failure) {
        reason = failure;
      }
    }
  }

  async #purge(): Promise<void> {
    const seq = this.#nextSeq;
    if (seq === this.#purgedSeq) return;
    try {
      await this.#settings.manager.streams.purge(this.#settings.stream, { filter: this.#settings.subject, seq });
      this.#purgedSeq = seq;
    } catch {
      // The next time, or the age of the outcomes, deletes them.
    }
  }
}

// A message to a subscription may be lost: the connection breaks, or another server of a cluster does not know the subscription yet.
const lookMs = 2_000;
// A message may come before the servers have stored it. The first look after it comes at once, and each later one after four times as long.
const storedMs = 10;

/** Reads the outcomes of submitted calls: those that are stored, and those that come. */
export class StoredResults {
  /** Number of waits that have not ended. */
  waits = 0;
  readonly #connection: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #names: Names;
  readonly #storage: Pick<Storage<StreamSettings>, "check" | "onLost">;

  constructor(
    connection: NatsConnection,
    manager: JetStreamManager,
    names: Names,
    storage: Pick<Storage<StreamSettings>, "check" | "onLost">,
  ) {
    this.#storage = storage;
    this.#connection = connection;
    this.#manager = manager;
    this.#names = names;
  }

  /**
   * Resolves with the outcome of a call as it is stored. Rejects with the signal's reason, with `transport-closed`, and with `storage-lost` when
   * the servers have lost the outcomes.
   */
  wait(id: string, signal: AbortSignal): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      // A message that is published to a stream also comes to the subscriptions of its subject. So no consumer is necessary. One that the servers
      // refuse to store comes as well, so a message says only that it is time to look.
      let subscription: Subscription;
      try {
        subscription = this.#connection.subscribe(this.#names.result(id), {
          callback: (error) => {
            if (error === null) void lookSoon(storedMs);
          },
        });
      } catch (reason) {
        throw caused("transport-closed", "the connection to the servers is closed, or is closing", reason);
      }
      this.waits++;
      const look = async (): Promise<void> => {
        try {
          const body = await this.#stored(id);
          if (body) end(() => resolve(body));
        } catch (reason) {
          // Otherwise the servers do not answer now. The next look asks again.
          if (numberOf(reason) === serverNumbers.streamNotFound)
            await this.#storage.check().catch((refusal) => end(() => reject(refusal)));
        }
      };
      let soon: NodeJS.Timeout | undefined;
      const lookSoon = async (nextMs: number): Promise<void> => {
        timers.clearTimeout(soon);
        if (nextMs < lookMs) soon = timers.setTimeout(() => void lookSoon(nextMs * 4), nextMs);
        await look();
      };
      const timer = timers.setInterval(look, lookMs);
      const unwatch = watchConnection(this.#connection, {
        reconnected: () => void look(),
        closed: (reason) => end(() => reject(reason)),
      });
      const unlisten = this.#storage.onLost((reason) => end(() => reject(reason)));
      const aborted = (): void => end(() => reject(signal.reason));
      signal.addEventListener("abort", aborted);
      let ended = false;
      const end = (settle: () => void): void => {
        if (ended) return;
        ended = true;
        this.waits--;
        timers.clearInterval(timer);
        timers.clearTimeout(soon);
        unwatch();
        unlisten();
        signal.removeEventListener("abort", aborted);
        subscription.unsubscribe();
        settle();
      };
      void look();
    });
  }

  async #stored(id: string): Promise<Uint8Array | undefined> {
    try {
      const message = await this.#manager.streams.getMessage(this.#names.results, {
        last_by_subj: this.#names.result(id),
      });
      return message?.data;
    } catch (reason) {
      if (numberOf(reason) === serverNumbers.noMessageFound) return undefined;
      throw reason;
    }
  }
}
