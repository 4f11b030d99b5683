// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, stackAbove } from "../error/clearway-error.js";
import { now, OwnPromise } from "../globals.js";
import { lazyModule, notLoaded, preload, within } from "../lazy/lazy.js";
import type { Timings } from "../stats/timings.js";
import { emptySide } from "../transfer/ledger.js";
import { refusalOf } from "../transfer/refusal.js";
import {
  detach,
  endReader,
  PoolCall,
  prepareArguments,
  type Settle,
  settleFailure,
  settleResult,
} from "./call/call.js";
import type { InlineCalls } from "./call/inline.js";
import { armLimits } from "./call/limits.js";
import { iterablePromise, StreamHandle } from "./call/stream.js";
import type { LifecycleCode } from "./lifecycle/lifecycle.js";
import type { Restarts } from "./lifecycle/lost-worker.js";
import type { Watch } from "./lifecycle/warnings.js";
import type { CallSettings, Settings } from "./options.js";
import { Backlog } from "./schedule/backlog.js";
import { PoolTasks, Scheduler } from "./schedule/scheduler.js";
import type { PoolWorker, WorkerSource } from "./worker/worker.js";
import { poolClosed, WorkerSet } from "./worker/worker-set.js";

// In browsers, the build makes a file of its own of this: `clearway-rest.js`. In Node, it is in the entry's file.
const loadLifecycle = /* @__PURE__ */ lazyModule(
  async () => import("./lifecycle/lifecycle.js"),
  (cause) => notLoaded("a part of the library", cause, "worker-start-failed"),
);

// Time that `close()` gives a thread to end after its own limit is over, in milliseconds.
const lateMsMax = 200;

/** The implementation of `Pool`. Makes the parts of a pool, and performs the actions that each call's state machine returns. */
export class Engine {
  readonly toWorkers = emptySide();
  readonly fromWorkers = emptySide();
  readonly tasks = new PoolTasks();
  readonly backlog: Backlog;
  readonly workers: WorkerSet;
  readonly scheduler: Scheduler;
  /**
   * The code for everything that happens once a worker is ready. Loaded while the first worker starts, and before it is ready. The four
   * properties after it are set then.
   */
  lifecycle: LifecycleCode | undefined;
  inline: InlineCalls | undefined;
  /** Receives the times of calls if `metrics` is on. */
  metrics: Timings | undefined;
  /** Warns of slow use. Undefined in production. */
  watch: Watch | undefined;
  declare restarts: Restarts | undefined;
  /** The error with which every new call fails once the pool has ended. Undefined before. */
  ended: ClearwayError | undefined;
  /** Number of calls without an outcome. */
  openCount = 0;
  /** The calls that wait for the pieces of their results. Their workers have answered. */
  readonly arriving = new Set<PoolCall>();
  /** Functions that the engine calls when the pool takes no new calls. A function must not throw. */
  readonly endings = new Set<(why: ClearwayError) => void>();
  /** Number of ids that `nextId` has returned. From 2^31 on, they repeat: see `freeId`. */
  idCount = 0;
  #whenIdle: (() => void) | undefined;
  #ending: Promise<void> | undefined;

  /** `once` says that the pool ends after its first call. */
  constructor(
    readonly source: WorkerSource,
    readonly settings: Settings,
    readonly once = false,
  ) {
    this.backlog = new Backlog(settings, (index) =>
      this.ended ? Number.POSITIVE_INFINITY : this.workers.spare(index),
    );
    this.workers = new WorkerSet(this);
    this.scheduler = new Scheduler(this);
    this.workers.fill();
    for (const worker of this.workers) worker.setRef(false);
    // Loads the lifecycle after starting the workers, so that the workers start in the meantime. If the load fails, the pool tries again
    // when the first worker is ready, and reports the error if that load fails too.
    preload(async () => (await this.loadLifecycle()).sendEarly(this));
  }

  /** Loads the lifecycle. Only the first call loads it. */
  async loadLifecycle(): Promise<LifecycleCode> {
    const { lifecycle } = await loadLifecycle();
    if (!this.lifecycle) {
      this.lifecycle = lifecycle;
      lifecycle.begin(this);
    }
    return lifecycle;
  }

  /** Returns a function that makes calls of the task with this name. */
  caller(name: string, settings: CallSettings): (...args: unknown[]) => unknown {
    const caller = (...args: unknown[]): unknown => this.submit(name, args, settings, caller) ?? undefined;
    return caller;
  }

