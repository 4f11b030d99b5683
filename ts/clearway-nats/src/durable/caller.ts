// SPDX-License-Identifier: MIT OR Apache-2.0
import { setMaxListeners } from "node:events";
import { type JetStreamManager, jetstream } from "@nats-io/jetstream";
import { type NatsConnection, nuid } from "@nats-io/transport-node";
import type { Extension, StandardMessageCodec } from "clearway/channel";
import { ClearwayError, onAbort, unmoved } from "clearway/remote";
import { systemClock, timers } from "../clock.js";
import { outcome, own } from "../outcome.js";
import { decodeReply, encodeCall, type WireCallOptions, wireCodec } from "../wire/call.js";
import { payloadBytesMaxOf, watchConnection } from "./connection.js";
import { type CallEnvelope, type OutcomeEnvelope, readOutcomes, writeCall } from "./layout.js";
import { classOf, keyConsumer, type Names, namesOf, partitionOf } from "./names.js";
import { limited, type OpenCall, OpenCalls, type StoredCall } from "./open-calls.js";
import { type CallerSettings, headersBytesMax, objectBytesMinOf, outstanding, resendMsMaxOf } from "./options.js";
import { Publisher } from "./publisher.js";
import { ReplyReader, StoredResults } from "./result-reader.js";
import { Storage } from "./storage.js";
import { managerOf, paddedHeaders } from "./streams.js";
import { Values } from "./values.js";

/** What `durablePool()` needs besides its options. */
export interface DurablePoolContext {
  readonly connection: NatsConnection;
  readonly module: string;
  readonly version: string;
  readonly extensions: readonly Extension[];
  readonly onError: (error: unknown) => void;
  /** Called when the pool has closed. Closes the connection, if it is the pool's own. */
  closed(): Promise<void>;
}

/** Options of calls, validated. */
export interface DurableCallSettings {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly deadlineMs?: number;
  readonly key?: string | number;
  readonly priority: number;
}

/** Counters of a pool of durable calls. */
export interface DurablePoolStats {
  /** Number of calls that wait for an outcome. */
  open: number;
  /** Number of messages that the servers have not confirmed. */
  unconfirmed: number;
  calls: number;
  submitted: number;
  ok: number;
  failed: number;
  cancelled: number;
  /** Number of outcomes for calls that do not wait: cancelled ones, or second outcomes of the same call. */
  unexpected: number;
  /** Number of messages of which a part was no outcome. */
  malformed: number;
  /** Number of messages that were sent again because no confirmation came. */
  resent: number;
  /** Bytes of calls and outcomes, without objects. */
  bytes: { sent: number; received: number };
  /** Bytes of objects for large values. */
  objects: { storedBytes: number; readBytes: number };
}

// How often a caller looks at the streams while it waits for outcomes, in milliseconds.
const lookMs = 10_000;

interface Parts {
  readonly context: DurablePoolContext;
  readonly storage: Storage<CallerSettings>;
  readonly names: Names;
  readonly manager: JetStreamManager;
}

/** The caller's side of the durable mode. */
export class DurableCaller {
  readonly #parts: Parts;
  readonly #codec: StandardMessageCodec;
  readonly #publisher: Publisher;
  readonly #values: Values;
  readonly #results: StoredResults;
  readonly #id = nuid.next();
  readonly #open = new OpenCalls();
  // Aborts everything that waits when the pool ends.
  readonly #life = new AbortController();
  readonly #sweeper: NodeJS.Timeout;
  readonly #unwatch: () => void;
  readonly #counters = { calls: 0, submitted: 0, unexpected: 0, malformed: 0 };
  readonly #bytes = { sent: 0, received: 0 };
  #reader: ReplyReader | undefined;
  #numbers = 0;
  #closing: Promise<void> | undefined;
  /** When a closing pool has ended at the latest. */
  #endMs = Number.POSITIVE_INFINITY;

