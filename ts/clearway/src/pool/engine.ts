// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, messageOf, stackAbove } from "../error/clearway-error.js";
import { now, OwnPromise } from "../globals.js";
import { lazyModule, notLoaded, preload, within } from "../lazy/lazy.js";
import type { Timings } from "../stats/timings.js";
import { emptySide } from "../transfer/ledger.js";
import type { BroadcastOwner } from "./call/broadcast.js";
import { detach, PoolCall, prepareArguments } from "./call/call.js";
import type { MapOwner } from "./call/map.js";
import { iterablePromise, StreamHandle } from "./call/stream.js";
import { CallTracker, type TrackerHost } from "./call/tracker.js";
import type { LifecycleHost, Worker } from "./lifecycle/host.js";
import type { Lifecycle } from "./lifecycle/lifecycle.js";
import type { CallSettings, Settings } from "./options.js";
import { Backlog } from "./schedule/backlog.js";
import { type Gate, Scheduler } from "./schedule/scheduler.js";
import { TaskRecords } from "./schedule/task-stats.js";
import type { StatsSource } from "./stats.js";
import { poolClosed, startFailure } from "./worker/state.js";
import type { WorkerSink, WorkerSource } from "./worker/worker.js";
import { WorkerSet } from "./worker/worker-set.js";

// In browsers, the build makes a file of its own of this: `clearway-rest.js`. In Node, it is in the entry's file.
const loadLifecycle = /* @__PURE__ */ lazyModule(
  async () => import("./lifecycle/lifecycle.js"),
  (cause) => notLoaded("a part of the library", cause, "worker-start-failed"),
);

// Time that `close()` gives a thread to end after its own limit is over, in milliseconds.
const lateMsMax = 200;

/** The interfaces through which the lower layers use their pool. The lower layers declare these interfaces. */
type Hosts = WorkerSink<PoolCall> &
  Gate<PoolCall> &
  TrackerHost &
  LifecycleHost &
  StatsSource &
  MapOwner &
  BroadcastOwner;

/** The implementation of `Pool`. Makes the parts of a pool and implements the interfaces through which they use each other. */
export class Engine implements Hosts {
  readonly toWorkers = emptySide();
  readonly fromWorkers = emptySide();
  readonly records = new TaskRecords();
  readonly backlog: Backlog<PoolCall>;
  readonly workers: WorkerSet<PoolCall>;
  readonly scheduler: Scheduler<PoolCall>;
  readonly tracker: CallTracker;
  /** Receives the times of calls if `metrics` is on. Set before the first worker is ready. */
  metrics: Timings | undefined;
  /** The code for everything that happens once a worker is ready. The engine loads this code before the first worker becomes ready. */
  lifecycle: Lifecycle | undefined;
  #readyWaiters: { resolve(): void; reject(why: unknown): void }[] = [];
  #lastId = 0;
  ended: ClearwayError | undefined;
  /** The calls that wait for the pieces of their results. Their workers have answered. */
  readonly arriving = new Set<PoolCall>();
  /** Functions that the engine calls when the pool takes no new calls. A function must not throw. */
  readonly endings = new Set<(why: ClearwayError) => void>();
  #ending: Promise<void> | undefined;

  constructor(
    readonly source: WorkerSource,
    readonly settings: Settings,
    readonly once = false,
  ) {
    this.backlog = new Backlog(settings, (index) =>
      this.ended ? Number.POSITIVE_INFINITY : this.workers.spare(index),
    );
    this.workers = new WorkerSet(source, this);
    this.scheduler = new Scheduler(settings, this.backlog, this.workers, this);
    this.tracker = new CallTracker(this, this.backlog, this.scheduler);
    this.workers.fill();
    for (const worker of this.workers) worker.setRef(false);
    // Loads the lifecycle after starting the workers, so that the workers start in the meantime. If the load fails, the pool tries again
    // when the first worker is ready, and reports the error if that load fails too.
    preload(async () => (await this.loadLifecycle()).sendEarly());
  }

  /**
   * Makes a call of the task with this name. Returns a stream for a stream task and a promise for any other task. Before the first worker
   * is ready, the kind of the task is unknown. The result is then a promise that is also a stream.
   */
  submit(name: string, args: unknown[], options: CallSettings, caller: (...args: never[]) => unknown): unknown {
    const record = this.records.of(name);
    const { kind } = record;
    const { lifecycle, tracker } = this;
    if ((options.placement ?? record.placement) === "inline" && !this.ended) {
      const answer = lifecycle?.inline.run(record, args, options);
      if (answer) return answer;
    }
    const stack = options.callerStack ?? (kind === "function" ? "" : stackAbove(caller));
    const call = new PoolCall(this.nextId(), record, args, options, stack);
    const answer =
      kind === "stream"
        ? new StreamHandle(call, tracker)
        : kind
          ? call.promise()
          : iterablePromise(call.promise(), new StreamHandle(call, tracker));
    try {
      // If the tasks are known, a worker was ready, so the lifecycle is loaded.
      if (this.records.known && record.index < 0) throw lifecycle!.unknownTask(name);
      if (kind === "stream" && lifecycle) call.stream?.open(lifecycle);
      if (this.settings.metrics) call.submittedMs = now();
      prepareArguments(call);
      // A stream's call is sent when its reader asks for a value. The caller nevertheless loses moved memory now.
      if (kind === "stream") detach(call);
      else tracker.enqueue(call);
    } catch (reason) {
      tracker.refuse(call, reason);
    }
    return answer;
  }

