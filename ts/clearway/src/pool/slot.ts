// SPDX-License-Identifier: MIT OR Apache-2.0
import { adopt, now, spawn } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import type { WorkerEvents, WorkerHandle, WorkerLike } from "../host/host.js";
import { cancelCellCount, cellOf } from "../task/context.js";
import { enterCopy, type LedgerSide, merge } from "../transfer/ledger.js";
import { PortTransport } from "../transport/port.js";
import { CallFlag, callFlagBits, frameSlots, type HelloSettings, isFrames, Op } from "../transport/protocol.js";
import type { CallerLane } from "../transport/ring/open-ring.js";
import type { Engine } from "./engine.js";
import { encoded } from "./errors.js";
import type { Input } from "./input.js";
import type { PoolCall } from "./pool-call.js";
import { SlotLife } from "./slot-life.js";
import { after, type Timer, within } from "./timer.js";
import { exitFailure, messageOf, poolClosed, startFailure } from "./worker-failure.js";

// How long a worker may take to close its resources before it is ended in any case.
const closeLimitMs = 5_000;

/** Where a pool's workers come from: a module's URL, or a factory that a bundler understands. */
export type WorkerSource = URL | string | (() => WorkerLike);

/** One worker of a pool and the calls that are with it. */
export class Slot {
  readonly life = new SlotLife();
  readonly calls = new Map<number, PoolCall>();
  /** Calls that keep it busy: functions not answered, streams whose reader has given credit. */
  load = 0;
  /** Of those, how many may have to be killed. */
  guarded = 0;
  /** How long its calls are expected to take, in microseconds. */
  busyUs = 0;
  /** Became less busy while a message was read. */
  eased = false;
  tasksRun = 0;
  runUs = 0;
  heapBytes = 0;
  readonly startedMs = now();
  idleTimer: Timer | undefined;
  idleSinceMs = 0;
  readonly transport: PortTransport;
  readonly #handle: WorkerHandle;
  readonly #engine: Engine;
  readonly #inputs = new Map<number, Input>();
  /** Round trips under way; answers come in their order. */
  #pings: { resolve(remoteTimeMs: number): void; reject(why: unknown): void }[] = [];
  /** Settles when it is gone, once it has to go. */
  leaving: Promise<void> | undefined;
  readonly #cells: Int32Array | undefined;
  readonly #startTimer: Timer;
  /** Loads while the worker starts. */
  readonly #ring: Promise<typeof import("../transport/ring/open-ring.js")> | undefined;
  #lane: CallerLane | undefined;
  #uncaught: { error: unknown } | undefined;
  #why: ClearwayError | undefined;
  #killed = false;
  #condemned: ClearwayError | undefined;
  #begun: ReadonlySet<number> | undefined;
  #closed: (() => void) | undefined;
  #referenced = true;
  #gone = false;

