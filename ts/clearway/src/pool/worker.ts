// SPDX-License-Identifier: MIT OR Apache-2.0
import { adopt, now, spawn } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { messageOf } from "../error/message-of.js";
import type { WorkerEvents, WorkerHandle, WorkerLike } from "../host/host.js";
import { after, type Timer } from "../lazy/timer.js";
import { type LedgerSide, merge } from "../transfer/ledger.js";
import { PortTransport } from "../transport/port.js";
import { callFlagBits, frameSlots, isFrames, Op } from "../transport/protocol.js";
import type { CallerLane } from "../transport/ring/open-ring.js";
import { CallTable } from "./call-table.js";
import type { Engine } from "./engine.js";
import { helloOf } from "./hello.js";
import type { Input } from "./input.js";
import type { Tasks } from "./lifecycle/lifecycle.js";
import { type Lifecycle, loadLifecycle } from "./parts.js";
import type { PoolCall } from "./pool-call.js";
import { partMissing, startFailure } from "./worker-failure.js";
import { WorkerLife } from "./worker-life.js";
import { WorkerLoad } from "./worker-load.js";

/** Where a pool's workers come from: a module's URL, or a factory that a bundler understands. */
export type WorkerSource = URL | string | (() => WorkerLike);

/** One worker of a pool and the calls that are with it. What befalls it once it was ready is in `lifecycle/`. */
export class PoolWorker extends WorkerLoad {
  readonly life = new WorkerLife();
  readonly calls = new CallTable<PoolCall>();
  readonly handle: WorkerHandle;
  readonly transport: PortTransport;
  lane: CallerLane | undefined;
  readonly cells: Int32Array | undefined;
  readonly inputs = new Map<number, Input>();
  /** Round trips under way. */
  pings: { resolve(remoteTimeMs: number): void; reject(why: unknown): void }[] = [];
  /** Why it is ended, or would be. */
  why: ClearwayError | undefined;
  uncaught: { error: unknown } | undefined;
  killed = false;
  /** Which calls had begun, where it could still say so. */
  begun: ReadonlySet<number> | undefined;
  /** Told when its resources are closed, and when a call has left it. */
  closed: (() => void) | undefined;
  removed: (() => void) | undefined;
  /** Settles when it is gone, once it has to go. */
  leaving: Promise<void> | undefined;
  readonly startTimer: Timer;
  #referenced = true;
  #gone = false;