  admits(call: PoolCall): boolean {
    return this.lifecycle!.admits(call);
  }

  refuse(call: PoolCall, reason: unknown): void {
    this.tracker.refuse(call, reason);
  }

  /** Loads the lifecycle. Only the first call loads it. */
  async loadLifecycle(): Promise<Lifecycle> {
    const { Lifecycle } = await loadLifecycle();
    this.lifecycle ??= new Lifecycle(this);
    return this.lifecycle;
  }

  /** Settles when a worker is ready and the histograms are loaded. Rejects if no worker can be started. */
  async ready(): Promise<void> {
    if (this.ended) throw this.ended;
    if (this.workers.count("ready") === 0) {
      await new OwnPromise<void>((resolve, reject) => {
        this.#readyWaiters.push({ resolve, reject });
        this.startForReady();
      });
    }
  }

  /** Makes one round trip to the worker with the lowest load, past the queue. */
  async ping(): Promise<{ remoteTimeMs: number }> {
    await this.ready();
    return this.lifecycle!.ping();
  }

  /**
   * Closes the pool: accepts no new calls, waits for the open ones, closes resources and ends the workers. Calls that take longer than
   * `timeoutMs` fail. With `dropWaiting`, the calls in the queue fail now, also if the pool is closing already.
   */
  close(timeoutMs = 30_000, dropWaiting = false): Promise<void> {
    this.#end(poolClosed());
    if (dropWaiting) this.#giveUp(this.ended!);
    this.#ending ??= this.#close(timeoutMs);
    return this.#ending;
  }

  // Refuses new calls from now on. After `close()`, only `terminate()` changes the reason.
  #end(why: ClearwayError, anyway = false): void {
    if (this.ended && !anyway) return;
    this.ended = why;
    this.settleReady(why);
    this.backlog.offerRoom();
    for (const ending of this.endings) ending(why);
  }

  async #close(timeoutMs: number): Promise<void> {
    const endMs = now() + timeoutMs;
    const inTime = await within(this.tracker.idle(), timeoutMs);
    if (!inTime) await this.#abandon(poolClosed(` and the call took over ${timeoutMs} ms more`), lateMsMax);
    const { workers } = this;
    workers.stopped = true;
    await this.lifecycle?.retireAll(endMs - now());
    await workers.terminate(poolClosed(), endMs - now() > lateMsMax ? undefined : lateMsMax);
  }

  /** Fails every call and ends every thread at once. */
  async terminate(): Promise<void> {
    const why = new ClearwayError("pool-terminated", "the pool was terminated");
    this.#end(why, true);
    await this.#abandon(why);
    await this.#ending;
  }

  async #abandon(why: ClearwayError, limitMs?: number): Promise<void> {
    this.#giveUp(why);
    this.lifecycle?.inline.abandon(why);
    this.#dropArriving(why);
    await this.workers.terminate(why, limitMs);
    // Calls that a worker had received but not begun are in the queue again. No worker will take them, so they fail too.
    this.#giveUp(why);
    // A worker may have answered in the meantime.
    this.#dropArriving(why);
  }

  #dropArriving(why: ClearwayError): void {
    for (const call of this.arriving) this.tracker.cancel(call, why);
  }

  nextId(): number {
    // Ids are at most 2^31 - 1, because they are written to shared cells of 32 bits. An id repeats after 2^31 calls. By then, the first
    // call with that id is no longer open.
    this.#lastId = (this.#lastId % 0x7fffffff) + 1;
    return this.#lastId;
  }

  loadDropped(worker: Worker): void {
    this.lifecycle?.loadDropped(worker);
    this.scheduler.run();
  }

  startFailed(index: number, reason: unknown): void {
    this.#failStart(index, startFailure(messageOf(reason), reason));
  }

  neverReady(worker: Worker, why: ClearwayError): void {
    worker.life.exit(false);
    // The pool itself ends workers with `pool-closed` or `pool-terminated`.
    const error = why.code.startsWith("pool-") ? undefined : why;
    this.settings.onWorker({ type: "exited", worker: worker.index, error });
    this.lifecycle?.bringBack(worker, why);
    this.workers.put(worker.index, undefined);
    this.#failStart(worker.index, why);
  }

  // Starts a worker if a caller waits for `ready()` and no worker is ready or starting. The start is also needed when the last worker is
  // about to end and no call waits.
  startForReady(): void {
    if (this.#readyWaiters.length === 0) return;
    if (this.noWorkerComing) this.workers.start();
    for (const worker of this.workers) worker.setRef(true);
  }

  get noWorkerComing(): boolean {
    return this.workers.count("ready") + this.workers.count("starting") === 0;
  }

  // Fails the calls that would wait for a worker that does not come. If another worker is ready or starting, only the calls for this index
  // fail. Otherwise all waiting calls fail now. The pool does not try to load a broken module again for the same calls. The next call tries
  // again.
  #failStart(index: number, why: ClearwayError): void {
    const none = this.noWorkerComing;
    if (none) this.settleReady(why);
    this.#giveUp(why, none ? undefined : index);
    this.backlog.offerRoom();
  }

  #giveUp(why: ClearwayError, index?: number): void {
    for (const call of this.backlog.all(index)) this.tracker.cancel(call, why);
  }

  settleReady(failure?: ClearwayError): void {
    for (const { resolve, reject } of this.#readyWaiters.splice(0)) failure ? reject(failure) : resolve();
  }
}