  constructor(
    readonly index: number,
    source: WorkerSource,
    engine: Engine,
  ) {
    this.#engine = engine;
    const { settings } = engine;
    const name = `${settings.name}-${index}`;
    if (typeof SharedArrayBuffer === "function") {
      this.#cells = new Int32Array(new SharedArrayBuffer(cancelCellCount * Int32Array.BYTES_PER_ELEMENT));
      if (settings.carrier === "auto") this.#ring = import("../transport/ring/open-ring.js");
    }
    const hello: HelloSettings = {
      clearway: 1,
      concurrency: settings.concurrency,
      metrics: settings.metrics,
      reportHeap: Number.isFinite(settings.recycle.heapMb),
      cancelCells: this.#cells,
      lifeline: `clearway:${name}:${now()}:${Math.random()}`,
    };
    const events: WorkerEvents = {
      message: (message) => (this.#lane ? this.#lane.receive(message) : this.#receive(message)),
      messageError: () => this.#unreadable("a message from the worker could not be read"),
      error: (error) => this.#error(error),
      exit: (code) => this.#exited(code),
    };
    this.#handle =
      typeof source === "function"
        ? adopt(source(), events)
        : spawn(source, { name, greeting: hello, resourceLimits: settings.resourceLimits }, events);
    this.transport = new PortTransport(this.#handle, (op, id, a, reason) => {
      const call = this.calls.get(id);
      if (op === Op.Chunk) this.#inputs.get(id)?.refuse(a, reason);
      else if (op === Op.Call && call) {
        if (call.crossing) merge(engine.toWorkers, call.crossing, -1);
        engine.desk.unsendable(this, call, reason);
      }
    });
    this.tell(Op.Hello, 0, hello);
    this.#startTimer = after(settings.startTimeoutMs, () => {
      this.#why ??= startFailure("it did not get ready in time");
      // Not a kill that was wished for: its calls must hear of it.
      void this.#handle.terminate();
    });
  }

  /** Sends a frame now. */
  tell(op: Op, id: number, a?: unknown): void {
    this.transport.send(op, id, a);
    this.transport.flush();
  }

  /** Sends a call. Its arguments leave with the end of the tick. */
  post(call: PoolCall): void {
    const { id, args, inputs, crossing, options, stream } = call;
    const { transport } = this;
    this.calls.set(id, call);
    call.slot = this;
    call.post();
    if (this.#engine.metrics) call.postedMs = now();
    this.setRef(true);
    if (inputs) for (const input of inputs) this.#announce(call, input);
    if (crossing) merge(this.#engine.toWorkers, crossing);
    const flags =
      (call.guarded ? CallFlag.guarded : 0) |
      (options.strict ? CallFlag.strict : 0) |
      (options.onProgress ? CallFlag.progress : 0);
    transport.send(Op.Call, id, (call.record.index << callFlagBits) | flags, args, call.transfer);
    this.count(call);
    if (!stream?.consumer || !call.isStream) return;
    // All that its reader has asked for: of another run, which had some of it, nothing arrived.
    const { items, bytes } = stream.consumer.credit;
    transport.send(Op.Credit, id, items, bytes);
  }

  #announce(call: PoolCall, input: Input): void {
    const { toWorkers, desk } = this.#engine;
    const { strict, window } = call.options;
    const id = this.#engine.nextId();
    const failed = (reason: unknown): void => desk.cancel(call, reason);
    input.connect(id, { transport: this.transport, ledger: toWorkers, strict, failed });
    this.#inputs.set(id, input);
    this.transport.send(Op.Input, call.id, input.argument, [id, window.items, window.bytes]);
  }

  /** Brings the load up to date with whether this call keeps the worker busy now. Returns true when the load fell. */
  count(call: PoolCall): boolean {
    const busy = call.slot === this && (!call.isStream || call.stream?.consumer?.active === true);
    if (busy === call.counted) return false;
    call.counted = busy;
    const sign = busy ? 1 : -1;
    this.load += sign;
    if (call.guarded) this.guarded += sign;
    this.busyUs = this.load === 0 ? 0 : Math.max(0, this.busyUs + sign * (call.record.estimate.meanUs ?? 0));
    return !busy;
  }

  /** The call is over here. */
  remove(call: PoolCall): void {
    this.calls.delete(call.id);
    call.slot = undefined;
    this.count(call);
    if (call.inputs) for (const { id } of call.inputs) this.#inputs.delete(id);
    if (this.#condemned) this.condemn(this.#condemned);
  }

  /** Tells the worker that a call was cancelled. */
  cancel(call: PoolCall, reason: unknown): void {
    // Pairs with the load in `CallContext.cancelled`, for a task that never lets a message in.
    if (this.#cells) Atomics.store(this.#cells, cellOf(call.id, this.#cells), call.id);
    if (reason === undefined) this.tell(Op.Cancel, call.id);
    else void encoded(reason).then((wire) => this.tell(Op.Cancel, call.id, wire));
  }

  /** One round trip; gives the worker's time in milliseconds since the epoch. Rejects when the worker is lost. */
  ping(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#pings.push({ resolve, reject });
      this.setRef(true);
      this.tell(Op.Ping, 0);
    });
  }

  /** Closes its resources, then ends it; if that takes too long, it is ended in any case. */
  close(): void {
    this.setRef(true);
    const closed = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    this.tell(Op.Close, 0);
    this.leaving = within(closed, closeLimitMs).then(() => this.kill(poolClosed()));
  }

  /** Ends the thread at once. `why` is what its calls fail with. */
  kill(why: ClearwayError): Promise<void> {
    this.#why ??= why;
    this.#killed = true;
    // It takes no calls while it falls: what comes back from another that was killed would only come back again.
    this.life.drain(1);
    this.setRef(true);
    const gone = this.#handle.terminate();
    this.leaving ??= gone;
    return gone;
  }

  /** Takes no new calls, and ends as soon as only calls are left that do not stop. Returns whether that is now. */
  condemn(why: ClearwayError): boolean {
    this.#condemned = why;
    this.life.drain(1);
    for (const call of this.calls.values()) if (call.state !== "cancelling") return false;
    void this.kill(why);
    return true;
  }

  /** Whether it keeps the process alive (Node). */
  setRef(on: boolean): void {
    if (on === this.#referenced) return;
    this.#referenced = on;
    this.#handle.setRef(on);
  }

  #receive(message: unknown): void {
    // A module may post messages of its own; they are not ours to read.
    if (!isFrames(message)) return;
    const engine = this.#engine;
    for (let at = 0; at < message.length; at += frameSlots) {
      const op = message[at] as Op;
      const id = message[at + 1] as number;
      const a = message[at + 2];
      const b = message[at + 3];
      switch (op) {
        case Op.Ready:
          clearTimeout(this.#startTimer);
          // One that was ended before it was ready takes no calls.
          if (!this.#killed && this.life.ready()) {
            engine.workerReady(this, a as Parameters<Engine["workerReady"]>[1]);
            this.#openRing();
          }
          break;
        case Op.Credit:
          void this.#inputs.get(id)?.grant(a as number, b as number);
          break;
        case Op.Cancel:
          this.#inputs.get(id)?.leave();
          break;
        case Op.Ending:
          this.#begun = new Set(a as number[]);
          break;
        case Op.Unreadable:
          this.#unreadable("the worker could not read a message");
          break;
        case Op.Closed:
          this.#closed?.();
          break;
        case Op.Ledger:
          if (typeof a === "number") engine.fromWorkers.movedBytes += a;
          else merge(engine.fromWorkers, a as LedgerSide);
          break;
        case Op.Pong:
          this.#pings.shift()?.resolve(a as number);
          if (this.load === 0) this.setRef(false);
          break;
        case Op.Heap:
          this.heapBytes = a as number;
          break;
        default: {
          const call = this.calls.get(id);
          if (call) engine.desk.frame(this, call, op, a, b);
        }
      }
    }
    if (!this.eased || this.#gone) return;
    this.eased = false;
    engine.eased(this);
  }

  // From then on both sides' small frames leave by shared memory. Where that part cannot be loaded, the port goes on.
  #openRing(): void {
    this.#ring?.then(
      ({ openRing }) => {
        if (this.life.state !== "ready") return;
        const lane = openRing(this.#handle, {
          frames: (frames) => this.#receive(frames),
          broken: (error) => this.#unreadable(error.message),
          copied: (bytes) => enterCopy(this.#engine.fromWorkers, "small", bytes),
          expects: () => this.calls.size > 0,
        });
        this.tell(Op.Ring, 0, lane.memory);
        this.#lane = this.transport.lane = lane;
      },
      () => {},
    );
  }

  #unreadable(what: string): void {
    void this.kill(new ClearwayError("message-error", what));
  }

  #error(error: unknown): void {
    this.#uncaught = { error };
    if (this.life.state === "starting") this.#why ??= startFailure(messageOf(error), error);
    // Node's worker exits by itself after this. A browser's may live on after a stray error, but not one that never began.
    if (this.#why) void this.#handle.terminate();
    else this.#engine.settings.onError(error);
  }

  #exited(code: number | undefined): void {
    clearTimeout(this.#startTimer);
    clearTimeout(this.idleTimer);
    // What it had published counts; but it takes no calls any more.
    this.#gone = true;
    this.#lane?.close();
    this.transport.close();
    this.#closed?.();
    if (this.life.state === "starting") this.#why ??= startFailure("it ended before it called expose()");
    const why = this.#why ?? exitFailure(this.#uncaught, code);
    for (const { reject } of this.#pings.splice(0)) reject(why);
    this.#engine.exited(this, why, this.#killed, this.#begun);
  }
}
