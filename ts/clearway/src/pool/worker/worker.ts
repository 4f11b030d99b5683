// SPDX-License-Identifier: MIT OR Apache-2.0
import { adopt, now, spawn } from "#host";
import { ClearwayError } from "../../error/clearway-error.js";
import { messageOf } from "../../error/message-of.js";
import type { WorkerEvents, WorkerHandle, WorkerLike } from "../../host/host.js";
import { after, type Timer } from "../../lazy/timer.js";
import { cancelCellCount } from "../../task/context.js";
import type { TaskPlacement } from "../../task/task.js";
import { type LedgerSide, merge } from "../../transfer/ledger.js";
import { PortTransport } from "../../transport/port.js";
import { callFlagBits, frameSlots, type HelloSettings, isFrames, Op, type TaskKind } from "../../transport/protocol.js";
import type { CallerRingPort } from "../../transport/ring/open-ring.js";
import type { Settings } from "../options.js";
import { CallTable } from "./call-table.js";
import { partMissing, startFailure } from "./failures.js";

/** Where a pool's workers come from: a module's URL, or a factory that a bundler understands. */
export type WorkerSource = URL | string | (() => WorkerLike);

/** The tasks of a worker's module, as its `Ready` frame lists them. */
export type Tasks = [name: string, kind: TaskKind, placement?: TaskPlacement][];

/** A call as its worker reads and changes it. */
export interface WorkerCall<Call extends WorkerCall<Call>> {
  readonly id: number;
  readonly args: unknown[];
  /** The objects that move with the arguments. */
  readonly transfer: object[];
  /** Streams among the arguments. */
  readonly inputs: readonly { readonly id: number }[] | undefined;
  /** Ledger entries for the arguments. */
  readonly crossing: LedgerSide | undefined;
  /** `CallFlag`s. */
  readonly flags: number;
  /** Whether the pool may have to kill the worker to stop the call. */
  readonly guarded: boolean;
  /** Whether the call gives its worker something to do. A stream does while its reader has granted credit. */
  readonly active: boolean;
  /** What the reader of a stream has asked for; undefined for other calls. */
  readonly credit: { readonly items: number; readonly bytes: number } | undefined;
  readonly record: {
    readonly name: string;
    readonly index: number;
    readonly estimate: { readonly meanUs: number | undefined };
  };
  /** The worker that has the call. */
  worker: PoolWorker<Call> | undefined;
  /** Whether the worker's load includes the call. */
  counted: boolean;
  postedMs: number;
  /** Notes that the call leaves for a worker. */
  post(): void;
}

/** Receives what a worker reports before it is ready, and its results. The engine implements it. */
export interface WorkerSink<Call extends WorkerCall<Call>> {
  readonly settings: Settings;
  /** Ledger entries by direction. */
  readonly toWorkers: LedgerSide;
  readonly fromWorkers: LedgerSide;
  readonly tracker: { result(worker: PoolWorker<Call>, call: Call, value: unknown, runUs: number): void };
  /** Handles everything else. Loaded before the first worker is ready; undefined until then. */
  readonly lifecycle: WorkerLifecycle<Call> | undefined;
  loadLifecycle(): Promise<WorkerLifecycle<Call>>;
  /** Called when a worker's load drops. */
  loadDropped(worker: PoolWorker<Call>): void;
  /** Called when the host, or the app's factory, could not make a worker. */
  startFailed(place: number, reason: unknown): void;
  /** Called when a worker exits before it is ready. */
  neverReady(worker: PoolWorker<Call>, why: ClearwayError | undefined): void;
}

