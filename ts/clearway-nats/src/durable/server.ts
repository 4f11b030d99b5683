// SPDX-License-Identifier: MIT OR Apache-2.0
import { availableParallelism } from "node:os";
import type { JetStreamManager } from "@nats-io/jetstream";
import type { KV } from "@nats-io/kv";
import type { Subscription } from "@nats-io/transport-node";
import type { PoolOptions } from "clearway";
import { ClearwayError } from "clearway/remote";
import { systemClock, timerMsMax, timers, within } from "../clock.js";
import type { ServeContext, ServedMode } from "../options/serve.js";
import { AckRepair } from "./ack-repair.js";
import { Claims, openClaims } from "./claims.js";
import { type CallEnvelope, readCall } from "./layout.js";
import { namesOf } from "./names.js";
import { type DurableServeOptions, outstanding, type ServeSettings, serveSettingsOf } from "./options.js";
import { Publisher } from "./publisher.js";
import { type Delivery, Puller } from "./puller.js";
import { ResultWriter } from "./result-writer.js";
import { Run, type RunContext } from "./run.js";
import { Capacity, Slots } from "./slots.js";
import { Storage } from "./storage.js";
import { ensureConsumers, managerOf, type QueueConsumer } from "./streams.js";
import { Values } from "./values.js";

/** Counters of a worker process's durable mode. */
export interface DurableServeStats {
  /** Number of calls that this process has received and that have no outcome yet. */
  open: number;
  /** Number of deliveries, including repeated ones. */
  received: number;
  /** Number of outcomes that are stored. */
  answered: number;
  /** Number of deliveries of a call that this process already has or has ended. They did not begin it again. */
  duplicates: number;
  /** Number of calls that came again after a run without an outcome, and that began again. */
  again: number;
  /** Number of calls that ended with `interrupted`, because they may run only once. */
  interrupted: number;
  /** Number of calls that were given up. */
  deadLetters: number;
  /** Number of calls that were given back, to run again here or elsewhere. */
  givenBack: number;
  /** Number of messages that were no calls. They are in the dead-letter stream. */
  malformed: number;
  /** Number of outcomes that were not stored because the call had one. */
  repeated: number;
  /** Number of messages that were sent again because no confirmation came. */
  resent: number;
  /** Number of partitions that waited for the confirmation of a call that had left the queue, and that this process made go on. */
  unblocked: number;
  /** Bytes of objects for large values. */
  objects: { storedBytes: number; readBytes: number };
}

// Number of ended calls whose repeated delivery is recognized. An id has at most 128 characters.
const endedMax = 8_192;
// A partition's calls run one after the other. A request for several saves a round trip between them.
const partitionCapacity = 16;

/**
 * Serves the durable calls of a module. Creates the streams if they do not exist. Rejects with `connect-failed`, and with `invalid-argument`
 * for an option.
 */
export async function serveDurable(
  context: ServeContext,
  options: DurableServeOptions = {},
): Promise<ServedMode<DurableServeStats>> {
  const { connection, codec, pool } = context;
  const { module, version, onError } = context.settings;
  const manager = await managerOf(connection);
  const names = namesOf(module, version);
  let consumers: readonly QueueConsumer[] = [];
  let store: KV | undefined;
  const storage = await Storage.open({
    connection,
    manager,
    names,
    settings: serveSettingsOf(options),
    onError,
    extend: async (found) => {
      consumers = await ensureConsumers(manager, names, found);
      store = await openClaims(connection, names.claims, found);
    },
  });
  const { settings } = storage;
  const publisher = new Publisher(connection, { ...outstanding, resendMs, storage, onFull: onError });
  const capacity = new Capacity(concurrencyOf(context.settings.pool));
  const run: RunContext = {
    connection,
    module,
    codec,
    pool,
    tasks: new Set(context.tasks),
    idempotent: new Set(context.settings.idempotent),
    onError,
    settings,
    names,
    claims: new Claims({
      connection,
      manager,
      publisher,
      bucket: names.claims,
      store: store!,
      storage,
      ackWaitMs: Math.max(...consumers.map(({ ackWaitMs }) => ackWaitMs)),
    }),
    threads: new Slots(
      () => capacity.running,
      () => capacity.waitedTooLong(),
    ),
    claiming: new Slots(() => capacity.claimed),
    memory: new Slots(() => context.settings.limits.bytesMax),
    withdrawals: new Set(),
    values: new Values(connection, names.values, settings),
    writer: new ResultWriter({
      connection,
      manager,
      publisher,
      names,
      callbacks: settings.callbacks,
      onError,
    }),
    publisher,
    stopMs: Math.min(stopMsMax, context.settings.pool?.graceMs ?? graceMs),
    counters: { answered: 0, again: 0, interrupted: 0, deadLetters: 0, givenBack: 0 },
  };
  // Twice the round trip, for a server that is busy.
  let gatherMs = gatherMsMax;
  const measured = connection.rtt().then((ms) => {
    gatherMs = Math.min(gatherMsMax, 2 + 2 * ms);
  });
  await within(gatherMsMax, measured);
  return new Server(run, { manager, storage, consumers: () => consumers, capacity, gatherMs });
}

