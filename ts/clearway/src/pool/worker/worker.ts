// SPDX-License-Identifier: MIT OR Apache-2.0
import { adopt, spawn } from "#host";
import { ClearwayError, messageOf } from "../../error/clearway-error.js";
import { clearTimeout, now, type Timer } from "../../globals.js";
import type { ExitCode, WorkerEvents, WorkerHandle, WorkerLike } from "../../host/host.js";
import { after, within } from "../../lazy/lazy.js";
import type { Placement } from "../../task/task.js";
import type { Form } from "../../transfer/coded.js";
import { type LedgerSide, merge } from "../../transfer/ledger.js";
import { PortTransport } from "../../transport/port.js";
import {
  callFlagBits,
  coded,
  codedSlot,
  frameSlots,
  isFrames,
  isFromWorker,
  isOwnMessage,
  Op,
  type TaskKind,
} from "../../transport/protocol.js";
import type { CallerRingPort } from "../../transport/ring/open-ring.js";
import type { Settings } from "../options.js";
import { helloOf } from "./hello.js";
import { CallTable, startFailure, WorkerLife } from "./state.js";

/** Where a pool's workers come from: the URL of a module, or a factory in a form that bundlers understand. */
export type WorkerSource = URL | string | (() => WorkerLike);

/** The tasks of a worker's module, in the form of the `Ready` frame. */
export type Tasks = [name: string, kind: TaskKind, placement?: Placement][];

/**
 * Expected run time of an unmeasured call, in microseconds: the whole budget of a worker's calls, so that no call is sent ahead to its worker.
 */
export const unmeasuredUs = 1_000;

// Time for a thread to end after the pool has stopped it, in milliseconds. A thread that runs JavaScript ends within a few, and on a busy
// machine within some hundreds.
const endMsMax = 1_000;

/** The part of a call that its worker reads and changes. */
export interface WorkerCall<Call extends WorkerCall<Call>> {
  readonly id: number;
  readonly args: unknown[];
  /** The forms of the arguments. Undefined if all are plain. */
  readonly forms: readonly Form[] | undefined;
  /** The objects that are moved with the arguments. */
  readonly transfer: object[];
  /** The streams among the arguments. */
  readonly inputs: readonly { readonly id: number }[] | undefined;
  /** Ledger entries for the arguments. */
  readonly crossing: LedgerSide | undefined;
  /** A combination of `CallFlag` bits. */
  readonly flags: number;
  /** Whether the pool may have to kill the worker to stop the call. */
  readonly guarded: boolean;
  /** Whether the call gives its worker work to do. A stream does while its reader has granted credit. */
  readonly active: boolean;
  /** The credit that the reader of a stream has granted. Undefined for other calls. */
  readonly credit: { readonly items: number; readonly bytes: number } | undefined;
  readonly options: { readonly slices: number | false | undefined };
  readonly record: {
    readonly name: string;
    readonly index: number;
    readonly estimate: { readonly meanUs: number | undefined };
  };
  /** The worker that has the call. */
  worker: PoolWorker<Call> | undefined;
  /** Expected run time in microseconds, as the worker's `busyUs` includes it. 0 if the worker's load does not include the call. */
  counted: number;
  postedMs: number;
  /** Records that the call is sent to a worker. */
  post(): void;
}

/** Receives a worker's results, and its events before it is ready. The engine implements it. */
export interface WorkerSink<Call extends WorkerCall<Call>> {
  readonly settings: Settings;
  /** Ledgers of the two directions. */
  readonly toWorkers: LedgerSide;
  readonly fromWorkers: LedgerSide;
  readonly tracker: { result(worker: PoolWorker<Call>, call: Call, value: unknown, runUs: number): void };
  /** Handles everything else. Undefined until its code is loaded, which happens before the first worker becomes ready. */
  readonly lifecycle: WorkerLifecycle<Call> | undefined;
  loadLifecycle(): Promise<WorkerLifecycle<Call>>;
  /** Called when a worker's load drops. */
  loadDropped(worker: PoolWorker<Call>): void;
  /** Called when the host or the app's factory could not make a worker. */
  startFailed(index: number, reason: unknown): void;
  /** Called when a worker exits before it is ready. */
  neverReady(worker: PoolWorker<Call>, why: ClearwayError): void;
}