  private constructor(parts: Parts) {
    this.#parts = parts;
    const { context, storage, names, manager } = parts;
    const { connection } = context;
    const { settings } = storage;
    // Each call of `result()` listens.
    setMaxListeners(0, this.#life.signal);
    this.#codec = wireCodec(context.extensions);
    this.#publisher = new Publisher(connection, { ...outstanding, resendMs: settings.resendMs, storage });
    // A call that was stored may have run, and its outcome is lost. One that is not stored yet is the publisher's.
    storage.onLost((reason) => this.#open.failStored(reason));
    this.#values = new Values(connection, names.values, settings);
    this.#results = new StoredResults(connection, manager, names, storage);
    this.#sweeper = timers.setInterval(
      () => timers.setImmediate(() => this.#sweep()),
      Math.min(lookMs, settings.callAgeMs / 4),
    );
    this.#sweeper.unref();
    this.#unwatch = watchConnection(connection, {
      reconnected: () => {},
      closed: (reason) => void this.end(reason),
    });
  }

  /** Creates the streams that do not exist, and opens the caller. Rejects with `connect-failed`. */
  static async open(context: DurablePoolContext, given: CallerSettings): Promise<DurableCaller> {
    const names = namesOf(context.module, context.version);
    const manager = await managerOf(context.connection);
    const { connection, onError } = context;
    const storage = await Storage.open({ connection, manager, names, settings: given, onError });
    const caller = new DurableCaller({ context, storage, names, manager });
    try {
      caller.#reader = await ReplyReader.open({
        connection,
        client: jetstream(connection),
        manager,
        storage,
        stream: names.results,
        subject: names.reply(caller.#id),
        onMessage: (body) => caller.#receive(body),
        onError,
      });
    } catch (reason) {
      caller.#end(reason as ClearwayError);
      throw reason;
    }
    return caller;
  }

  /** Stores a call. The promise settles with the task's outcome. */
  call(task: string, args: readonly unknown[], settings: DurableCallSettings): Promise<unknown> {
    const { promise, resolve, fail } = outcome();
    try {
      this.#checkOpen();
      if (this.#open.size >= this.#parts.storage.settings.openMax) {
        throw new ClearwayError("queue-full", `${this.#open.size} calls wait for an outcome, and openMax is reached`);
      }
      const id = this.#nextId();
      const call = this.#encode(task, args, settings);
      const atMs = timers.nowMs();
      const open: OpenCall = { resolve, fail, atMs, release: undefined, stored: undefined, cancelled: false };
      this.#open.add(id, open);
      this.#counters.calls++;
      open.release = limited(settings, (reason) => this.#cancel(id, open, reason));
      if (open.cancelled) {
        // The signal aborted before the call could be sent, perhaps while its arguments were read.
        open.release?.();
        return promise;
      }
      this.#store({ id, caller: this.#id, callback: "", cancellable: open.release !== undefined }, call, settings).then(
        (stored) => {
          open.stored = stored;
          if (open.cancelled) this.#drop(id, stored);
        },
        (reason) => this.#open.settle(id, "failed", () => fail(reason)),
      );
    } catch (reason) {
      fail(reason);
    }
    return promise;
  }

  /** Stores a call whose outcome is read by its id. Resolves with the id when it is stored. */
  async submit(
    task: string,
    args: readonly unknown[],
    settings: DurableCallSettings & { readonly id?: string; readonly callback?: string },
  ): Promise<string> {
    this.#checkOpen();
    const id = settings.id ?? this.#nextId();
    const call = this.#encode(task, args, settings);
    await this.#store({ id, caller: "", callback: settings.callback ?? "", cancellable: false }, call, settings);
    this.#counters.submitted++;
    return id;
  }

  /** Waits for the outcome of a submitted call. */
  result(id: string, limits: { readonly signal?: AbortSignal; readonly deadlineMs?: number }): Promise<unknown> {
    const { promise, resolve, fail } = outcome();
    this.#result(id, limits).then(resolve, fail);
    return promise;
  }

  async #result(id: string, limits: { readonly signal?: AbortSignal; readonly deadlineMs?: number }): Promise<unknown> {
    this.#checkOpen();
    const controller = new AbortController();
    const release = limited(limits, (reason) => controller.abort(reason));
    const ended = (): void => controller.abort(this.#life.signal.reason);
    this.#life.signal.addEventListener("abort", ended);
    try {
      const body = await this.#results.wait(id, controller.signal);
      this.#bytes.received += body.length;
      const [first] = readOutcomes(body);
      if (first === undefined) throw new ClearwayError("protocol", `the outcome of the call ${id} is empty`);
      return await unlessAborted(this.#read(first, controller.signal), controller.signal);
    } finally {
      release?.();
      this.#life.signal.removeEventListener("abort", ended);
    }
  }

  stats(): DurablePoolStats {
    return {
      open: this.#open.size,
      unconfirmed: this.#publisher.unconfirmed,
      ...this.#counters,
      ...this.#open.counters,
      resent: this.#publisher.resent,
      bytes: { ...this.#bytes },
      objects: { ...this.#values.ledger },
    };
  }

  /**
   * Takes no more calls and waits for the open ones. Settles after at most about `timeoutMs`. A limit of time also applies if the pool is
   * closing already.
   */
  async close(timeoutMs?: number): Promise<void> {
    const ms = timeoutMs ?? 30_000;
    const why = new ClearwayError("pool-closed", "the pool is closed");
    const first = this.#closing === undefined;
    if (first || timeoutMs !== undefined) this.#endMs = Math.min(this.#endMs, timers.nowMs() + ms);
    if (!first && timeoutMs !== undefined) {
      const stop = systemClock.after(ms, () => this.#open.failAll(why));
      void this.#closing?.then(stop, stop);
    }
    this.#closing ??= this.#open.empty(ms).then(() => this.end(why, this.#endMs - timers.nowMs()));
    await this.#closing;
  }

  /**
   * Rejects the open calls with the error and closes. With a time, in milliseconds, deletes the outcomes that this caller has read, and waits for
   * that at most so long.
   */
  async end(reason: ClearwayError, purgeMs = 0): Promise<void> {
    if (this.#life.signal.aborted) return;
    this.#end(reason);
    const { context } = this.#parts;
    await this.#reader?.close(context.connection.isClosed() ? 0 : purgeMs);
    await context.closed();
  }

  #end(reason: ClearwayError): void {
    this.#life.abort(reason);
    timers.clearInterval(this.#sweeper);
    this.#unwatch();
    this.#parts.storage.close();
    this.#open.failAll(reason);
    this.#publisher.end(reason);
  }

  // Nothing tells a caller that only the queue of its calls is gone.
  #sweep(): void {
    if (this.#life.signal.aborted) return;
    const { storage } = this.#parts;
    const { callAgeMs, resultAgeMs } = storage.settings;
    this.#open.failOld(callAgeMs + resultAgeMs);
    // The storage reports what fails.
    if (this.#open.size + this.#results.waits > 0) storage.check().catch(() => {});
  }

  #checkOpen(): void {
    this.#life.signal.throwIfAborted();
    if (this.#closing) throw new ClearwayError("pool-closed", "the pool is closing");
  }

  #nextId(): string {
    return `${this.#id}-${(this.#numbers++).toString(36)}`;
  }

  #encode(task: string, args: readonly unknown[], settings: DurableCallSettings): Uint8Array {
    const { timeoutMs, deadlineMs, key, priority } = settings;
    const plain = (timeoutMs ?? deadlineMs ?? key) === undefined && priority === 0;
    const options: WireCallOptions = { timeoutMs, deadlineMs, key: key === undefined ? key : String(key), priority };
    const bytes = encodeCall(this.#codec, { task, args: args.map(unmoved), options: plain ? undefined : options });
    this.#values.check("the call", bytes.length);
    return bytes;
  }

  async #store(
    envelope: Omit<CallEnvelope, "content">,
    call: Uint8Array,
    { key, priority }: DurableCallSettings,
  ): Promise<StoredCall> {
    const { context, names, storage } = this.#parts;
    const { settings } = storage;
    const partition = key === undefined ? undefined : partitionOf(key, settings.partitions);
    const subject = partition === undefined ? names.plain(classOf(priority)) : names.keyed(partition);
    const large = call.length >= objectBytesMinOf(settings, payloadBytesMaxOf(context.connection)) - headersBytesMax;
    const content = large ? await this.#values.put(envelope.id, call, settings.queue.bytes) : { bytes: call };
    const body = writeCall({ ...envelope, content });
    this.#bytes.sent += body.length;
    const object = "object" in content ? content.object : undefined;
    try {
      const stored = await this.#publisher.publish(subject, body, {
        headers: paddedHeaders(envelope.id, subject, body, settings),
        resendMsMax: resendMsMaxOf(settings),
      });
      // Another message with the id was stored. One that was sent twice may be that message itself, and a worker process deletes its object.
      if (object !== undefined && stored.duplicate && !stored.resent) void this.#values.delete(object);
      return { ...stored, object, partition };
    } catch (reason) {
      const { code } = reason as ClearwayError;
      // The call may be stored after these errors, and its object is then needed.
      if (object !== undefined && code !== "transport-closed" && code !== "storage-lost")
        void this.#values.delete(object);
      throw reason;
    }
  }

  #cancel(id: string, open: OpenCall, reason: unknown): void {
    this.#open.settle(id, "cancelled", () => open.fail(reason));
    open.cancelled = true;
    // A call that is not stored yet is removed when it is.
    if (open.stored) this.#drop(id, open.stored);
  }

  // Removes a call from the queue, if no worker process has ended it, and tells the process that has it.
  #drop(id: string, stored: StoredCall): void {
    const { context, names } = this.#parts;
    if (context.connection.isClosed()) return;
    try {
      context.connection.publish(names.drop, id);
    } catch {
      // The connection is draining. The call runs, and its outcome is dropped.
    }
    // Rejects if a worker process was faster, and then that process deletes the object.
    this.#remove(stored).catch(() => {});
  }

  async #remove({ seq, object, partition }: StoredCall): Promise<void> {
    const { manager, names } = this.#parts;
    if (partition !== undefined) {
      // Without its unconfirmed call, the partition would deliver the next one while the task of this one still stops.
      const info = await manager.consumers.info(names.calls, keyConsumer(partition)).catch(() => undefined);
      if (info !== undefined && info.delivered.stream_seq >= seq) return;
    }
    await manager.streams.deleteMessage(names.calls, seq, false);
    if (object !== undefined) await this.#values.delete(object);
  }

  #receive(body: Uint8Array): void {
    this.#bytes.received += body.length;
    try {
      for (const each of readOutcomes(body)) void this.#answer(each);
    } catch (reason) {
      this.#counters.malformed++;
      this.#parts.context.onError(reason);
    }
  }

  async #answer(envelope: OutcomeEnvelope): Promise<void> {
    const { id, content } = envelope;
    const open = this.#open.get(id);
    if (open === undefined) this.#counters.unexpected++;
    else {
      try {
        const value = await this.#read(envelope);
        this.#open.settle(id, "ok", () => open.resolve(value));
      } catch (reason) {
        this.#open.settle(id, "failed", () => open.fail(reason));
      }
    }
    // Only this caller reads the outcome of a call that has a caller.
    if ("object" in content) await this.#values.delete(content.object);
  }

  // Returns the result in an outcome. Throws the task's error.
  async #read({ content }: OutcomeEnvelope, signal?: AbortSignal): Promise<unknown> {
    const bytes =
      "bytes" in content ? content.bytes : await this.#values.get(content.object, content.objectBytes, signal);
    const reply = decodeReply(this.#codec, bytes);
    if (reply.ok) return reply.value;
    throw own(reply.error);
  }
}

// Rejects with the signal's reason if it aborts first.
function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    onAbort(signal, reject);
  });
}
