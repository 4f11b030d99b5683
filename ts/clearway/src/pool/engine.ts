// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import { ClearwayError, caused } from "../error/clearway-error.js";
import { emptySide, type LedgerSide } from "../transfer/ledger.js";
import { notCloneable } from "../transfer/refusal.js";
import type { TaskKind } from "../transport/protocol.js";
import { detach, prepareArguments } from "./arguments.js";
import { Backlog } from "./backlog.js";
import { CallDesk, type DeskOwner } from "./call-desk.js";
import { stackAbove, stitch } from "./caller-stack.js";
import { Metrics } from "./metrics.js";
import type { CallOptions, Settings } from "./options.js";
import { Pings } from "./pings.js";
import { PoolCall } from "./pool-call.js";
import { Scheduler, type SchedulerOwner } from "./scheduler.js";
import type { Slot, WorkerSource } from "./slot.js";
import type { SlotOwner } from "./slot-owner.js";
import { failedStream, iterablePromise } from "./stream-handle.js";
import { TaskRecord } from "./task-record.js";
import { within } from "./timer.js";
import { Workforce } from "./workforce.js";

/** A pool without its typed face: takes calls in, and joins desk, backlog, scheduler and workers. */
export class Engine implements SlotOwner, DeskOwner, SchedulerOwner {
  readonly toWorkers: LedgerSide = emptySide();
  readonly fromWorkers: LedgerSide = emptySide();
  readonly records = new Map<string, TaskRecord>();
  readonly backlog: Backlog;
  readonly workforce: Workforce;
  readonly desk: CallDesk;
  readonly scheduler: Scheduler;
  readonly pings = new Pings();
  readonly metrics: Metrics | undefined;
  #readyWaiters: { resolve(): void; reject(why: unknown): void }[] = [];
  #tasksKnown = false;
  #lastId = 0;
  /** Why no call can be taken any more; undefined while they can. */
  ended: ClearwayError | undefined;
  #ending: Promise<void> | undefined;

  constructor(
    source: WorkerSource,
    readonly settings: Settings,
  ) {
    this.backlog = new Backlog(settings);
    if (settings.metrics) this.metrics = new Metrics(settings.onError);
    this.workforce = new Workforce(source, this);
    this.desk = new CallDesk(this);
    this.scheduler = new Scheduler(settings, this.backlog, this.workforce, this);
    this.workforce.fill();
    for (const slot of this.workforce) slot.setRef(false);
  }