/** Receives a worker's events from `ready` on, except results. */
export interface WorkerLifecycle<Call extends WorkerCall<Call>> {
  /** Called when a worker's module is loaded. */
  ready(worker: PoolWorker<Call>, tasks: Tasks): void;
  /** Returns the error for a worker whose `setup` failed. `wire` is the encoded error of `setup`. */
  setupFailure(wire: unknown): ClearwayError;
  /** Returns the error for a task that a worker lacks, because the task file has changed. */
  changedTask(name: string): ClearwayError;
  /** Announces the input streams of a call to its worker, and enters its memory into the ledger. Called before the call is sent. */
  announce(worker: PoolWorker<Call>, call: Call): void;
  /** Handles a frame from the worker. */
  frame(worker: PoolWorker<Call>, op: Op, id: number, a: unknown, b: unknown): void;
  /** Handles a frame that the transport could not post. */
  refused(worker: PoolWorker<Call>, op: Op, id: number, a: unknown, reason: unknown): void;
  /**
   * Handles a message that could not be deserialized. `sure` is true if Clearway sent the message, and false if the task module may have.
   */
  unreadable(worker: PoolWorker<Call>, why: ClearwayError, sure: boolean): void;
  uncaught(worker: PoolWorker<Call>, error: unknown): void;
  /** Handles the end of a worker. */
  exited(worker: PoolWorker<Call>, code: ExitCode): void;
}

/** One worker of a pool: its thread, its open calls and its load. The code in `lifecycle/` handles its events from `ready` on. */
export class PoolWorker<Call extends WorkerCall<Call>> {
  readonly life = new WorkerLife();
  readonly calls = new CallTable<Call>();
  readonly handle: WorkerHandle;
  readonly transport: PortTransport;
  ring: CallerRingPort | undefined;
  readonly cells: Int32Array | undefined;
  /** The indexes of the pool's tasks in this worker, if the task file has changed. Otherwise they are those of the pool. */
  indexes: ReadonlyMap<string, number> | undefined;
  /** The input streams of the worker's calls, by the id of their frames. */
  readonly inputs = new Map<number, NonNullable<Call["inputs"]>[number]>();
  /** Number of calls that keep the worker busy: functions without a result, and streams whose reader has granted credit. */
  load = 0;
  /** Number of guarded calls (see `WorkerCall.guarded`) among those in `load`. */
  guarded = 0;
  /** Expected run time of the calls in `load`, in microseconds. */
  busyUs = 0;
  /** Whether the worker's load dropped while the pool read its current message. */
  loadDropped = false;
  tasksRun = 0;
  runUs = 0;
  heapBytes = 0;
  readonly startedMs = now();
  idleTimer: Timer | undefined;
  idleSinceMs = 0;
  /** Pings without a reply yet. */
  pings: { resolve(remoteTimeMs: number): void; reject(why: unknown): void }[] = [];
  /** The error with which the worker's open calls fail when it ends. Undefined unless the pool ends the worker. */
  why: ClearwayError | undefined;
  uncaught: { error: unknown } | undefined;
  killed = false;
  /** Ids of the calls that had begun when the worker ended itself. Undefined if the worker could not send them. */
  begun: ReadonlySet<number> | undefined;
  /** Called when the worker's resources are closed. */
  closed: (() => void) | undefined;
  /** Called when a call was removed from the worker. */
  removed: (() => void) | undefined;
  /** Settles when the worker is gone. Undefined unless the pool has begun to end the worker. */
  leaving: Promise<void> | undefined;
  readonly startTimer: Timer;
  readonly #sink: WorkerSink<Call>;
  #referenced = true;
  #gone = false;
  #garbled = false; // Whether the worker has sent something that is not of the protocol. Nothing from it can be trusted then.

