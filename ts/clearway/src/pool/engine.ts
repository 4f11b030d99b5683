// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { messageOf } from "../error/message-of.js";
import { expectPart } from "../lazy/part.js";
import { within } from "../lazy/timer.js";
import type { Placer } from "../placement/placer.js";
import { emptySide } from "../transfer/ledger.js";
import { detach, prepareArguments } from "./arguments.js";
import { Backlog } from "./backlog.js";
import { CallTracker } from "./call-tracker.js";
import { stackAbove } from "./caller-stack.js";
import type { CallSettings, Settings } from "./options.js";
import { type Lifecycle, loadLifecycle, loadPlacement } from "./parts.js";
import { PoolCall } from "./pool-call.js";
import { Scheduler } from "./scheduler.js";
import type { Metrics } from "./stats.js";
import { iterablePromise, StreamHandle } from "./stream-handle.js";
import { TaskRecords } from "./task-record.js";
import type { PoolWorker, WorkerSource } from "./worker.js";
import { poolClosed, startFailure } from "./worker-failure.js";
import { WorkerSet } from "./worker-set.js";

/** A pool without its typed face: takes calls in, and joins tracker, backlog, scheduler and workers. */
export class Engine {
  readonly toWorkers = emptySide();
  readonly fromWorkers = emptySide();
  readonly records = new TaskRecords();
  readonly backlog: Backlog;
  readonly workers: WorkerSet;
  readonly tracker = new CallTracker(this);
  readonly scheduler: Scheduler;
  /** The times of calls, where they are asked for; there before the first worker is ready. */
  metrics: Metrics | undefined;
  /** Looks after workers; there before the first is ready. */
  lifecycle: Lifecycle | undefined;
  /** Decides where calls run; undefined while nobody asked for it. */
  placer: Placer | undefined;
  #readyWaiters: { resolve(): void; reject(why: unknown): void }[] = [];
  #lastId = 0;
  #unplaced = false;
  /** Why no call can be taken any more; undefined while they can. */
  ended: ClearwayError | undefined;
  #ending: Promise<void> | undefined;

  constructor(
    readonly source: WorkerSource,
    readonly settings: Settings,
    /** Ends with its first call. */
    readonly once = false,
  ) {
    this.backlog = new Backlog(settings);
    this.workers = new WorkerSet(source, this);
    this.scheduler = new Scheduler(settings, this.backlog, this.workers, this.tracker);
    this.workers.fill();
    for (const worker of this.workers) worker.setRef(false);
    // Behind the workers, so that they are under way. Where it fails, the first that gets ready says so.
    expectPart(async () => {
      this.lifecycle = await loadLifecycle();
      if (settings.metrics) this.metrics = new this.lifecycle.Metrics(settings.onError);
      this.lifecycle.sendEarly(this);
    });
  }

  /** A call by its task's name. Returns a promise, a stream, or, before the first worker is ready, both in one. */
  submit(name: string, args: unknown[], options: CallSettings, caller: (...args: never[]) => unknown): unknown {
    const record = this.records.of(name);
    const placed = this.placer?.place(record, args, options);
    if (placed instanceof Promise) return placed;
    const { kind } = record;
    const { tracker } = this;
    const call = new PoolCall(this.nextId(), record, args, options, kind === "function" ? "" : stackAbove(caller));
    call.placed = placed;
    const answer =
      kind === "stream"
        ? new StreamHandle(call, tracker)
        : kind
          ? call.promise()
          : iterablePromise(call.promise(), new StreamHandle(call, tracker));
    try {
      // The worker that said what there is was ready, so its lifecycle is there.
      if (this.records.known && record.index < 0) throw this.lifecycle!.unknownTask(name, this.records);
      // Its kind is known from a worker that was ready.
      if (kind === "stream" && this.lifecycle) call.stream?.open(this.lifecycle);
      if (this.settings.metrics) call.submittedMs = now();
      prepareArguments(call);
      // A stream leaves when somebody reads; what is moved leaves its owner now.
      if (kind === "stream") detach(call);
      else tracker.enqueue(call);
    } catch (reason) {
      tracker.refuse(call, reason);
    }
    return answer;
  }

