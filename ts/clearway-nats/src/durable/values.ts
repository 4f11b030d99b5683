// SPDX-License-Identifier: MIT OR Apache-2.0
import { JetStreamApiError, JetStreamError, jetstream } from "@nats-io/jetstream";
import { type ObjectResult, type ObjectStore, Objm, StorageType } from "@nats-io/obj";
import {
  ClosedConnectionError,
  DrainingConnectionError,
  type NatsConnection,
  NoRespondersError,
  nanos,
  PermissionViolationError,
  RequestError,
  TimeoutError,
} from "@nats-io/transport-node";
import { ClearwayError, caused, onAbort } from "clearway/remote";
import { systemClock } from "../clock.js";
import { hasNoResponder, Interrupted, persistently, watchConnection } from "./connection.js";
import type { Content } from "./layout.js";
import { objectName } from "./names.js";
import type { StreamSettings } from "./options.js";

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

/** The part of an object store that an {@link ObjectReader} uses. */
export type ReadableStore = Pick<ObjectStore, "info" | "get">;

// Longest wait for the next chunk, in milliseconds. An object that is deleted while it is read would never end.
const chunkMsMax = 30_000;
// A server of a cluster may die while the connection stays, which stalls a read. Chunks that are missing stall every read.
const stallsMax = 3;

// Errors that come from the connection or the servers, and say nothing about the object.
const foreign = [
  ClosedConnectionError,
  DrainingConnectionError,
  JetStreamApiError,
  JetStreamError,
  NoRespondersError,
  PermissionViolationError,
  RequestError,
  TimeoutError,
];

class Stalled extends Error {}

const ignore = (): void => {};

/** Reads one object of a known size. Treats its metadata and its chunks as made up by a hostile peer. */
export class ObjectReader {
  readonly #connection: NatsConnection;
  readonly #name: string;
  readonly #size: number;
  readonly #signal: AbortSignal | undefined;
  #stalls = 0;

  constructor(connection: NatsConnection, name: string, size: number, signal?: AbortSignal) {
    this.#connection = connection;
    this.#name = name;
    this.#size = size;
    this.#signal = signal;
  }

  /**
   * Reads the object. Allocates its size after the servers have confirmed it.
   *
   * Rejects with `protocol` if the object is missing, damaged, a link, or does not have the size, and if its chunks do not come three times.
   * Rejects with `cancelled` when the signal aborts.
   * Any other error concerns the connection or the servers: the same read may succeed later.
   */
  async read(store: ReadableStore): Promise<Uint8Array> {
    let interrupt: (reason: Error) => void = ignore;
    const interrupted = new Promise<never>((_, reject) => {
      interrupt = reject;
    });
    interrupted.catch(ignore);
    // The client does not notice for a minute that the chunks of an interrupted read no longer come.
    const lost = (): void => interrupt(new Interrupted("the connection was interrupted"));
    const unwatch = watchConnection(this.#connection, { disconnected: lost, reconnected: lost, closed: lost });
    const cancelled = (): void =>
      interrupt(new ClearwayError("cancelled", `the read of the object ${this.#name} was cancelled`));
    const ignoreSignal = this.#signal && onAbort(this.#signal, cancelled);
    try {
      return await this.#read(store, interrupted);
    } catch (reason) {
      throw this.#judged(reason);
    } finally {
      unwatch();
      ignoreSignal?.();
    }
  }

  async #read(store: ReadableStore, interrupted: Promise<never>): Promise<Uint8Array> {
    const info = await inTime(store.info(this.#name), interrupted);
    if (info === null || info.deleted) throw this.#wrong("is missing");
    // The client would follow a link, also one to itself, and would create the bucket that it names.
    if (info.options?.link) throw this.#wrong("is a link");
    if (info.size !== this.#size) throw this.#wrong(`does not have ${this.#size} bytes`);
    const getting = store.get(this.#name);
    let result: ObjectResult | null;
    try {
      result = await inTime(getting, interrupted);
    } catch (reason) {
      getting.then(discard, ignore);
      throw reason;
    }
    if (result === null) throw this.#wrong("is missing");
    // The client also reports a failure of the stream here. Without a handler, it would end the process.
    result.error.catch(ignore);
    const reader = result.data.getReader();
    try {
      return await this.#chunks(reader, interrupted);
    } finally {
      // Rejects if the stream has failed.
      reader.cancel().catch(ignore);
    }
  }

  // The client ends the stream with an error if the digest of the object is another one.
  async #chunks(reader: ReadableStreamDefaultReader<Uint8Array>, interrupted: Promise<never>): Promise<Uint8Array> {
    const bytes = new Uint8Array(this.#size);
    let at = 0;
    for (;;) {
      const { done, value } = await inTime(reader.read(), interrupted);
      if (done ? at !== bytes.length : value.length > bytes.length - at) {
        throw this.#wrong(`does not have ${bytes.length} bytes`);
      }
      if (done) return bytes;
      bytes.set(value, at);
      at += value.length;
    }
  }

  #judged(reason: unknown): unknown {
    if (reason instanceof ClearwayError || reason instanceof Interrupted) return reason;
    if (reason instanceof Stalled && ++this.#stalls < stallsMax) return reason;
    if (this.#connection.isClosed() || foreign.some((each) => reason instanceof each)) return reason;
    return caused("protocol", `the object ${this.#name} cannot be read`, reason);
  }

  #wrong(what: string): ClearwayError {
    return new ClearwayError("protocol", `the object ${this.#name} ${what}`);
  }
}

// Waits for a step of a read, at most `chunkMsMax`, and only while the connection stays.
async function inTime<Value>(step: Promise<Value>, interrupted: Promise<never>): Promise<Value> {
  let disarm = (): void => {};
  const late = new Promise<never>((_, reject) => {
    disarm = systemClock.after(chunkMsMax, () => reject(new Stalled("the servers send nothing more of the object")));
  });
  try {
    return await Promise.race([step, late, interrupted]);
  } finally {
    disarm();
  }
}

// Ends a read that began too late, when its call had failed.
function discard(result: ObjectResult | null): void {
  result?.error.catch(ignore);
  result?.data.cancel().catch(ignore);
}
