// SPDX-License-Identifier: MIT OR Apache-2.0
import { adopt, spawn } from "#host";
import { ClearwayError, messageOf } from "../../error/clearway-error.js";
import type { WireError } from "../../error/wire.js";
import { clearTimeout, clock, now, type Timer } from "../../globals.js";
import type { ExitCode, WorkerEvents, WorkerHandle, WorkerLike } from "../../host/host.js";
import { timeLimit, within } from "../../lazy/lazy.js";
import { cancelCellCount } from "../../task/context.js";
import type { Placement } from "../../task/task.js";
import { type LedgerSide, merge } from "../../transfer/ledger.js";
import { PortTransport } from "../../transport/port.js";
import {
  callFlagBits,
  coded,
  codedSlot,
  frameSlots,
  type HelloSettings,
  isFrames,
  isFromWorker,
  isOwnMessage,
  Op,
  type TaskKind,
} from "../../transport/protocol.js";
import type { CallerRingPort } from "../../transport/ring/caller-ring-port.js";
import type { Assembly } from "../../transport/slices/assembly.js";
import type { PoolCall } from "../call/call.js";
import type { Input } from "../call/input.js";
import type { Engine } from "../engine.js";
import type { LifecycleCode } from "../lifecycle/lifecycle.js";
import type { Settings } from "../options.js";
import { startFailure } from "./start-failure.js";

/** Where a pool's workers come from: the URL of a module, or a factory in a form that bundlers understand. */
export type WorkerSource = URL | string | (() => WorkerLike);

/** One task of a worker's module, in the form of the `Ready` frame. */
export type ListedTask = [name: string, kind: TaskKind, placement?: Placement];

/** Expected run time of an unmeasured call, in microseconds: a worker's whole budget, so that no call is sent ahead to it. */
export const unmeasuredUs = 1_000;

// Time for a thread to end after the pool has stopped it, in milliseconds. On a busy machine, JavaScript ends within some hundreds.
const endMsMax = 1_000;

export type WorkerState = "starting" | "ready" | "draining" | "closing" | "gone";

/** The state machine of one worker: starting, ready, draining (no new calls), closing its resources, gone. Reads no clock. */
export class WorkerLife {
  #state: WorkerState = "starting";

  get state(): WorkerState {
    return this.#state;
  }