  /**
   * Makes a call of the task with this name. Returns a stream for a stream task and a promise for any other task. Before the first worker
   * is ready, the kind of the task is unknown. The result is then a promise that is also a stream.
   */
  submit(name: string, args: unknown[], options: CallSettings, caller: (...args: never[]) => unknown): unknown {
    const task = this.tasks.of(name);
    const { kind } = task;
    const { lifecycle } = this;
    if ((options.placement ?? task.placement) === "inline" && !this.ended) {
      const answer = this.inline?.run(task, args, options);
      if (answer) return answer;
    }
    const stack = options.callerStack ?? (kind === "function" ? "" : stackAbove(caller));
    const call = new PoolCall(this.nextId(), task, args, options, stack);
    const answer =
      kind === "stream"
        ? new StreamHandle(call, this)
        : kind
          ? call.promise()
          : iterablePromise(call.promise(), new StreamHandle(call, this));
    try {
      if (kind === "stream" && lifecycle) call.stream?.open(lifecycle);
      if (this.settings.metrics) call.submittedMs = now();
      prepareArguments(call);
      // After the arguments are taken, so that the end of the call closes its streams. If the tasks are known, a worker was ready, so the
      // lifecycle is loaded.
      if (this.tasks.known && task.index < 0) throw lifecycle!.unknownTask(name, this.tasks);
      // A stream's call is sent when its reader asks for a value. The caller nevertheless loses moved memory now.
      if (kind === "stream") detach(call);
      else this.enqueue(call);
    } catch (reason) {
      this.refuse(call, reason);
    }
    return answer;
  }

  /** Returns a new id for a call or an input stream. */
  nextId(): number {
    // Ids are at most 2^31 - 1, because they are written to shared cells of 32 bits.
    return (this.idCount++ % 0x7fffffff) + 1;
  }

  /** Accepts a call. Sends it at once, or adds it to the queue. A call that cannot be accepted fails. */
  enqueue(call: PoolCall): void {
    call.enqueue();
    this.openCount++;
    call.task.calls++;
    if (call.options.limited) armLimits(this, call);
    // The caller's signal is foreign code. Reading it may have ended the call or the pool.
    if (this.ended) this.expire(call, this.ended);
    if (call.state === "settled") return call.cleanUp();
    try {
      if (!this.scheduler.sendNow(call)) {
        // A large call may need the space of several small ones.
        for (let victim = this.backlog.admit(call); victim; victim = this.backlog.admit(call)) {
          this.cancel(victim, new ClearwayError("dropped", "the queue was full"));
          if (victim === call) return;
        }
        this.backlog.add(call);
        this.scheduler.run();
        this.lifecycle?.sendEarly(this);
      }
      // `move` promises that the caller loses the memory now, and not when a worker is free.
      if (call.transfer.length === 0) return;
      if (call.state === "queued") detach(call);
      else call.worker?.transport.flush();
    } catch (reason) {
      this.refuse(call, reason);
    }
  }

  /** Fails a call whose arguments cannot be sent, or must not be sent. */
  refuse(call: PoolCall, reason: unknown): void {
    this.cancel(call, refusalOf(`an argument of ${call.task.name}()`, reason));
  }

  /** Cancels a call. Notifies its caller at once, and also its worker if a worker has the call. */
  cancel(call: PoolCall, reason: unknown, settle: Settle = settleFailure): void {
    const { worker } = call;
    // A stream whose reader has not asked for a value does not count as an open call.
    const open = call.state !== "idle";
    const action = call.cancel();
    if (action === "nothing") return;
    if (open) call.task[this.lifecycle?.outcomeOf(reason) ?? "cancelled"]++;
    else if (settle === settleFailure) {
      // The pool refused its arguments, or its unread stream was dropped. It has not counted as a call yet.
      call.task.calls++;
      call.task.failed++;
    }
    call.cleanUp();
    // Also of a pool for one call: its worker may take the grace period to end, and the caller waits for neither.
    settle(call, reason);
    if (this.once) void this.close();
    if (worker) return this.lifecycle?.cancel(this, worker, call, reason);
    this.backlog.remove(call);
    this.#settle(call, endReader);
    call.release();
    if (open) this.shut();
  }

  /** Fails a call with its own copy of an error that the pool made, because its time is over or the pool has ended. */
  expire(call: PoolCall, why: ClearwayError): void {
    this.cancel(call, this.lifecycle?.ownErrorOf(call, why) ?? why);
  }

  /** Handles a result from a worker. */
  result(worker: PoolWorker, call: PoolCall, value: unknown, runUs: number): void {
    const action = this.leave(worker, call, runUs);
    if (action === "nothing") return;
    if (action === "deliver") call.task.ok++;
    this.end(call, action === "deliver" ? settleResult : endReader, value);
  }

