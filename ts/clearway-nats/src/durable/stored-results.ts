// SPDX-License-Identifier: MIT OR Apache-2.0
import type { JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { timers } from "../timer.js";
import { watchConnection } from "./connection.js";
import type { Names } from "./names.js";
import type { StreamSettings } from "./options.js";
import { numberOf, serverNumbers } from "./server-errors.js";
import type { Storage } from "./storage.js";

// A message to a subscription may be lost: the connection breaks, or another server of a cluster does not know the subscription yet.
const lookMs = 2_000;

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
      // A message that is published to a stream also comes to the subscriptions of its subject. So no consumer is necessary.
      const subscription = this.#connection.subscribe(this.#names.result(id), {
        callback: (error, message) => {
          if (error === null) end(() => resolve(message.data));
        },
      });
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