  constructor(
    readonly index: number,
    source: WorkerSource,
    readonly engine: Engine,
  ) {
    super();
    const { settings } = engine;
    const name = `${settings.name}-${index}`;
    const hello = helloOf(settings, name);
    this.cells = hello.cancelCells;
    const events: WorkerEvents = {
      message: (message) => (this.lane ? this.lane.receive(message) : this.receive(message)),
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
      engine.lifecycle?.refused(this, op, id, a, why),
    );
    // Leaves with the end of the tick, and with it the first call, if there is one by then.
    if (!this.handle.greeted) this.transport.send(Op.Hello, 0, hello);
    this.startTimer = after(settings.startTimeoutMs, () => this.#fail(startFailure("it was not ready in time")));
  }

  /** Sends a frame now. */
  tell(op: Op, id: number, a?: unknown): void {
    this.transport.send(op, id, a);
    this.transport.flush();
  }

  /** Sends a call. Its arguments leave with the end of the tick. */
  post(call: PoolCall): void {
    const { id, args, inputs, crossing, stream } = call;
    const { engine, transport } = this;
    this.calls.set(id, call);
    call.worker = this;
    call.post();
    if (engine.settings.metrics) call.postedMs = now();
    this.setRef(true);
    if (inputs) for (const input of inputs) engine.lifecycle?.announce(this, call, input);
    if (crossing) merge(engine.toWorkers, crossing);
    const { index, name } = call.record;
    transport.send(Op.Call, id, index < 0 ? name : (index << callFlagBits) | call.flags, args, call.transfer);
    this.count(call);
    if (!stream?.consumer || !call.isStream) return;
    // All that its reader has asked for: of another run, which had some of it, nothing arrived.
    const { items, bytes } = stream.consumer.credit;
    transport.send(Op.Credit, id, items, bytes);
  }

  /** The call is over here. */
  remove(call: PoolCall): void {
    this.calls.delete(call.id);
    call.worker = undefined;
    this.count(call);
    if (call.inputs) for (const { id } of call.inputs) this.inputs.delete(id);
    this.removed?.();
  }

  /** Ends the thread at once. `why` is what its calls fail with. */
  kill(why: ClearwayError): Promise<void> {
    this.why ??= why;
    this.killed = true;
    // It takes no calls while it falls: what comes back from another that was killed would only come back again.
    this.life.drain(1);
    this.setRef(true);
    const gone = this.handle.terminate();
    this.leaving ??= gone;
    return gone;
  }

  /** It sent, or was sent, what cannot be read. */
  unreadable(sure = true): void {
    const why = new ClearwayError("message-error", "a message could not be read");
    if (this.life.state === "starting") void this.kill(why);
    else this.engine.lifecycle?.unreadable(this, why, sure);
  }

  /** Whether it keeps the process alive (Node). */
  setRef(on: boolean): void {
    if (on === this.#referenced) return;
    this.#referenced = on;
    this.handle.setRef(on);
  }

  /** Reads a message of its worker. */
  receive(message: unknown): void {
    // A module may post messages of its own; they are not ours to read.
    if (!isFrames(message)) return;
    for (let at = 0; at < message.length; at += frameSlots) {
      this.frame(message[at] as Op, message[at + 1] as number, message[at + 2], message[at + 3]);
    }
    this.told();
  }

  /** Reads one frame of a message, or of the ring; `told()` follows the last one. */
  frame(op: Op, id: number, a: unknown, b: unknown): void {
    const { engine } = this;
    if (op === Op.Result) {
      const call = this.calls.get(id);
      if (call) engine.tracker.result(this, call, a, b as number);
    } else if (op === Op.Ledger) {
      if (typeof a === "number") engine.fromWorkers.movedBytes += a;
      else merge(engine.fromWorkers, a as LedgerSide);
    } else if (op === Op.Ready) this.#ready(a as Tasks);
    else if (op === Op.Unreadable) this.unreadable();
    else engine.lifecycle?.frame(this, op, id, a, b);
  }

  /** All that came together was read. */
  told(): void {
    if (!this.loadDropped || this.#gone) return;
    this.loadDropped = false;
    this.engine.loadDropped(this);
  }

  // Its module is loaded; it counts as ready when what looks after it is, too. Where that is there, at once: what comes
  // behind this message may be the end of a worker that its first call has ended.
  #ready(tasks: Tasks): void {
    const begin = (loaded: Lifecycle): void => {
      // What the pool asked for first may have failed.
      this.engine.lifecycle = loaded;
      loaded.ready(this, tasks);
    };
    const { lifecycle } = this.engine;
    if (lifecycle) begin(lifecycle);
    else loadLifecycle().then(begin, (cause) => this.#fail(partMissing(cause)));
  }

  // Not a kill that was wished for: those who wait for it must hear of it.
  #fail(why: ClearwayError): void {
    this.why ??= why;
    void this.handle.terminate();
  }

  #error(error: unknown): void {
    this.uncaught = { error };
    if (this.life.state === "starting") this.why ??= startFailure(messageOf(error), error);
    // Node's worker is at its end. A browser's may live on after a stray error, but not one that never began.
    if (this.why) void this.handle.terminate();
    else this.engine.lifecycle?.uncaught(this, error);
  }

  #exited(code: number | undefined): void {
    clearTimeout(this.startTimer);
    clearTimeout(this.idleTimer);
    // What it had published counts; but it takes no calls any more.
    this.#gone = true;
    this.lane?.close();
    this.transport.close();
    if (this.life.state === "starting") this.engine.neverReady(this, this.why);
    else this.engine.lifecycle?.exited(this, code);
  }
}