  /**
   * Removes an answered call from its worker, which is still alive. `runUs` is -1 if the call did not run. `inPieces` says that the pieces of
   * its result are on their way.
   */
  leave(worker: PoolWorker, call: PoolCall, runUs: number, inPieces = false): ReturnType<PoolCall["answer"]> {
    const action = call.answer(inPieces);
    if (action === "nothing") return action;
    worker.remove(call);
    worker.tasksRun++;
    if (runUs >= 0) {
      worker.runUs += runUs;
      if (!call.isStream) call.task.estimate.add(runUs);
    }
    // The scheduler runs once per message, after all results in it.
    worker.loadDropped = true;
    return action;
  }

  /** Ends a call that was removed from its worker, and passes on its outcome. */
  end(call: PoolCall, settle: Settle, outcome?: unknown): void {
    call.cleanUp();
    this.#settle(call, settle, outcome);
    call.release();
    this.shut();
  }

  /** Subtracts one from the open calls. */
  shut(): void {
    if (--this.openCount === 0) this.#whenIdle?.();
  }

  #settle(call: PoolCall, settle: Settle, outcome?: unknown): void {
    if (!this.once) return settle(call, outcome);
    this.#settleAfterClose(call, settle, outcome);
  }

  // Ends the worker of a pool for one call before the caller receives the outcome. The code is not part of `#settle`, because a closure in
  // `#settle` would make every call allocate a context.
  #settleAfterClose(call: PoolCall, settle: Settle, outcome: unknown): void {
    void this.close().then(() => settle(call, outcome));
  }

  /** Called when a worker's load drops. */
  loadDropped(worker: PoolWorker): void {
    this.lifecycle?.loadDropped(this, worker);
    this.scheduler.run();
  }

  /** Settles when a worker is ready. Rejects if no worker can be started. */
  async ready(): Promise<void> {
    if (this.ended) throw this.ended;
    await this.workers.ready();
  }

  /** Makes one round trip to the worker with the lowest load, past the queue. */
  async ping(): Promise<{ remoteTimeMs: number }> {
    await this.ready();
    return this.lifecycle!.ping(this);
  }

  /**
   * Closes the pool: accepts no new calls, waits for the open ones, closes resources and ends the workers. Calls that take longer than
   * `timeoutMs` fail. With `dropWaiting`, the calls in the queue fail now. Both also apply if the pool is closing already.
   */
  close(timeoutMs?: number, dropWaiting = false): Promise<void> {
    this.#takeNoMore(poolClosed());
    if (dropWaiting) this.giveUp(this.ended!);
    if (this.#ending && timeoutMs !== undefined) void this.#limit(this.#ending, timeoutMs);
    this.#ending ??= this.#close(timeoutMs ?? 30_000);
    return this.#ending;
  }

  // Refuses new calls from now on. After `close()`, only `terminate()` changes the reason.
  #takeNoMore(why: ClearwayError, anyway = false): void {
    if (this.ended && !anyway) return;
    this.ended = why;
    this.workers.settleReady(why);
    this.backlog.offerRoom();
    for (const ending of this.endings) ending(why);
  }

  async #close(timeoutMs: number): Promise<void> {
    const endMs = now() + timeoutMs;
    await this.#limit(this.#idle(), timeoutMs);
    const { workers } = this;
    workers.stopped = true;
    await this.lifecycle?.retireAll(workers, endMs - now());
    await workers.terminate(poolClosed(), endMs - now() > lateMsMax ? undefined : lateMsMax);
  }

  async #limit(work: Promise<void>, timeoutMs: number): Promise<void> {
    if (await within(work, timeoutMs)) return;
    await this.#abandon(poolClosed(` and the call took over ${timeoutMs} ms more`), lateMsMax);
  }

  // Settles when no call is open.
  async #idle(): Promise<void> {
    if (this.openCount > 0) await new OwnPromise<void>((resolve) => (this.#whenIdle = resolve));
  }

  /** Fails every call and ends every thread at once. */
  async terminate(): Promise<void> {
    const why = new ClearwayError("pool-terminated", "the pool was terminated");
    this.#takeNoMore(why, true);
    await this.#abandon(why);
    await this.#ending;
  }

  async #abandon(why: ClearwayError, limitMs?: number): Promise<void> {
    this.giveUp(why);
    this.inline?.abandon(why);
    this.#dropArriving(why);
    await this.workers.terminate(why, limitMs);
    // Calls that a worker had received but not begun are in the queue again. No worker will take them, so they fail too.
    this.giveUp(why);
    // A worker may have answered in the meantime.
    this.#dropArriving(why);
  }

  #dropArriving(why: ClearwayError): void {
    for (const call of this.arriving) this.expire(call, why);
  }

  /** Fails all waiting calls, or only those for the worker at `index`. */
  giveUp(why: ClearwayError, index?: number): void {
    for (const call of this.backlog.all(index)) this.expire(call, why);
  }
}
