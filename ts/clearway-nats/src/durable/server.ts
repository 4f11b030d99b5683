// SPDX-License-Identifier: MIT OR Apache-2.0
import { availableParallelism } from "node:os";
import type { JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection, Subscription } from "@nats-io/transport-node";
import type { PoolOptions } from "clearway";
import { ClearwayError } from "clearway/remote";
import type { ServeContext, ServedMode } from "../serve/context.js";
import { timerMsMax } from "../timer.js";
import { AckRepair } from "./ack-repair.js";
import { ByteBudget } from "./byte-budget.js";
import { Capacity } from "./capacity.js";
import { Claims } from "./claims.js";
import { type CallEnvelope, readCall } from "./layout.js";
import { namesOf } from "./names.js";
import {
  type DurableServeOptions,
  headersBytesMax,
  objectBytesMinOf,
  outstanding,
  serveSettingsOf,
} from "./options.js";
import { Publisher } from "./publisher.js";
import { type Delivery, Puller } from "./puller.js";
import { ResultWriter } from "./result-writer.js";
import { Run, type RunContext } from "./run.js";
import { Slots } from "./slots.js";
import { ensureConsumers, ensureStreams, managerOf, type QueueConsumer } from "./streams.js";
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
  const settings = await ensureStreams(manager, names, serveSettingsOf(options));
  const consumers = await ensureConsumers(manager, names, settings);
  const payloadBytesMax = connection.info?.max_payload ?? 2 ** 20;
  const publisher = new Publisher(connection, { ...outstanding, resendMs });
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
      settings,
      ackWaitMs: Math.max(...consumers.map(({ ackWaitMs }) => ackWaitMs)),
    }),
    slots: new Slots(() => capacity.claimed),
    values: new Values(connection, names.values, settings),
    budget: new ByteBudget(context.settings.limits.bytesMax),
    writer: new ResultWriter({
      connection,
      manager,
      publisher,
      names,
      bytesMax: Math.floor(payloadBytesMax / 2) - headersBytesMax,
    }),
    publisher,
    objectBytesMin: objectBytesMinOf(settings, payloadBytesMax),
    stopMs: Math.min(stopMsMax, context.settings.pool?.graceMs ?? graceMs),
    counters: { answered: 0, again: 0, interrupted: 0, deadLetters: 0, givenBack: 0 },
  };
  return new Server(run, manager, consumers, capacity);
}

// Number of tasks that the local pool runs at once, at most.
function concurrencyOf({ size = "cpu", concurrency = 1 }: PoolOptions<unknown> = {}): number {
  const most = typeof size === "object" ? (size.max ?? "cpu") : size;
  return concurrency * (most === "cpu" ? availableParallelism() : most);
}

// The local pool's own default. It replaces a worker whose cancelled task has not stopped after this time.
const graceMs = 1_000;
// A partition does not wait for longer than this for a task that was cancelled.
const stopMsMax = 60_000;
// A cluster elects another leader of a stream within some seconds.
const resendMs = 2_000;
const flushMsMax = 1_000;

// Settles when the servers have received everything that was published, or after a time: there may be no connection now.
async function flushed(connection: NatsConnection): Promise<void> {
  if (connection.isClosed()) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, flushMsMax);
  });
  await Promise.race([connection.flush().catch(() => {}), late]);
  clearTimeout(timer);
}

// How often this process reports that calls are in work. A consumer keeps the `ackWaitMs` of the process that created it.
function workingMsOf(consumers: readonly QueueConsumer[]): number {
  return Math.min(timerMsMax, ...consumers.map(({ ackWaitMs }) => ackWaitMs / 3));
}

class Server implements ServedMode<DurableServeStats> {
  readonly #context: RunContext;
  readonly #counters = { received: 0, duplicates: 0, malformed: 0 };
  readonly #runs = new Map<string, Run>();
  // The places of ended calls in the stream, by id.
  #ended = new Map<string, number>();
  #endedBefore = new Map<string, number>();
  readonly #capacity: Capacity;
  readonly #pullers: readonly Puller[];
  readonly #repair: AckRepair;
  readonly #drops: Subscription;
  readonly #working: NodeJS.Timeout;
  #idle: (() => void) | undefined;

  constructor(context: RunContext, manager: JetStreamManager, consumers: readonly QueueConsumer[], capacity: Capacity) {
    this.#context = context;
    const { connection, names, settings } = context;
    this.#capacity = capacity;
    this.#drops = connection.subscribe(names.drop, {
      callback: (error, message) => {
        if (error === null) this.#runs.get(message.string())?.cancel();
      },
    });
    this.#working = setInterval(() => {
      for (const each of this.#runs.values()) each.working();
    }, workingMsOf(consumers));
    this.#working.unref();
    this.#pullers = consumers.map(
      ({ name, single, deliveredSeq }) =>
        new Puller({
          connection,
          stream: names.calls,
          consumer: name,
          deliveredSeq,
          pullMs: settings.pullMs,
          capacity: () => (single ? partitionCapacity : this.#capacity.calls),
          onDelivery: (delivery, release) => this.#take(delivery, release),
        }),
    );
    const singles = consumers.flatMap(({ name, single }, at) => (single ? [[name, this.#pullers[at]!] as const] : []));
    this.#repair = new AckRepair({ connection, manager, stream: names.calls, pullers: new Map(singles) });
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
    for (const each of this.#pullers) each.stop();
    if (this.#runs.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(timeoutMs, timerMsMax));
        this.#idle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    // The calls that wait for a slot run in another process.
    this.#context.slots.end(new ClearwayError("pool-closed", "the worker process closes"));
    // Their runs give them back before this turn of the event loop ends.
    await new Promise((resolve) => setImmediate(resolve));
    for (const each of this.#pullers) each.close();
    clearInterval(this.#working);
    this.#repair.close();
    this.#drops.unsubscribe();
    // Confirmations of ended calls are under way. What is lost comes again and is recognized by its outcome.
    await flushed(this.#context.connection);
    this.#context.publisher.end();
    this.#context.claims.close();
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
      // A message at another place is a second one with the id of an open call. The first one stays in the queue until the call has ended.
      if (known?.seq === delivery.seq) known.deliveredAgain(delivery);
      else delivery.ack();
      release();
      return;
    }
    const begun = new Run(this.#context, envelope, delivery);
    this.#runs.set(id, begun);
    this.#capacity.began();
    void begun.work().then((ended) => {
      this.#runs.delete(id);
      this.#capacity.ended();
      if (ended) this.#remember(id, delivery);
      release();
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
