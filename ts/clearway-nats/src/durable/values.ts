// SPDX-License-Identifier: MIT OR Apache-2.0
import { jetstream } from "@nats-io/jetstream";
import { type ObjectStore, Objm, StorageType } from "@nats-io/obj";
import { type NatsConnection, nanos } from "@nats-io/transport-node";
import { ClearwayError } from "clearway/remote";
import { Interrupted, persistently } from "./connection.js";
import type { Content } from "./layout.js";
import { objectName } from "./names.js";
import { ObjectReader } from "./object-reader.js";
import type { StreamSettings } from "./options.js";
import { hasNoResponder } from "./server-errors.js";

/**
 * Arguments and results that are too large for a message, as objects of a bucket. Opens the bucket at its first use. An object is deleted
 * after it was used; the servers delete one that is left over when neither the call nor its result can exist any more.
 */
export class Values {
  /** Bytes of the objects that were stored and read. */
  readonly ledger = { storedBytes: 0, readBytes: 0 };
  readonly #connection: NatsConnection;
  readonly #bucket: string;
  readonly #settings: StreamSettings;
  #store: Promise<ObjectStore> | undefined;

  constructor(connection: NatsConnection, bucket: string, settings: StreamSettings) {
    this.#connection = connection;
    this.#bucket = bucket;
    this.#settings = settings;
  }

  /** Throws `too-large` if a value of this size is beyond the limit. */
  check(what: string, bytes: number): void {
    const { valueBytesMax } = this.#settings;
    if (bytes <= valueBytesMax) return;
    throw new ClearwayError("too-large", `${what} has ${bytes} bytes, and valueBytesMax is ${valueBytesMax}`);
  }

  /**
   * Stores an object of a call. Copies the bytes in chunks. With `bytesMax`, rejects with `queue-full` if the bucket would have more bytes, unless
   * it has none. Rejects with the servers' refusal, and with `transport-closed` when the connection has ended.
   */
  async put(call: string, bytes: Uint8Array, bytesMax = Number.POSITIVE_INFINITY): Promise<Content> {
    const object = objectName(call);
    await this.#use(async (store) => {
      if (bytesMax < Number.POSITIVE_INFINITY) {
        const { size } = await store.status();
        if (size > 0 && size + bytes.length > bytesMax) {
          throw new ClearwayError("queue-full", `the stored values have ${size} bytes, and queue.bytes is ${bytesMax}`);
        }
      }
      return store.putBlob({ name: object }, bytes);
    });
    this.ledger.storedBytes += bytes.length;
    return { object, objectBytes: bytes.length };
  }

  /**
   * Reads an object of a known size. Allocates that size, after it was checked. Rejects with `too-large` above `valueBytesMax`, with `protocol`
   * if the object is missing, damaged or does not have that size, with `cancelled` when the signal aborts, and with `transport-closed` when the
   * connection has ended.
   */
  async get(name: string, size: number, signal?: AbortSignal): Promise<Uint8Array> {
    this.check("a stored value", size);
    const reader = new ObjectReader(this.#connection, name, size, signal);
    const bytes = await this.#use((store) => reader.read(store));
    this.ledger.readBytes += size;
    return bytes;
  }

  /** Deletes an object. Never rejects: the servers delete what is left over. */
  async delete(name: string): Promise<void> {
    try {
      const store = await this.#open();
      await store.delete(name);
    } catch {
      // The object's age deletes it.
    }
  }

  #use<Value>(act: (store: ObjectStore) => Promise<Value>): Promise<Value> {
    return persistently(this.#connection, async () => {
      const store = await this.#open();
      try {
        return await act(store);
      } catch (reason) {
        // The servers may have lost the bucket. The next try makes it again.
        this.#store = undefined;
        throw hasNoResponder(reason) ? new Interrupted("the bucket of the values does not answer") : reason;
      }
    });
  }

  async #open(): Promise<ObjectStore> {
    const { storage, replicas, callAgeMs, resultAgeMs } = this.#settings;
    this.#store ??= new Objm(jetstream(this.#connection)).create(this.#bucket, {
      storage: storage === "file" ? StorageType.File : StorageType.Memory,
      replicas,
      ttl: nanos(callAgeMs + resultAgeMs),
    });
    try {
      return await this.#store;
    } catch (reason) {
      this.#store = undefined;
      throw reason;
    }
  }
}