  /** Records that the worker's module is loaded. Returns false if the worker had to end before. */
  ready(): boolean {
    if (this.#state !== "starting") return false;
    this.#state = "ready";
    return true;
  }

  /** Stops new calls. Returns `close` if the worker has no open call, and `kill` if it is still starting. */
  drain(load: number): "wait" | "close" | "kill" | "nothing" {
    if (this.#state === "starting") return "kill";
    if (this.#state === "ready") this.#state = "draining";
    return this.drained(load);
  }

  /** Records that a call left the worker, which now has `load` calls. Returns `close` if this was the last call of a draining worker. */
  drained(load: number): "wait" | "close" | "nothing" {
    if (this.#state !== "draining") return "nothing";
    if (load > 0) return "wait";
    this.#state = "closing";
    return "close";
  }

  /** Records that the worker is gone. Returns `wanted` if the pool ended it. */
  exit(killed: boolean): "failedToStart" | "crashed" | "wanted" | "nothing" {
    const was = this.#state;
    this.#state = "gone";
    if (was === "gone") return "nothing";
    if (killed || was === "closing") return "wanted";
    return was === "starting" ? "failedToStart" : "crashed";
  }
}

// Number of slots in the array. Ids are consecutive, so the ids of open calls usually differ in their low bits. A caller with 1,000 calls
// in flight at one worker needs 1,024 slots.
const slots = 1024;

/**
 * The open calls of one worker, by id, with the methods of a map. Most calls are in an array, at the index that the low bits of their id
 * give. If another call has that slot, the call is in a map instead. A map alone is slower, because the old tables that V8 replaces keep
 * answered calls alive: see `spec/decisions/open-calls-are-in-an-array.md`.
 */
export class CallTable {
  size = 0;
  readonly #slots = new Array<PoolCall | undefined>(slots).fill(undefined);
  readonly #overflow = new Map<number, PoolCall>();

  get(id: number): PoolCall | undefined {
    const call = this.#slots[id & (slots - 1)];
    return call?.id === id ? call : this.#overflow.get(id);
  }

  /** Adds a call that is not in the table. */
  set(id: number, call: PoolCall): void {
    this.size++;
    const slot = id & (slots - 1);
    if (this.#slots[slot]) this.#overflow.set(id, call);
    else this.#slots[slot] = call;
  }

  /** Removes a call. Does nothing if the call is not in the table. */
  delete(id: number): void {
    const slot = id & (slots - 1);
    if (this.#slots[slot]?.id === id) this.#slots[slot] = undefined;
    else if (!this.#overflow.delete(id)) return;
    this.size--;
  }

  /** Returns all calls, oldest first. The array is a copy, so the caller may change the table while iterating. */
  values(): PoolCall[] {
    return [...this.#slots, ...this.#overflow.values()].filter((call) => !!call).sort((a, b) => a.id - b.id);
  }
}

// Returns the settings of the first frame for a new worker. Allocates the shared cells for cancelled calls if the host has shared memory.
function helloOf(settings: Settings, name: string): HelloSettings {
  const shared = typeof SharedArrayBuffer === "function";
  const { concurrency, metrics, setup, slices, warnings } = settings;
  return {
    clearway: 1,
    concurrency,
    metrics: metrics !== false,
    setup,
    warnings,
    slices,
    reportHeap: Number.isFinite(settings.recycle.heapMb),
    ring: shared && settings.carrier === "auto",
    cancelCells: shared ? new Int32Array(new SharedArrayBuffer(cancelCellCount * 4)) : undefined,
    lifeline: `clearway:${name}:${Math.random()}`,
  };
}

/** One worker of a pool: its thread, its open calls and its load. The code in `lifecycle/` handles its events from `ready` on. */
export class PoolWorker {
  readonly life = new WorkerLife();
  readonly calls = new CallTable();
  readonly handle: WorkerHandle;
  readonly transport: PortTransport;
  ring: CallerRingPort | undefined;
  readonly cells: Int32Array | undefined;
  /** The indexes of the pool's tasks in this worker, if the task file has changed. Otherwise they are those of the pool. */
  indexes: ReadonlyMap<string, number> | undefined;
  /** The input streams of the worker's calls, by the id of their frames. */
  readonly inputs = new Map<number, Input>();
  /** Number of calls that keep the worker busy: functions without a result, and streams whose reader has granted credit. */
  load = 0;
  /** Number of guarded calls (see `PoolCall.guarded`) among those in `load`. */
  guarded = 0;
  /** Expected run time of the calls in `load`, in microseconds. */
  busyUs = 0;
  movedMs = 0; // Time by `clock` at which the worker became busy or last ended a call, in milliseconds. Meaningless if `load` is 0.
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
  declare overdue: boolean | undefined; // Whether the pool kills this worker because a call did not stop.
  declare assembly: Assembly | undefined; // The value whose pieces the worker posts. It posts nothing else in between.
  /** Ids of the calls that had begun when the worker ended itself. Undefined if the worker could not send them. */
  begun: ReadonlySet<number> | undefined;
  /** Called when the worker's resources are closed. */
  closed: (() => void) | undefined;
  /** Called when a call was removed from the worker. */
  removed: (() => void) | undefined;
  /** Settles when the worker is gone. Undefined unless the pool has begun to end the worker. */
  leaving: Promise<void> | undefined;
  startTimer: Timer | undefined; // Undefined once the worker has answered the greeting, or is gone.
  readonly #engine: Engine;
  #referenced = true;
  #gone = false;
  #garbled = false; // Whether the worker has sent something that is not of the protocol. Nothing from it can be trusted then.

  /** Starts the thread. Throws the error of the app's factory or of the host if one of them throws. */
  constructor(
    readonly index: number,
    engine: Engine,
  ) {
    this.#engine = engine;
    const { settings, source } = engine;
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
      op === Op.Hello
        ? this.#fail(startFailure(engine, messageOf(why), why))
        : engine.lifecycle?.refused(engine, this, op, id, a, why),
    );
    // The greeting is sent at the end of the tick, together with the first call if there is one by then.
    if (!this.handle.greeted) this.transport.send(Op.Hello, 0, hello);
    const { startTimeoutMs } = settings;
    this.startTimer = timeLimit(startTimeoutMs, () => {
      const why = `it was not ready within ${startTimeoutMs} ms: \`startTimeoutMs\` includes the module's \`setup\``;
      if (this.startTimer) this.#fail(startFailure(engine, why));
    });
  }

  /** Sends a frame now. */
  sendNow(op: Op, id: number, a?: unknown): void {
    this.transport.send(op, id, a);
    this.transport.flush();
  }

  /**
   * Sends a call. The arguments are sent at the end of the tick or after 128 calls, or at once through the ring. The ring may deliver the result
   * within this method. The call is therefore in the table and in the load before its frame is sent.
   */
  post(call: PoolCall): void {
    const engine = this.#engine;
    const { lifecycle } = engine;
    const index = this.indexes ? this.indexes.get(call.task.name) : call.task.index;
    if (index === undefined) throw lifecycle?.changedTask(call.task.name);
    if (engine.idCount > 0x7fffffff) call.id = lifecycle!.freeId(engine, this, call.id);
    this.calls.set(call.id, call);
    call.worker = this;
    call.post();
    this.count(call);
    if (this.load === 1) this.movedMs = clock();
    if (engine.settings.metrics) call.postedMs = now();
    this.setRef(true);
    if (call.inputs ?? call.crossing ?? call.options.slices !== undefined) lifecycle?.announce(engine, this, call);
    const header = index < 0 ? call.task.name : (index << callFlagBits) | call.flags;
    if (call.forms) this.transport.send(Op.Call | coded, call.id, header, [call.args, call.forms], call.transfer);
    else this.transport.send(Op.Call, call.id, header, call.args, call.transfer);
    // Sends all credit that the reader has granted. An earlier worker may have received some of this credit, but no value arrived from it.
    if (call.credit) this.transport.send(Op.Credit, call.id, call.credit.items, call.credit.bytes);
  }

  /** Removes a call that this worker no longer has to answer. */
  remove(call: PoolCall): void {
    this.calls.delete(call.id);
    call.worker = undefined;
    this.count(call);
    if (call.inputs) for (const { id } of call.inputs) this.inputs.delete(id);
    this.removed?.();
  }

  /** Adds a call to the load or subtracts it, if its state has changed. Returns true if the load dropped. */
  count(call: PoolCall): boolean {
    const busy = call.worker === this && call.active;
    if (busy === call.counted > 0) return false;
    const sign = busy ? 1 : -1;
    this.load += sign;
    if (call.guarded) this.guarded += sign;
    // The estimate may change until the call ends, so the call keeps what was added.
    const change = busy ? (call.task.estimate.meanUs ?? unmeasuredUs) : -call.counted;
    call.counted += change;
    this.busyUs = this.load && Math.max(0, this.busyUs + change);
    return !busy;
  }

  /** Ends the thread at once. Its calls fail with `why`. Gives up a thread that has not ended after `limitMs` milliseconds. */
  kill(why: ClearwayError, limitMs = endMsMax): Promise<void> {
    this.why ??= why;
    this.killed = true;
    // Stops new calls while the worker ends. It could receive one that comes back from another killed worker.
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
    else this.#engine.lifecycle?.unreadable(this, why, sure);
  }

  /** Sets whether the worker keeps the process alive (Node). */
  setRef(on: boolean): void {
    if (on === this.#referenced) return;
    this.#referenced = on;
    this.handle.setRef(on);
  }

  receive(message: unknown): void {
    // Ignores other messages, because a task module may post its own.
    if (!isFrames(message) || isOwnMessage(message)) return;
    for (let at = 0; at < message.length && !this.#garbled; at += frameSlots)
      this.frame(message[at] as Op, message[at + 1] as number, message[at + 2], message[at + 3]);
    this.endMessage();
  }

  /** Handles one frame of a message or of the ring. The caller must call `endMessage()` after the last frame. */
  frame(op: Op, id: number, a: unknown, b: unknown): void {
    if (this.#garbled) return;
    if (!isFromWorker(op, id, a, b)) {
      this.#garbled = true;
      this.begun = undefined; // It may say that no call has begun. The pool would then run the same call again and again.
      return void this.kill(new ClearwayError("protocol", "the worker sent a message that is not of this protocol"));
    }
    const engine = this.#engine;
    if (op & coded) this.frame(op & ~coded, id, codedSlot(a), b);
    else if (op === Op.Result) {
      const call = this.calls.get(id);
      if (call) engine.result(this, call, a, b as number);
    } else if (op === Op.Ledger) {
      if (typeof a === "number") engine.fromWorkers.movedBytes += a;
      else merge(engine.fromWorkers, a as LedgerSide);
    } else if (op === Op.Ready) this.#whenLoaded((lifecycle) => lifecycle.ready(engine, this, a as ListedTask[]));
    else if (op === Op.SetupFailed)
      this.#whenLoaded((lifecycle) => this.#fail(lifecycle.setupFailure(engine, a as WireError)));
    else if (op === Op.Unreadable) this.unreadable();
    else engine.lifecycle?.frame(engine, this, op, id, a, b);
  }

  /** Finishes a message. Called after its last frame. */
  endMessage(): void {
    if (!this.loadDropped || this.#gone) return;
    this.loadDropped = false;
    if (this.load > 0) this.movedMs = clock();
    this.#engine.loadDropped(this);
  }

  // Handles the frame that ends the worker's start, once the lifecycle is loaded. If it is, at once: the next message may report its end.
  #whenLoaded(act: (lifecycle: LifecycleCode) => void): void {
    this.startTimer = void clearTimeout(this.startTimer); // The load has a limit of time of its own.
    const { lifecycle } = this.#engine;
    if (lifecycle) return act(lifecycle);
    this.#engine.loadLifecycle().then(act, (why) => this.#fail(why));
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

  #error(error: unknown, what?: string): void {
    if (!this.why) this.uncaught = { error };
    if (this.life.state === "starting") this.why ??= startFailure(this.#engine, what ?? messageOf(error), error, !what);
    // An uncaught error ends a worker in Node. In a browser it does not, but a worker that is still starting will never become ready.
    if (this.why) void this.#end();
    else this.#engine.lifecycle?.uncaught(this.#engine, error);
  }

  #exited(code: ExitCode, what = "it ended before expose()"): void {
    const engine = this.#engine;
    this.startTimer = void clearTimeout(this.startTimer);
    clearTimeout(this.idleTimer);
    // The ring may still deliver frames that the worker had published. Such frames must not make the pool send new calls to this worker.
    this.#gone = true;
    this.ring?.close();
    this.transport.close();
    if (this.life.state === "starting") engine.workers.neverReady(this, this.why ?? startFailure(engine, what));
    else engine.lifecycle?.exited(engine, this, code);
  }
}