  /** A call by its task's name. Returns a promise, a stream, or, before the first worker is ready, both in one. */
  submit(name: string, args: unknown[], options: CallOptions, caller: (...args: never[]) => unknown): unknown {
    const record = this.#record(name);
    const callerStack = record.kind === "function" ? "" : stackAbove(caller);
    let resolve!: (value: unknown) => void;
    let reject!: (reason: unknown) => void;
    const promise = new Promise((onResult, onFailure) => {
      resolve = onResult;
      reject = onFailure;
    });
    try {
      if (this.#tasksKnown && record.index < 0) throw unknownTask(name, this.records);
      const strict = options.strict ?? this.settings.strict;
      const prepared = prepareArguments(args, strict);
      const call = new PoolCall(
        this.nextId(),
        record,
        prepared,
        options,
        strict,
        callerStack,
        resolve,
        reject,
        this.settings.metrics ? now() : 0,
      );
      if (record.kind === "stream") {
        // It leaves when somebody reads; what is moved leaves its owner now.
        detach(prepared);
        return this.desk.makeStream(call);
      }
      const answer =
        record.kind === undefined ? iterablePromise(promise, this.desk.makeStream(call)) : promise.catch(stitch);
      this.desk.enqueue(call);
      return answer;
    } catch (thrown) {
      const reason = thrown instanceof ClearwayError ? thrown : notCloneable(`an argument of ${name}()`, thrown);
      if (record.kind === "stream") return failedStream(reason);
      reject(reason);
      return promise;
    }
  }

  /** Settles when a worker is ready, and with it what measures; rejects when no worker can be started. */
  async ready(): Promise<void> {
    await this.#workerReady();
    await this.metrics?.loaded;
  }

  #workerReady(): Promise<void> {
    if (this.ended) return Promise.reject(this.ended);
    if (this.workforce.count("ready") > 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#readyWaiters.push({ resolve, reject });
      this.#startForReady();
    });
  }

  /** One round trip to the freest worker, past the queue. */
  async ping(): Promise<{ remoteTimeMs: number }> {
    await this.ready();
    const ready = [...this.workforce].filter((each) => each.life.state === "ready");
    const slot = ready.sort((a, b) => a.load - b.load)[0];
    if (!slot) throw this.ended ?? new ClearwayError("worker-exited", "no worker is ready");
    return this.pings.send(slot, this.nextId());
  }

  /** Takes no new calls, lets those under way finish, closes resources, ends the workers. Late ones fail. */
  close(timeoutMs: number): Promise<void> {
    this.ended ??= new ClearwayError("pool-closed", "the pool is closed");
    this.#ending ??= this.#close(timeoutMs);
    return this.#ending;
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#tellReady(this.ended);
    if (!(await within(this.desk.idle(), timeoutMs))) {
      await this.#abandon(
        new ClearwayError("pool-closed", `the pool was closed and the call took more than ${timeoutMs} ms more`),
      );
    }
    await this.workforce.close();
  }

  /** Fails every call and ends every thread, now. */
  async terminate(): Promise<void> {
    const why = new ClearwayError("pool-terminated", "the pool was terminated");
    this.ended = why;
    this.#tellReady(why);
    await this.#abandon(why);
    await this.#ending;
  }

  async #abandon(why: ClearwayError): Promise<void> {
    for (const call of this.backlog.all()) this.desk.cancel(call, why);
    await this.workforce.terminate(why);
    // What was with a worker and had not begun came back to wait; no worker will come for it.
    for (const call of this.backlog.all()) this.desk.cancel(call, why);
  }

  // What the desk and the scheduler ask.

  eased(slot: Slot): void {
    this.workforce.left(slot);
    if (slot.load === 0) this.workforce.idle(slot);
    this.scheduler.run();
  }

  overdue(slot: Slot): void {
    const why = new ClearwayError(
      "worker-crashed",
      "the worker was replaced: another task of it did not stop when it was cancelled",
    );
    const others = [...slot.calls.values()].some(
      (call) => call.life.state === "started" || call.life.state === "posted",
    );
    if (!others) {
      void slot.kill(why);
      return;
    }
    // Others run beside it. As long as the thread answers they may finish, and no new ones come.
    slot.life.drain(slot.calls.size);
    within(this.pings.send(slot, this.nextId()), this.settings.graceMs).then((alive) => {
      if (!alive) return void slot.kill(why);
      // They may take long: a half-read stream waits for its reader. Nobody else waits for them.
      this.workforce.supersede(slot);
      slot.killWhenOthersLeft(why);
      this.scheduler.run();
    });
  }

  admits(call: PoolCall): boolean {
    if (call.record.index < 0) {
      this.desk.cancel(call, unknownTask(call.record.name, this.records));
      return false;
    }
    if (call.isStream) {
      const unread = call.pendingItems === 0;
      if (unread) this.desk.setAside(call);
      call.tellStream();
      if (unread) return false;
    }
    if (this.settings.metrics) call.postedMs = now();
    return true;
  }

  // What slots tell.

  startFailed(place: number, reason: unknown): void {
    const why = `the worker could not be made: ${String(reason)}`;
    this.#failStart(place, caused("worker-start-failed", why, reason));
  }

  nextId(): number {
    // Ids are written to 32-bit shared cells; 2^31 calls later none of the first is under way any more.
    this.#lastId = (this.#lastId % 0x7fffffff) + 1;
    return this.#lastId;
  }

  workerReady(slot: Slot, tasks: [string, TaskKind][]): void {
    tasks.forEach(([name, kind], index) => {
      const record = this.#record(name);
      record.kind = kind;
      record.index = index;
    });
    this.#tasksKnown = true;
    this.#tellReady();
    this.workforce.idle(slot);
    this.scheduler.run();
  }

  exited(slot: Slot, why: ClearwayError, killed: boolean, begun: ReadonlySet<number> | undefined): void {
    const outcome = slot.life.exit(killed);
    this.pings.lost(slot, why);
    const calls = [...slot.calls.values()];
    // A worker that ended itself says what had begun. One that was killed for a call that did not stop flushed all before
    // it, and ran nothing beside it but streams. Of others nobody knows.
    const known = killed && why.code !== "message-error";
    const beside = this.settings.concurrency > 1 || calls.some((call) => call.isStream);
    for (const call of calls) {
      const mayHaveRun = !known || (call.guarded ? call.life.state !== "posted" : beside);
      this.desk.lost(slot, call, why, begun?.has(call.id) ?? mayHaveRun);
    }
    if (killed && !why.code.startsWith("pool-")) this.workforce.restarts++;
    this.workforce.gone(slot, outcome);
    if (outcome === "failedToStart") this.#failStart(slot.index, why);
    if (outcome === "crashed" && slot.tasksRun === 0) this.settings.onError(why);
    // A module that cannot be loaded is not tried again and again for the same calls: another worker that is starting has
    // them, or they have failed by now.
    if (outcome === "failedToStart") return;
    this.scheduler.run();
    this.#startForReady();
  }

  // Who waits for a worker gets one, also where the last one is on its way out and no call waits.
  #startForReady(): void {
    if (this.#readyWaiters.length === 0) return;
    if (this.workforce.count("ready") + this.workforce.count("starting") === 0) this.workforce.start();
    for (const slot of this.workforce) slot.setRef(true);
  }

  // No worker will come: nothing that waits for one may wait for ever. The next call tries again.
  #failStart(place: number, why: ClearwayError): void {
    const none = this.workforce.count("ready") + this.workforce.count("starting") === 0;
    if (none) this.#tellReady(why);
    for (const call of none ? this.backlog.all() : this.backlog.at(place)) this.desk.cancel(call, why);
  }

  #tellReady(failure?: ClearwayError): void {
    for (const { resolve, reject } of this.#readyWaiters.splice(0)) failure ? reject(failure) : resolve();
  }

  #record(name: string): TaskRecord {
    let record = this.records.get(name);
    if (!record) {
      record = new TaskRecord(name);
      // Names that do not exist are not remembered once the right ones are known.
      if (!this.#tasksKnown) this.records.set(name, record);
    }
    return record;
  }
}

function unknownTask(name: string, records: ReadonlyMap<string, TaskRecord>): ClearwayError {
  const known = [...records.values()].filter((record) => record.index >= 0).map((record) => record.name);
  return new ClearwayError(
    "unknown-task",
    `the module exposes no task "${name}"; it exposes ${known.join(", ") || "none"}`,
  );
}
