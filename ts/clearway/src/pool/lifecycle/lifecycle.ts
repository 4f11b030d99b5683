// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { WireError } from "../../error/wire.js";
import { type ExitCode, inDevelopment } from "../../host/host.js";
import { Timings } from "../../stats/timings.js";
import { Consumer } from "../../stream/consumer.js";
import { Op } from "../../transport/protocol.js";
import { broadcast } from "../call/broadcast.js";
import type { PoolCall } from "../call/call.js";
import { type Advice, adviceOf, InlineCalls } from "../call/inline.js";
import { Mapping } from "../call/mapping.js";
import type { CallLifecycle } from "../call/tracker.js";
import type { RestartPause } from "../stats.js";
import type { Tasks, WorkerLifecycle } from "../worker/worker.js";
import type { LifecycleHost, Worker } from "./host.js";
import { announce, frame, ping, refused, rethrowWithCallerStack, unreadable } from "./messages.js";
import { pauseOf } from "./restarts.js";
import { admits, bringBack, ready, sendEarly, setupFailure, unknownTask } from "./start.js";
import { cancel, exited, loadDropped, retireAll, uncaught } from "./stop.js";
import { type Watch, watchOf } from "./watch.js";

/**
 * Everything that a pool needs only after its first worker is ready: the start and end of workers, all frames except results, and the code
 * that reads streams.
 *
 * The engine loads this code while the first worker starts. No worker can become ready without it. If the code cannot be loaded, the pool
 * fails as if no worker could be started.
 */
export class Lifecycle implements WorkerLifecycle<PoolCall>, CallLifecycle {
  readonly Consumer = Consumer;
  readonly rethrow = rethrowWithCallerStack;
  readonly Mapping = Mapping;
  readonly broadcast = broadcast;
  readonly inline: InlineCalls;
  readonly #host: LifecycleHost;
  /** Warns of slow use. Undefined in production. */
  #watch: Watch | undefined;

  constructor(host: LifecycleHost) {
    this.#host = host;
    this.inline = new InlineCalls(host);
    const { metrics, onError } = host.settings;
    if (metrics) host.metrics = new Timings(onError, typeof metrics === "function" ? metrics : undefined);
    if (host.settings.warnings ?? inDevelopment()) this.#watch = watchOf(host);
  }

  sendEarly(): void {
    sendEarly(this.#host);
    this.#watch?.queued();
  }

  ready(worker: Worker, tasks: Tasks): void {
    this.#watch?.started(worker);
    ready(this.#host, worker, tasks);
  }

  setupFailure(wire: unknown): ClearwayError {
    return setupFailure(wire as WireError);
  }

  /** Returns whether a waiting call may be sent now. If not, the call was cancelled, refused, or taken out of the queue. */
  admits(call: PoolCall): boolean {
    return admits(this.#host, this, call);
  }

  /** Returns the error for a name that the module does not expose. */
  unknownTask(name: string): ClearwayError {
    return unknownTask(name, this.#host.records);
  }

  /** Returns the error for a task that a worker lacks, because the task file has changed. */
  changedTask(name: string): ClearwayError {
    const text = `the task file has changed since the pool's first worker started: it has no ${name}() any more, or another kind of it`;
    return new ClearwayError("unknown-task", `${text}. Make a new pool`);
  }

  announce(worker: Worker, call: PoolCall): void {
    announce(this.#host, worker, call);
    this.#watch?.sent(call);
  }

  frame(worker: Worker, op: Op, id: number, a: unknown, b: unknown): void {
    if (op === Op.Slow) this.#watch?.slowResult(a, b);
    else frame(this.#host, worker, op, id, a, b);
  }

  refused(worker: Worker, op: Op, id: number, a: unknown, reason: unknown): void {
    refused(this.#host, worker, op, id, a, reason);
  }

  unreadable(worker: Worker, why: ClearwayError, sure: boolean): void {
    unreadable(worker, why, sure);
  }

  /** Makes one round trip to the worker with the lowest load. */
  ping(): Promise<{ remoteTimeMs: number }> {
    return ping(this.#host);
  }

  cancel(worker: Worker, call: PoolCall, reason: unknown): void {
    cancel(this.#host, worker, call, reason);
  }

  /** Called when a worker's load drops. */
  loadDropped(worker: Worker): void {
    loadDropped(this.#host, worker);
  }

  uncaught(worker: Worker, error: unknown): void {
    uncaught(this.#host, worker, error);
  }

  exited(worker: Worker, code: ExitCode): void {
    exited(this.#host, worker, code);
  }

  /** Ends or requeues the early call of a worker: a call that was sent before the worker was ready. The worker then exited. */
  bringBack(worker: Worker, why: ClearwayError): void {
    bringBack(this.#host, worker, why);
  }

  /** Retires all workers. The promise settles when they are gone, or after `limitMs` milliseconds. */
  retireAll(limitMs: number): Promise<void> {
    return retireAll(this.#host, limitMs);
  }

  /** Returns the advice for each task. */
  advise(): Advice {
    return adviceOf(this.#host.records.values(), this.inline.why);
  }

  /** Returns the pause between restarts for `stats()`. */
  pauseOf(): RestartPause | undefined {
    return pauseOf(this.#host);
  }
}
