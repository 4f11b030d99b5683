// SPDX-License-Identifier: MIT OR Apache-2.0
import type { JetStreamManager } from "@nats-io/jetstream";
import { headers, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";
import { ClearwayError } from "clearway/remote";
import { timers } from "../clock.js";
import { numberOf, payloadBytesMaxOf, persistently, serverNumbers } from "./connection.js";
import { joinOutcomes } from "./layout.js";
import { isId, type Names } from "./names.js";
import { headersBytesMax } from "./options.js";
import type { Publisher } from "./publisher.js";

// The servers store the first outcome of a submitted call and refuse any other one.
const first: MsgHdrs = headers();
first.set("Nats-Expected-Last-Subject-Sequence", "0");

interface Batch {
  readonly caller: string;
  readonly outcomes: Uint8Array[];
  bytes: number;
  readonly stored: Promise<unknown>;
  readonly send: () => void;
}

/** Settings of a {@link ResultWriter}. */
export interface WriterSettings {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly publisher: Publisher;
  readonly names: Names;
  /** Beginnings of the subjects to which outcomes may be published. */
  readonly callbacks: readonly string[];
  readonly onError: (error: unknown) => void;
}

/**
 * Stores the outcomes of calls, and waits while the servers have no room for them: a call that ran must not run again for that. Outcomes for one caller that come in one turn of the event loop travel as one message.
 */
export class ResultWriter {
  /** Number of outcomes that were refused, because the call had one already. */
  repeated = 0;
  readonly #connection: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #publisher: Publisher;
  readonly #names: Names;
  readonly #callbacks: readonly string[];
  readonly #onError: (error: unknown) => void;
  readonly #batches = new Map<string, Batch>();

  constructor({ connection, manager, publisher, names, callbacks, onError }: WriterSettings) {
    this.#callbacks = callbacks;
    this.#onError = onError;
    this.#connection = connection;
    this.#manager = manager;
    this.#publisher = publisher;
    this.#names = names;
  }

  /** Sends an outcome to a caller that waits for it. Resolves when it is stored. */
  async reply(caller: string, outcome: Uint8Array): Promise<void> {
    let batch = this.#batches.get(caller);
    const bytesMax = payloadBytesMaxOf(this.#connection) / 2 - headersBytesMax;
    if (batch && batch.bytes + outcome.length > bytesMax) {
      batch.send();
      batch = undefined;
    }
    batch ??= this.#open(caller);
    batch.outcomes.push(outcome);
    batch.bytes += outcome.length;
    await batch.stored;
  }

  /** Stores the outcome of a submitted call, unless it has one. Resolves with the outcome that is stored. */
  async store(id: string, outcome: Uint8Array): Promise<Uint8Array> {
    try {
      await this.#publisher.publish(this.#names.result(id), outcome, { headers: first, waitsForRoom: true });
      return outcome;
    } catch (reason) {
      if (numberOf(reason) !== serverNumbers.wrongLastSequence) throw reason;
    }
    // This one was stored and its confirmation was lost, or another run was faster.
    this.repeated++;
    const last = { last_by_subj: this.#names.result(id) };
    const message = await persistently(this.#connection, () =>
      this.#manager.streams.getMessage(this.#names.results, last),
    );
    return message?.data ?? outcome;
  }

  /** Publishes an outcome to a callback subject, if the option `callbacks` allows it. Resolves when the servers have received it. */
  async notify(subject: string, outcome: Uint8Array): Promise<void> {
    // A caller could otherwise publish to any subject with this process's permissions.
    if (!(subject.split(".").every(isId) && this.#callbacks.some((each) => subject.startsWith(each)))) {
      const message = `the callback subject is not allowed: callback=${subject}`;
      return this.#onError(new ClearwayError("invalid-argument", message));
    }
    await persistently(this.#connection, async () => {
      this.#connection.publish(subject, outcome);
      await this.#connection.flush();
    });
  }

  #open(caller: string): Batch {
    const outcomes: Uint8Array[] = [];
    let send = (): void => {};
    const stored = new Promise((resolve, reject) => {
      send = () => {
        if (this.#batches.get(caller) === batch) this.#batches.delete(caller);
        const subject = this.#names.reply(caller);
        this.#publisher.publish(subject, joinOutcomes(outcomes), { waitsForRoom: true }).then(resolve, reject);
      };
    });
    const batch: Batch = { caller, outcomes, bytes: 0, stored, send };
    this.#batches.set(caller, batch);
    timers.setImmediate(() => {
      // A batch that was full has been sent already.
      if (this.#batches.get(caller) === batch) send();
    });
    return batch;
  }
}
