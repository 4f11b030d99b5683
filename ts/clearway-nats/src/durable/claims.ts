// SPDX-License-Identifier: MIT OR Apache-2.0
import { type JetStreamManager, jetstream, StorageType } from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import { headers, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";
import { timerMsMax, timers } from "../clock.js";
import { numberOf, persistently, serverNumbers, watchConnection, whileConnected } from "./connection.js";
import type { StreamSettings } from "./options.js";
import type { Publisher, Stored } from "./publisher.js";
import type { Storage } from "./storage.js";

// The servers store a key only if it has no value yet. The client's `create()` does the same, with a timer for each request.
const onlyNew = headers();
onlyNew.set("Nats-Expected-Last-Subject-Sequence", "0");
const encoder = new TextEncoder();
// A server that dies may forget that it has confirmed the end of a call, and deliver the call again, within some seconds. So a claim remains
// for at least this time.
const releaseMsMin = 60_000;

/** What a worker process finds when it wants to begin a call. */
export type Claim =
  /** This run may begin. `revision` names the claim when it is released. */
  | { readonly taken: true; readonly revision: number }
  /** Another run has begun the call. */
  | { readonly taken: false };

/** What {@link Claims} needs. */
export interface ClaimsParts {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly publisher: Publisher;
  readonly bucket: string;
  /** The bucket, as {@link openClaims} returns it. */
  readonly store: KV;
  readonly storage: Pick<Storage<StreamSettings>, "onLost">;
  /** Longest time after which the servers give a call to another worker process, in milliseconds. */
  readonly ackWaitMs: number;
}

/** Creates the bucket of the claims if it does not exist. Rejects with the error of the servers. */
export function openClaims(
  connection: NatsConnection,
  bucket: string,
  { storage, replicas, callAgeMs }: StreamSettings,
): Promise<KV> {
  return new Kvm(jetstream(connection)).create(bucket, {
    storage: storage === "file" ? StorageType.File : StorageType.Memory,
    replicas,
    // A claim may be made as late as a call ends its life in the queue, and must outlive it.
    ttl: 2 * callAgeMs,
  });
}

/**
 * Who may run a call, in a bucket of the servers. The first run of a call that creates its key has the claim. Only the servers decide; no
 * clock of a worker process is read.
 *
 * A claim outlives its call: the servers keep it longer than the call, and it is deleted only some time after they have confirmed the call's
 * end. A claim whose connection was lost in between is left to its age, because the servers may have lost that confirmation.
 */
export class Claims {
  readonly #connection: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #publisher: Publisher;
  readonly #bucket: string;
  readonly #store: KV;
  readonly #releaseMs: number;
  readonly #unwatch: () => void;
  readonly #unlisten: () => void;
  // The claims to delete, the oldest first.
  #ended: { readonly revision: number; readonly dueMs: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor({ connection, manager, publisher, bucket, store, storage, ackWaitMs }: ClaimsParts) {
    this.#connection = connection;
    this.#manager = manager;
    this.#publisher = publisher;
    this.#bucket = bucket;
    this.#store = store;
    this.#releaseMs = Math.min(timerMsMax, Math.max(releaseMsMin, 2 * ackWaitMs));
    const forget = (): void => {
      this.#ended = [];
    };
    this.#unwatch = watchConnection(connection, { disconnected: forget, reconnected: forget, closed: forget });
    this.#unlisten = storage.onLost(forget);
  }

  /** Claims a call for a run. Rejects with the servers' refusal, and with `transport-closed` when the connection has ended. */
  async take(call: string, run: string): Promise<Claim> {
    try {
      const { seq } = await this.#put(call, run, onlyNew);
      return { taken: true, revision: seq };
    } catch (reason) {
      if (numberOf(reason) !== serverNumbers.wrongLastSequence) throw reason;
    }
    // The claim may be this run's own, if the first confirmation was lost and the request was sent again.
    const entry = await persistently(this.#connection, () => this.#store.get(call));
    return entry?.string() === run ? { taken: true, revision: entry.revision } : { taken: false };
  }

  /**
   * Counts one more beginning of a call of an idempotent task. Returns the number of beginnings that were counted before, and the revision of the
   * count.
   */
  async countBeginning(call: string): Promise<{ readonly before: number; readonly revision: number }> {
    const entry = await persistently(this.#connection, () => this.#store.get(`begun.${call}`));
    const before = entry ? Number(entry.string()) || 0 : 0;
    // Two runs at once would count as one. That makes the limit of tries a little later, and is harmless.
    return { before, revision: await this.count(call, before + 1) };
  }

  /** Sets the number of counted beginnings. Returns the revision of the count. */
  async count(call: string, beginnings: number): Promise<number> {
    const { seq } = await this.#put(`begun.${call}`, String(beginnings));
    return seq;
  }

  /**
   * Deletes the claim of a run at once, if there is one, so that another run may have it. Resolves when the servers have confirmed it, and
   * rejects when the connection is lost meanwhile. Looks at the claim first: a bucket that the servers have lost and that was made again has
   * other revisions.
   */
  async withdraw(call: string, run: string): Promise<void> {
    const own = async (): Promise<void> => {
      const entry = await this.#store.get(call);
      if (entry?.string() === run) await this.#delete(entry.revision);
    };
    await whileConnected(this.#connection, own());
  }

  #put(key: string, value: string, condition?: MsgHdrs): Promise<Stored> {
    return this.#publisher.publish(`$KV.${this.#bucket}.${key}`, encoder.encode(value), {
      ...(condition && { headers: condition }),
    });
  }

  /** Deletes a claim after some time. The servers must have confirmed that its call has ended. */
  release(revision: number): void {
    this.#ended.push({ revision, dueMs: timers.nowMs() + this.#releaseMs });
    this.#timer ??= timers.setTimeout(() => this.#deleteDue(), this.#releaseMs).unref();
  }

  /** Leaves the claims that are not deleted yet to their age. */
  close(): void {
    this.#unwatch();
    this.#unlisten();
    timers.clearTimeout(this.#timer);
    this.#ended = [];
  }

  async #delete(revision: number): Promise<void> {
    await this.#manager.streams.deleteMessage(`KV_${this.#bucket}`, revision, false);
  }

  #deleteDue(): void {
    this.#timer = undefined;
    const at = timers.nowMs();
    const due = this.#ended.findIndex(({ dueMs }) => dueMs > at);
    for (const { revision } of this.#ended.splice(0, due === -1 ? this.#ended.length : due)) {
      // Rejects if the servers are away. The claim's age deletes it.
      this.#delete(revision).catch(() => {});
    }
    const [next] = this.#ended;
    if (next) this.#timer = timers.setTimeout(() => this.#deleteDue(), next.dueMs - at).unref();
  }
}