  /** Asks for what places calls. Where it is missing, they go to workers, and `onError` hears of it once. */
  expectPlacing(): void {
    this.placing().catch((why) => {
      if (!this.#unplaced) this.settings.onError(why);
      this.#unplaced = true;
    });
  }

  /** Loads what places calls, once. Without it they go to workers. */
  placing(): Promise<Placer> {
    return loadPlacement().then(({ Placer }) => (this.placer ??= new Placer(this)));
  }

  /** Settles when a worker is ready, and with it what measures; rejects when no worker can be started. */
  async ready(): Promise<void> {
    if (this.ended) throw this.ended;
    if (this.workers.count("ready") === 0) {
      await new Promise<void>((resolve, reject) => {
        this.#readyWaiters.push({ resolve, reject });
        this.startForReady();
      });
    }
    await this.metrics?.loaded;
  }

  /** One round trip to the freest worker, past the queue. */
  async ping(): Promise<{ remoteTimeMs: number }> {
    await this.ready();
    return (await loadLifecycle()).ping(this);
  }

  /** Takes no new calls, lets those under way finish, closes resources, ends the workers. Late ones fail. */
  close(timeoutMs = 30_000): Promise<void> {
    this.ended ??= poolClosed();
    this.#ending ??= this.#close(timeoutMs);
    return this.#ending;
  }

  async #close(timeoutMs: number): Promise<void> {
    this.tellReady(this.ended);
    const endMs = now() + timeoutMs;
    const inTime = await within(this.tracker.idle(), timeoutMs);
    if (!inTime) await this.#abandon(poolClosed(` and the call took more than ${timeoutMs} ms more`));
    const { workers } = this;
    workers.stopped = true;
    await this.lifecycle?.retireAll(workers, endMs - now());
    await workers.terminate(poolClosed());
  }

  /** Fails every call and ends every thread, now. */
  async terminate(): Promise<void> {
    const why = new ClearwayError("pool-terminated", "the pool was terminated");
    this.ended = why;
    this.tellReady(why);
    await this.#abandon(why);
    await this.#ending;
  }

  async #abandon(why: ClearwayError): Promise<void> {
    this.#giveUp(why);
    this.placer?.abandon(why);
    await this.workers.terminate(why);
    // What was with a worker and had not begun came back to wait; no worker will come for it.
    this.#giveUp(why);
  }

  nextId(): number {
    // Ids are written to 32-bit shared cells; 2^31 calls later none of the first is under way any more.
    this.#lastId = (this.#lastId % 0x7fffffff) + 1;
    return this.#lastId;
  }

  /** A worker has fewer calls, or is less busy. */
  loadDropped(worker: PoolWorker): void {
    this.lifecycle?.loadDropped(worker);
    this.scheduler.run();
  }

  /** A worker could not even be made: the factory threw, or the host did. */
  startFailed(place: number, reason: unknown): void {
    this.#failStart(place, startFailure(messageOf(reason), reason));
  }

  /** A worker is gone that was never ready. */
  neverReady(worker: PoolWorker, why = startFailure("it ended before it called expose()")): void {
    worker.life.exit(false);
    this.lifecycle?.bringBack(worker, why);
    this.workers.put(worker.index, undefined);
    this.#failStart(worker.index, why);
  }

  /** Who waits for a worker gets one, also where the last one is on its way out and no call waits. */
  startForReady(): void {
    if (this.#readyWaiters.length === 0) return;
    if (this.noneComes) this.workers.start();
    for (const worker of this.workers) worker.setRef(true);
  }

  /** Whether no worker is there or on its way. */
  get noneComes(): boolean {
    return this.workers.count("ready") + this.workers.count("starting") === 0;
  }

  // No worker will come: nothing that waits for one may wait for ever. The next call tries again: a module that cannot be
  // loaded is not tried again and again for the same calls. Another worker that is starting has them, or they fail now.
  #failStart(place: number, why: ClearwayError): void {
    const none = this.noneComes;
    if (none) this.tellReady(why);
    this.#giveUp(why, none ? undefined : place);
  }

  #giveUp(why: ClearwayError, place?: number): void {
    for (const call of this.backlog.all(place)) this.tracker.cancel(call, why);
  }

  /** Those who wait for a worker hear that there is one, or why none will come. */
  tellReady(failure?: ClearwayError): void {
    for (const { resolve, reject } of this.#readyWaiters.splice(0)) failure ? reject(failure) : resolve();
  }
}
