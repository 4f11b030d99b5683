// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ConsumerMessages, DeliverPolicy, type JetStreamClient, type JetStreamManager } from "@nats-io/jetstream";
import { caused } from "clearway/remote";

// The servers end a request for outcomes after this time, and give a sign of life after half of it. So a lost consumer is noticed in about
// this time, even if the connection stays.
const requestMs = 10_000;
const batch = 512;
// The servers keep outcomes that this caller has read for at most about this time.
const purgeMs = 10_000;
const retryMs = 500;

/** Settings of a {@link ReplyReader}. */
export interface ReplySettings {
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly stream: string;
  /** The caller's own subject. */
  readonly subject: string;
  /** Receives messages in the order in which they were stored. */
  onMessage(body: Uint8Array): void;
  onError(error: unknown): void;
}

/**
 * Reads the outcomes for one caller from a stream, in order and without gaps, with JetStream's ordered consumer. The client makes a new
 * consumer at the right place when the old one is lost.
 */
export class ReplyReader {
  readonly #settings: ReplySettings;
  readonly #timer: NodeJS.Timeout;
  #messages: ConsumerMessages | undefined;
  #nextSeq: number;
  #purgedSeq: number;
  #closed = false;

  private constructor(settings: ReplySettings, nextSeq: number) {
    this.#settings = settings;
    this.#nextSeq = nextSeq;
    this.#purgedSeq = nextSeq;
    this.#timer = setInterval(() => void this.#purge(), purgeMs);
    this.#timer.unref();
  }

  /** Opens a reader at the end of the stream: nothing is stored for a new caller. Rejects if the servers refuse it. */
  static async open(settings: ReplySettings): Promise<ReplyReader> {
    const { state } = await settings.manager.streams.info(settings.stream);
    const reader = new ReplyReader(settings, state.last_seq + 1);
    try {
      await reader.#consume();
    } catch (reason) {
      clearInterval(reader.#timer);
      throw caused("connect-failed", `the stream ${settings.stream} cannot be read`, reason);
    }
    return reader;
  }

  /** Ends the reader. With `purge`, deletes what it has read from the stream; otherwise the age of the outcomes deletes them. */
  async close(purge: boolean): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#messages?.close();
    if (purge) await this.#purge();
  }

  async #consume(): Promise<void> {
    const { client, stream, subject } = this.#settings;
    const consumer = await client.consumers.get(stream, {
      filter_subjects: subject,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: this.#nextSeq,
    });
    const messages = await consumer.consume({
      max_messages: batch,
      expires: requestMs,
      callback: (message) => {
        this.#nextSeq = message.seq + 1;
        this.#settings.onMessage(message.data);
      },
    });
    this.#messages = messages;
    void messages.closed().then((error) => this.#lost(error));
  }

  // The client gives a consumer up only if its stream is gone, or by a refusal. Tries again until the reader is closed.
  async #lost(error: unknown): Promise<void> {
    let reason = error;
    while (!this.#closed) {
      if (reason) this.#settings.onError(reason);
      await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      if (this.#closed) return;
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