  /** Starts the thread. Throws the error of the app's factory or of the host if one of them throws. */
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
      error: (error, what) => this.#error(error, what),
      exit: (code, what) => this.#exited(code, what),
    };
    this.handle =
      typeof source === "function"
        ? adopt(source(), events)
        : spawn(source, { name, greeting: hello, settings }, events);
    this.transport = new PortTransport(this.handle, (op, id, a, why) =>
      // A worker that does not receive the greeting never becomes ready.
      op === Op.Hello ? this.#fail(startFailure(messageOf(why), why)) : sink.lifecycle?.refused(this, op, id, a, why),
    );
    // The greeting is sent at the end of the tick, together with the first call if there is one by then.
    if (!this.handle.greeted) this.transport.send(Op.Hello, 0, hello);
    this.startTimer = after(settings.startTimeoutMs, () => this.#fail(startFailure("it was not ready in time")));
  }

  /** Sends a frame now. */
  sendNow(op: Op, id: number, a?: unknown): void {
    this.transport.send(op, id, a);
    this.transport.flush();
  }

  /**
   * Sends a call. The arguments are sent at the end of the tick, or at once through the shared-memory ring. The ring may deliver the result
   * within this method. The call is therefore in the table and in the load before its frame is sent.
   */
  post(call: Call): void {
    const { lifecycle } = this.#sink;
    const { name, index: shared } = call.record;
    const index = this.indexes ? this.indexes.get(name) : shared;
    if (index === undefined) throw lifecycle?.changedTask(name);
    this.calls.set(call.id, call);
    call.worker = this;
    call.post();
    this.count(call);
    if (this.#sink.settings.metrics) call.postedMs = now();
    this.setRef(true);
    if (call.inputs ?? call.crossing ?? call.options.slices !== undefined) lifecycle?.announce(this, call);
    const header = index < 0 ? name : (index << callFlagBits) | call.flags;
    if (call.forms) this.transport.send(Op.Call | coded, call.id, header, [call.args, call.forms], call.transfer);
    else this.transport.send(Op.Call, call.id, header, call.args, call.transfer);
    // Sends all credit that the reader has granted. An earlier worker may have received some of this credit, but no value arrived from it.
    if (call.credit) this.transport.send(Op.Credit, call.id, call.credit.items, call.credit.bytes);
  }

  /** Removes a call that this worker no longer has to answer. */
  remove(call: Call): void {
    this.calls.delete(call.id);
    call.worker = undefined;
    this.count(call);
    if (call.inputs) for (const { id } of call.inputs) this.inputs.delete(id);
    this.removed?.();
  }

  /** Adds a call to the load or subtracts it, if its state has changed. Returns true if the load dropped. */
  count(call: Call): boolean {
    const busy = call.worker === this && call.active;
    if (busy === call.counted > 0) return false;
    const sign = busy ? 1 : -1;
    this.load += sign;
    if (call.guarded) this.guarded += sign;
    // The estimate may change until the call ends, so the call keeps what was added.
    const change = busy ? (call.record.estimate.meanUs ?? unmeasuredUs) : -call.counted;
    call.counted += change;
    this.busyUs = this.load && Math.max(0, this.busyUs + change);
    return !busy;
  }

  /** Ends the thread at once. Its calls fail with `why`. Gives up a thread that has not ended after `limitMs` milliseconds. */
  kill(why: ClearwayError, limitMs = endMsMax): Promise<void> {
    this.why ??= why;
    this.killed = true;
    // Stops new calls while the worker ends. Otherwise it could receive a call that comes back from another killed worker, and the call
    // would come back once more.
    this.life.drain(1);
    this.setRef(true);
    const gone = this.#end(limitMs);
    this.leaving ??= gone;
    return gone;
  }

  /** Lets a worker that has closed everything end by itself. After `limitMs` milliseconds, ends it as `kill` does. */
  async leave(why: ClearwayError, limitMs: number): Promise<void> {
    this.why ??= why;
    this.killed = true;
    const { handle } = this;
    if (!(handle.leave && (await within(handle.leave(), limitMs)))) await this.kill(why);
  }

  /** Handles a message from or to the worker that could not be deserialized. */
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
    // Ignores other messages, because a task module may post its own.
    if (!isFrames(message) || isOwnMessage(message)) return;
    for (let at = 0; at < message.length; at += frameSlots) {
      this.frame(message[at] as Op, message[at + 1] as number, message[at + 2], message[at + 3]);
    }
    this.endMessage();
  }

  /** Handles one frame of a message or of the ring. The caller must call `endMessage()` after the last frame. */
  frame(op: Op, id: number, a: unknown, b: unknown): void {
    if (this.#garbled) return;
    if (!isFromWorker(op, id, a, b)) {
      this.#garbled = true;
      return void this.kill(new ClearwayError("protocol", "the worker sent a message that is not of this protocol"));
    }
    const sink = this.#sink;
    if (op & coded) this.frame(op & ~coded, id, codedSlot(a), b);
    else if (op === Op.Result) {
      const call = this.calls.get(id);
      if (call) sink.tracker.result(this, call, a, b as number);
    } else if (op === Op.Ledger) {
      if (typeof a === "number") sink.fromWorkers.movedBytes += a;
      else merge(sink.fromWorkers, a as LedgerSide);
    } else if (op === Op.Ready) this.#whenLoaded((lifecycle) => lifecycle.ready(this, a as Tasks));
    else if (op === Op.SetupFailed) this.#whenLoaded((lifecycle) => this.#fail(lifecycle.setupFailure(a)));
    else if (op === Op.Unreadable) this.unreadable();
    else sink.lifecycle?.frame(this, op, id, a, b);
  }

  /** Finishes a message. Called after its last frame. */
  endMessage(): void {
    if (!this.loadDropped || this.#gone) return;
    this.loadDropped = false;
    this.#sink.loadDropped(this);
  }

  // Handles the frame that ends the worker's start, once the lifecycle code is loaded. If it is, this must happen at once: the next message
  // may report the end of a worker that its first call has ended.
  #whenLoaded(act: (lifecycle: WorkerLifecycle<Call>) => void): void {
    const { lifecycle } = this.#sink;
    if (lifecycle) return act(lifecycle);
    this.#sink.loadLifecycle().then(act, (why) => this.#fail(why));
  }

  // Ends a worker that cannot become ready. Its exit then rejects the promises of `ready()`, unless another worker is ready or starting.
  #fail(why: ClearwayError): void {
    this.why ??= why;
    void this.#end();
  }

  // A thread ends only when native code returns that it is in: a synchronous child process, a query, a read of a pipe. The pool does not wait
  // for that. `#exited` may have been called before, if only output is left.
  async #end(limitMs = endMsMax): Promise<void> {
    const { handle } = this;
    if (!handle.abandon) return handle.terminate();
    if ((await within(handle.terminate(), limitMs)) || this.#gone) return;
    handle.abandon();
    this.#exited(undefined);
  }

  #error(error: unknown, what = messageOf(error)): void {
    this.uncaught = { error };
    if (this.life.state === "starting") this.why ??= startFailure(what, error);
    // An uncaught error ends a worker in Node. In a browser it does not, but a worker that is still starting will never become ready.
    if (this.why) void this.#end();
    else this.#sink.lifecycle?.uncaught(this, error);
  }

  #exited(code: ExitCode, what = "it ended before expose()"): void {
    clearTimeout(this.startTimer);
    clearTimeout(this.idleTimer);
    // The ring may still deliver frames that the worker had published. Such frames must not make the pool send new calls to this worker.
    this.#gone = true;
    this.ring?.close();
    this.transport.close();
    if (this.life.state === "starting") this.#sink.neverReady(this, this.why ?? startFailure(what));
    else this.#sink.lifecycle?.exited(this, code);
  }
}