/** Receives what a worker reports from `ready` on, results excepted. */
export interface WorkerLifecycle<Call extends WorkerCall<Call>> {
  /** Called when a worker's module is loaded. */
  ready(worker: PoolWorker<Call>, tasks: Tasks): void;
  /** Announces a call's input streams to its worker, before the call. */
  announce(worker: PoolWorker<Call>, call: Call): void;
  /** Handles a frame. */
  frame(worker: PoolWorker<Call>, op: Op, id: number, a: unknown, b: unknown): void;
  /** Handles a frame that the transport could not post. */
  refused(worker: PoolWorker<Call>, op: Op, id: number, a: unknown, reason: unknown): void;
  /** Handles a message that could not be deserialized. `sure`: Clearway sent it, not the task module. */
  unreadable(worker: PoolWorker<Call>, why: ClearwayError, sure: boolean): void;
  uncaught(worker: PoolWorker<Call>, error: unknown): void;
  /** Handles the end of a worker. `code` is its exit code, where the host has exit codes. */
  exited(worker: PoolWorker<Call>, code: number | undefined): void;
}

/** The states of a worker. */
export type WorkerState = "starting" | "ready" | "draining" | "closing" | "gone";

/** The state machine of one worker: starting, ready, draining (no new calls), closing its resources, gone. Pure. */
export class WorkerLife {
  #state: WorkerState = "starting";

  get state(): WorkerState {
    return this.#state;
  }