// Number of tasks that the local pool runs at once, at most.
function concurrencyOf({ size = "cpu", concurrency = 1 }: PoolOptions<unknown> = {}): number {
  const { min = 1, max = "cpu" } = typeof size === "object" ? size : { max: size };
  // As in the pool, a `min` above the number of cores raises "cpu".
  return concurrency * (max === "cpu" ? Math.max(min, availableParallelism()) : max);
}

// The local pool's own default. It replaces a worker whose cancelled task has not stopped after this time.
const graceMs = 1_000;
// A partition does not wait for longer than this for a task that was cancelled.
const stopMsMax = 60_000;
// A cluster elects another leader of a stream within some seconds.
const resendMs = 2_000;
const gatherMsMax = 50;
const nothing = (): void => {};
// The last messages of a process that closes have a short time also when its own time is over.
const flushMsMin = 250;
const flushMsMax = 1_000;

// How often this process reports that calls are in work. A consumer keeps the `ackWaitMs` of the process that created it.
function workingMsOf(consumers: readonly QueueConsumer[]): number {
  return Math.min(timerMsMax, ...consumers.map(({ ackWaitMs }) => ackWaitMs / 3));
}

interface ServerParts {
  readonly manager: JetStreamManager;
  readonly storage: Storage<ServeSettings>;
  /** The consumers of the queue as they were last seen. */
  consumers(): readonly QueueConsumer[];
  readonly capacity: Capacity;
  /** Time for a request for calls and its answer, in milliseconds. */
  readonly gatherMs: number;
}

class Server implements ServedMode<DurableServeStats> {
  readonly #context: RunContext;
  readonly #counters = { received: 0, duplicates: 0, malformed: 0 };
  readonly #runs = new Map<string, Run>();
  // The places of ended calls in the stream, by id.
  #ended = new Map<string, number>();
  #endedBefore = new Map<string, number>();
  readonly #parts: ServerParts;
  // The consumers that deliver one call at a time.
  readonly #singles = new Map<string, Puller>();
  #pullers: readonly Puller[] = [];
  // Whether a puller was refused room because the calls of this process do not end.
  #starved = false;
  readonly #repair: AckRepair;
  readonly #drops: Subscription;
  readonly #working: NodeJS.Timeout;
  #idle: (() => void) | undefined;
  #closing = false;