  /** The worker's module is loaded. Returns false if the worker had to end before. */
  ready(): boolean {
    if (this.#state !== "starting") return false;
    this.#state = "ready";
    return true;
  }

  /** Stops new calls. Returns `close` when the worker has no open call. */
  drain(load: number): "wait" | "close" | "kill" | "nothing" {
    if (this.#state === "starting") return "kill";
    if (this.#state === "ready") this.#state = "draining";
    return this.drained(load);
  }

  /** A call left a worker that has `load` calls now. Returns `close` if it was the last one of a draining worker. */
  drained(load: number): "wait" | "close" | "nothing" {
    if (this.#state !== "draining") return "nothing";
    if (load > 0) return "wait";
    this.#state = "closing";
    return "close";
  }

  /** The worker is gone. Returns `wanted` if the pool ended it. */
  exit(killed: boolean): "failedToStart" | "crashed" | "wanted" | "nothing" {
    const was = this.#state;
    this.#state = "gone";
    if (was === "gone") return "nothing";
    if (killed || was === "closing") return "wanted";
    return was === "starting" ? "failedToStart" : "crashed";
  }
}

/** One worker of a pool: its thread, its open calls, its load. `lifecycle/` has what happens to it from `ready` on. */
export class PoolWorker<Call extends WorkerCall<Call>> {
  readonly life = new WorkerLife();
  readonly calls = new CallTable<Call>();
  readonly handle: WorkerHandle;
  readonly transport: PortTransport;
  ring: CallerRingPort | undefined;
  readonly cells: Int32Array | undefined;
  /** The input streams of its calls, by the id of their frames. */
  readonly inputs = new Map<number, NonNullable<Call["inputs"]>[number]>();
  /** Number of calls that keep it busy: functions without a result, and streams whose reader has granted credit. */
  load = 0;
  /** Of those, the number of guarded calls. */
  guarded = 0;
  /** Expected run time of those calls, in microseconds. */
  busyUs = 0;
  /** Whether its load dropped while it read a message. */
  loadDropped = false;
  tasksRun = 0;
  runUs = 0;
  heapBytes = 0;
  readonly startedMs = now();
  idleTimer: Timer | undefined;
  idleSinceMs = 0;
  /** Round trips under way. */
  pings: { resolve(remoteTimeMs: number): void; reject(why: unknown): void }[] = [];
  /** The error of its open calls when it ends. Undefined unless the pool ends it. */
  why: ClearwayError | undefined;
  uncaught: { error: unknown } | undefined;
  killed = false;
  /** Ids of the calls that had begun when it ended itself, if it could still send them. */
  begun: ReadonlySet<number> | undefined;
  /** Called when its resources are closed. */
  closed: (() => void) | undefined;
  /** Called when a call has left it. */
  removed: (() => void) | undefined;
  /** Settles when it is gone. Undefined unless it has to go. */
  leaving: Promise<void> | undefined;
  readonly startTimer: Timer;
  readonly #sink: WorkerSink<Call>;
  #referenced = true;
  #gone = false;

  /** Starts the thread. Throws what the app's factory or the host throws. */
  constructor(
    readonly index: number,
    source: WorkerSource,
    sink: WorkerSink<Call>,
  ) {
    this.#sink = sink;
    const { settings } = sink;
    const name = `${settings.name}-${index}`;
    const hello = helloOf(settings, name);
    this.cells = hello.cancelCells;
    const events: WorkerEvents = {
      message: (message) => (this.ring ? this.ring.receive(message) : this.receive(message)),
      messageError: (sure) => this.unreadable(sure),
      error: (error) => this.#error(error),
      exit: (code) => this.#exited(code),
    };
    const { resourceLimits } = settings;
    this.handle =
      typeof source === "function"
        ? adopt(source(), events)
        : spawn(source, { name, greeting: hello, resourceLimits }, events);
    this.transport = new PortTransport(this.handle, (op, id, a, why) =>
      // Without the greeting, the worker never becomes ready.
      op === Op.Hello ? this.#fail(startFailure(messageOf(why), why)) : sink.lifecycle?.refused(this, op, id, a, why),
    );
    // Leaves at the end of the tick, together with the first call if there is one by then.
    if (!this.handle.greeted) this.transport.send(Op.Hello, 0, hello);
    this.startTimer = after(settings.startTimeoutMs, () => this.#fail(startFailure("it was not ready in time")));
  }

  /** Sends a frame now. */
  tell(op: Op, id: number, a?: unknown): void {
    this.transport.send(op, id, a);
    this.transport.flush();
  }

  /**
   * Sends a call. Its arguments leave at the end of the tick, or at once by the ring. The ring may deliver the result within this
   * method, so the call is in the table and in the load before its frame is sent.
   */
  post(call: Call): void {
    const { transport } = this;
    const { settings, toWorkers, lifecycle } = this.#sink;
    this.calls.set(call.id, call);
    call.worker = this;
    call.post();
    this.count(call);
    if (settings.metrics) call.postedMs = now();
    this.setRef(true);
    if (call.inputs) lifecycle?.announce(this, call);
    if (call.crossing) merge(toWorkers, call.crossing);
    const { index, name } = call.record;
    transport.send(Op.Call, call.id, index < 0 ? name : (index << callFlagBits) | call.flags, call.args, call.transfer);
    const { credit } = call;
    // All credit that the reader has granted: of an earlier run, which had some of it, no value arrived.
    if (credit) transport.send(Op.Credit, call.id, credit.items, credit.bytes);
  }

  /** Removes a call that is over here. */
  remove(call: Call): void {
    this.calls.delete(call.id);
    call.worker = undefined;
    this.count(call);
    if (call.inputs) for (const { id } of call.inputs) this.inputs.delete(id);
    this.removed?.();
  }

  /** Adds a call to the load, or takes it off, if that has changed. Returns true if the load dropped. */
  count(call: Call): boolean {
    const busy = call.worker === this && call.active;
    if (busy === call.counted) return false;
    call.counted = busy;
    const sign = busy ? 1 : -1;
    this.load += sign;
    if (call.guarded) this.guarded += sign;
    this.busyUs = this.load === 0 ? 0 : Math.max(0, this.busyUs + sign * (call.record.estimate.meanUs ?? 0));
    return !busy;
  }

  /** Ends the thread at once. Its calls fail with `why`. */
  kill(why: ClearwayError): Promise<void> {
    this.why ??= why;
    this.killed = true;
    // No new calls while it ends: a call that comes back from another killed worker would come back again.
    this.life.drain(1);
    this.setRef(true);
    const gone = this.handle.terminate();
    this.leaving ??= gone;
    return gone;
  }

  /** A message from or to the worker could not be deserialized. */
  unreadable(sure = true): void {
    const why = new ClearwayError("message-error", "a message could not be read");
    if (this.life.state === "starting") void this.kill(why);
    else this.#sink.lifecycle?.unreadable(this, why, sure);
  }

  /** Sets whether the worker keeps the process alive (Node). */
  setRef(on: boolean): void {
    if (on === this.#referenced) return;
    this.#referenced = on;
    this.handle.setRef(on);
  }

  /** Handles a message from the worker. */
  receive(message: unknown): void {
    // A task module may post messages of its own.
    if (!isFrames(message)) return;
    for (let at = 0; at < message.length; at += frameSlots) {
      this.frame(message[at] as Op, message[at + 1] as number, message[at + 2], message[at + 3]);
    }
    this.told();
  }

  /** Handles one frame of a message or of the ring. The caller calls `told()` after the last one. */
  frame(op: Op, id: number, a: unknown, b: unknown): void {
    const sink = this.#sink;
    if (op === Op.Result) {
      const call = this.calls.get(id);
      if (call) sink.tracker.result(this, call, a, b as number);
    } else if (op === Op.Ledger) {
      if (typeof a === "number") sink.fromWorkers.movedBytes += a;
      else merge(sink.fromWorkers, a as LedgerSide);
    } else if (op === Op.Ready) this.#ready(a as Tasks);
    else if (op === Op.Unreadable) this.unreadable();
    else sink.lifecycle?.frame(this, op, id, a, b);
  }

  /** Called after the last frame of a message. */
  told(): void {
    if (!this.loadDropped || this.#gone) return;
    this.loadDropped = false;
    this.#sink.loadDropped(this);
  }

  // The module is loaded. The worker is ready once the lifecycle part is loaded too. If it is, this must happen at once: the next message
  // may be the end of a worker that its first call has ended.
  #ready(tasks: Tasks): void {
    const sink = this.#sink;
    if (sink.lifecycle) sink.lifecycle.ready(this, tasks);
    else {
      sink.loadLifecycle().then(
        (lifecycle) => lifecycle.ready(this, tasks),
        (cause) => this.#fail(partMissing(cause)),
      );
    }
  }

  // Not `kill`: the promises of `ready()` must reject.
  #fail(why: ClearwayError): void {
    this.why ??= why;
    void this.handle.terminate();
  }

  #error(error: unknown): void {
    this.uncaught = { error };
    if (this.life.state === "starting") this.why ??= startFailure(messageOf(error), error);
    // An uncaught error ends a worker in Node. In browsers it does not, but a worker that has not started yet never will.
    if (this.why) void this.handle.terminate();
    else this.#sink.lifecycle?.uncaught(this, error);
  }

  #exited(code: number | undefined): void {
    clearTimeout(this.startTimer);
    clearTimeout(this.idleTimer);
    // The ring still reads the frames that the worker had published, but the worker takes no calls.
    this.#gone = true;
    this.ring?.close();
    this.transport.close();
    if (this.life.state === "starting") this.#sink.neverReady(this, this.why);
    else this.#sink.lifecycle?.exited(this, code);
  }
}

// The first frame for a new worker. Allocates the shared cells for cancelled calls, where there is shared memory.
function helloOf(settings: Settings, name: string): HelloSettings {
  const shared = typeof SharedArrayBuffer === "function";
  return {
    clearway: 1,
    concurrency: settings.concurrency,
    metrics: settings.metrics,
    reportHeap: settings.recycle.heapMb < Number.POSITIVE_INFINITY,
    ring: shared && settings.carrier === "auto",
    cancelCells: shared ? new Int32Array(new SharedArrayBuffer(cancelCellCount * 4)) : undefined,
    lifeline: `clearway:${name}:${Math.random()}`,
  };
}