  constructor(context: RunContext, parts: ServerParts) {
    this.#context = context;
    this.#parts = parts;
    const { connection, names } = context;
    this.#drops = connection.subscribe(names.drop, {
      callback: (error, message) => {
        if (error === null) this.#runs.get(message.string())?.cancel();
      },
    });
    this.#working = timers.setInterval(() => {
      for (const each of this.#runs.values()) each.working();
    }, workingMsOf(parts.consumers()));
    this.#working.unref();
    this.#pull();
    parts.storage.onLost(() => {
      for (const each of this.#pullers) each.abandon();
      // Another call may have the place of one that has ended.
      this.#ended.clear();
      this.#endedBefore.clear();
      if (!this.#closing) this.#pull();
    });
    const { manager } = parts;
    this.#repair = new AckRepair({ connection, manager, stream: names.calls, pullers: this.#singles });
  }

  // Begins to ask for calls.
  #pull(): void {
    const { storage, consumers } = this.#parts;
    const { connection, names, settings } = this.#context;
    this.#singles.clear();
    this.#pullers = consumers().map(({ name, single, deliveredSeq }) => {
      const puller = new Puller({
        connection,
        stream: names.calls,
        consumer: name,
        deliveredSeq,
        pullMs: settings.pullMs,
        capacity: () => this.#room(single),
        // The storage reports what fails.
        missing: () => storage.check().then(nothing, nothing),
        whenSure: (act) => storage.whenSure(act),
        onDelivery: (delivery, release) => this.#take(delivery, release),
      });
      if (single) this.#singles.set(name, puller);
      return puller;
    });
  }

  // A process without a free thread, whose calls are long, asks for no more: other processes may be idle.
  #room(single: boolean): number {
    const { threads } = this.#context;
    const { capacity } = this.#parts;
    const none = threads.stuck || (!threads.free && capacity.ahead === 0);
    this.#starved ||= none;
    return none ? 0 : single ? partitionCapacity : capacity.calls;
  }

  // Asks again when a thread is free. The calls of all priorities have the time of a request to come.
  #resume(): void {
    if (!this.#starved) return;
    this.#starved = false;
    this.#context.threads.gather(this.#parts.gatherMs);
    for (const each of this.#pullers) each.pull();
  }

  stats(): DurableServeStats {
    const { counters, writer, publisher, values } = this.#context;
    return {
      open: this.#runs.size,
      ...this.#counters,
      ...counters,
      repeated: writer.repeated,
      resent: publisher.resent,
      unblocked: this.#repair.unblocked,
      objects: { ...values.ledger },
    };
  }

  async close(timeoutMs: number): Promise<void> {
    const { threads, claiming, memory, withdrawals, connection, publisher, claims } = this.#context;
    this.#closing = true;
    const endMs = timers.nowMs() + timeoutMs;
    const restMs = (): number => Math.min(flushMsMax, Math.max(flushMsMin, endMs - timers.nowMs()));
    for (const each of this.#pullers) each.stop();
    if (this.#runs.size > 0) {
      await new Promise<void>((resolve) => {
        const disarm = systemClock.after(timeoutMs, resolve);
        this.#idle = () => {
          disarm();
          resolve();
        };
      });
    }
    // The calls that have not begun run in another process.
    const reason = new ClearwayError("pool-closed", "the worker process closes");
    for (const each of [claiming, threads, memory]) each.end(reason);
    // Their runs give them back before this turn of the event loop ends, or when their claims are withdrawn.
    await new Promise((resolve) => timers.setImmediate(resolve));
    if (withdrawals.size > 0) await within(restMs(), Promise.all(withdrawals));
    for (const each of this.#pullers) each.close();
    timers.clearInterval(this.#working);
    this.#repair.close();
    this.#drops.unsubscribe();
    // Confirmations of ended calls are under way. What is lost comes again and is recognized by its outcome.
    if (!connection.isClosed()) await within(restMs(), connection.flush());
    publisher.end();
    claims.close();
    this.#parts.storage.close();
  }

  #take(delivery: Delivery, release: () => void): void {
    const counters = this.#counters;
    counters.received++;
    let envelope: CallEnvelope;
    try {
      envelope = readCall(delivery.body);
    } catch (reason) {
      counters.malformed++;
      void this.#refuse(delivery, reason).finally(release);
      return;
    }
    const { id } = envelope;
    const known = this.#runs.get(id);
    if (known !== undefined || this.#hasEnded(id, delivery)) {
      counters.duplicates++;
      // A message at another place is a second one with the id of an open call. The first one stays in the queue until the call has ended,
      // unless the servers have lost it.
      const first = known?.delivery;
      if (first !== undefined && (first.lost || first.seq === delivery.seq)) known?.deliveredAgain(delivery);
      else delivery.ack();
      release();
      return;
    }
    const begun = new Run(this.#context, envelope, delivery);
    this.#runs.set(id, begun);
    this.#parts.capacity.began();
    void begun.work().then((ended) => {
      this.#runs.delete(id);
      this.#parts.capacity.ended();
      if (ended) this.#remember(id, delivery);
      release();
      this.#resume();
      if (this.#runs.size === 0) this.#idle?.();
    });
  }

  // Keeps a message that is no call in the dead-letter stream, so that nothing is lost silently.
  async #refuse(delivery: Delivery, reason: unknown): Promise<void> {
    const { publisher, names, onError } = this.#context;
    onError(reason);
    try {
      await publisher.publish(names.deadLetter(`malformed-${crypto.randomUUID()}`), delivery.body);
      delivery.discard();
    } catch (failure) {
      onError(failure);
    }
  }

  // Remembers at least the last `endedMax` calls. A map is slow when its oldest entry is deleted again and again, so there are two.
  #remember(id: string, { seq }: Delivery): void {
    this.#ended.set(id, seq);
    if (this.#ended.size < endedMax) return;
    this.#endedBefore = this.#ended;
    this.#ended = new Map();
  }

  // Another message with the id of a call that has ended is another call. The servers have decided that when they stored it.
  #hasEnded(id: string, { seq }: Delivery): boolean {
    return this.#ended.get(id) === seq || this.#endedBefore.get(id) === seq;
  }
}
