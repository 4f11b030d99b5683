// SPDX-License-Identifier: MIT OR Apache-2.0
import { heapBytes } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { decodeError, type WireError } from "../error/wire.js";
import { clock, now, setTimeout } from "../globals.js";
import type { ParentEndpoint } from "../host/host.js";
import { allCodedAs, type Form } from "../transfer/crossing.js";
import { PortTransport } from "../transport/port.js";
import {
  callFlagBits,
  coded,
  codedSlot,
  frameSlots,
  type HelloSettings,
  type InputStream,
  isFrames,
  isFromCaller,
  isOwnMessage,
  Op,
} from "../transport/protocol.js";
import { Answers } from "./answers.js";
import { type Announced, Runner, ServedCall } from "./runner.js";
import type { TaskDefinition } from "./task.js";
import { WorkerRingPort } from "./worker-ring-port.js";

const heapEveryMs = 100;
// Number of turns of the microtask queue in which a first call may answer before the worker does other work. An `async` function that awaits
// another one takes three turns. All 16 turns take a few microseconds. A call that is still open waits for something else.
const turns = 16;
// Time in milliseconds after which a worker in a browser that has no call takes its lock.
const idleMs = 10;

/** The worker's side of the connection. Reads frames, keeps the table of calls, and passes calls to the runner. */
export class Server {
  readonly #transport: PortTransport;
  readonly #answers: Answers;
  readonly #runner: Runner;
  readonly #names: readonly string[];
  readonly #tasks: readonly TaskDefinition[];
  readonly #calls = new Map<number, ServedCall>();
  readonly #settings: HelloSettings;
  readonly #endpoint: ParentEndpoint;
  /** Announced streams whose call has not arrived, by the id of the call. */
  readonly #announced = new Map<number, Announced[]>();
  /** The budgets of calls that have not arrived, by the id of the call. */
  readonly #budgets = new Map<number, number | false>();
  #ring: WorkerRingPort | undefined;
  /** How far the worker is with its first call: one has arrived, it is answered or waits for something. */
  #stage: "new" | "called" | "answering" | "settled" = "new";
  #heapSentMs = 0;

  constructor(
    endpoint: ParentEndpoint,
    names: readonly string[],
    tasks: readonly TaskDefinition[],
    settings: HelloSettings,
  ) {
    this.#names = names;
    this.#tasks = tasks;
    this.#settings = settings;
    this.#endpoint = endpoint;
    this.#transport = new PortTransport(endpoint, (op, id, a, reason, moved, b) =>
      this.#refused(op, id, a, reason, moved, b),
    );
    this.#answers = new Answers(this.#transport);
    this.#runner = new Runner(this.#transport, this.#answers, settings, (call, ms) => this.#settled(call, ms));
    if (!hasProcesses) setTimeout(() => this.#settle(), idleMs);
  }

  /** Sends the waiting results and the ids of the calls that have begun, because the worker is about to end. */
  ending(): void {
    // A flush finds the results that cannot be sent. Their errors are then sent instead.
    this.#transport.flush();
    // The pool may give calls that have not begun to another worker.
    this.#runner.ending = true;
    const begun = [...this.#calls.values()].filter((call) => call.begun).map((call) => call.id);
    this.#transport.send(Op.Ending, 0, [...begun, ...this.#answers.failing]);
    this.#transport.flush();
    // In a browser, a task that has closed its worker continues to run. Its frames would then arrive through the ring, but not through the
    // port.
    this.#transport.close();
  }

  /** Reports that the copy of a task's result took long. */
  slow(task: string, ms: number): void {
    this.#transport.send(Op.Slow, 0, task, ms);
  }

  /** Reports a message that could not be deserialized. The pool must not wait for the calls in it. */
  unreadable(): void {
    this.#ring?.lost();
    this.#transport.post(Op.Unreadable, 0);
  }

  /** Handles a message of the thread that started this worker. Ignores one that is not of the protocol. */
  readonly onMessage = (message: unknown): void => {
    if (isFrames(message)) this.receive(message);
  };

  /** Handles a message of the port. */
  receive(message: readonly unknown[]): void {
    if (this.#ring) this.#ring.receive(message);
    else this.#frames(message);
    // The message may have opened the ring.
    this.#ring?.watch();
  }

  #frames(frames: readonly unknown[]): void {
    if (isOwnMessage(frames)) return;
    for (let at = 0; at < frames.length; at += frameSlots) {
      this.#frame(frames[at] as Op, frames[at + 1] as number, frames[at + 2], frames[at + 3]);
    }
    this.#work();
  }

  // Runs the calls that have arrived.
  #work(): void {
    this.#runner.pump();
    // Sends results that are ready now. Ready results need not wait for the end of the tick.
    this.#transport.flush();
    if (this.#stage !== "called") return;
    this.#stage = "answering";
    void this.#afterFirstAnswer();
  }

  async #afterFirstAnswer(): Promise<void> {
    for (let turn = 0; turn < turns && this.#calls.size > 0; turn++) await undefined;
    this.#settle();
  }

  // Does what no first call needs: a lock takes 1.5 ms in a browser, and the pool makes the ring.
  #settle(): void {
    if (this.#stage === "settled") return;
    this.#stage = "settled";
    // The answer may still wait for the end of the tick.
    this.#transport.flush();
    // In browsers, the pool notices a worker's death when this lock is released.
    this.#endpoint.holdLifeline(this.#settings.lifeline);
    if (!this.#settings.ring) return;
    this.#transport.send(Op.Ring, 0);
    this.#transport.flush();
  }

  #frame(op: Op, id: number, a: unknown, b: unknown): void {
    // Ends this worker: what the caller has sent cannot be known.
    if (!isFromCaller(op, id, a, b))
      throw new ClearwayError("protocol", "the pool sent a message that is not of this protocol");
    switch (op as number) {
      case Op.Call | coded: {
        const [args, forms] = b as [unknown[], Form[]];
        return this.#call(id, a as number | string, [...allCodedAs(forms, args)]);
      }
      case Op.Chunk | coded:
        return this.#frame(Op.Chunk, id, codedSlot(a), b);
      case Op.Call:
        return this.#call(id, a as number | string, b as unknown[]);
      case Op.Input:
        return this.#announce(id, a as number, b as InputStream);
      case Op.Cancel:
        return this.#cancel(id, a as WireError | undefined);
      case Op.Credit:
        return this.#calls.get(id)?.grant(a as number, b as number);
      case Op.Progress:
        return this.#calls.get(id)?.progress?.read(a as number);
      case Op.Pace:
        if (id === 0) this.#answers.nodesPerMs = b as number;
        else this.#budgets.set(id, a as number | false);
        return;
      case Op.Chunk:
        this.#runner.inputs.of(id)?.arrived(a, b as number);
        return;
      case Op.End:
        return this.#runner.inputs.of(id)?.ended(a);
      case Op.Abort:
        return this.#runner.inputs.of(id)?.failed(decodeError(a as WireError));
      case Op.Ping:
        return this.#transport.send(Op.Pong, id, now());
      case Op.Close:
        void this.#close();
        return;
      case Op.Ring:
        return this.#open(a as SharedArrayBuffer);
      case Op.Roll:
        return this.#transport.post(Op.Roll, 0, [...this.#calls.keys(), ...this.#answers.failing]);
    }
  }

  // Opens the ring. From now on, both sides send small frames through it.
  #open(memory: SharedArrayBuffer): void {
    // Frames that were sent before are posted through the port, without a number.
    this.#transport.flush();
    // This worker has not offered to take a ring, so the other side is not a Clearway pool.
    if (!this.#settings.ring || this.#stage !== "settled") return this.#transport.post(Op.Broken, 0);
    this.#ring = this.#transport.ring = new WorkerRingPort(memory, this.#endpoint, {
      message: (frames) => this.#frames(frames),
      frame: (op, id, a, b) => this.#frame(op, id, a, b),
      drained: () => this.#work(),
      broken: () => this.#transport.post(Op.Broken, 0),
      // The caller counts the bytes that it receives.
      copied: () => {},
      busy: () => this.#calls.size > 0 || this.#runner.leases.live > 0,
    });
  }

  #announce(callId: number, argument: number, stream: InputStream): void {
    const list = this.#announced.get(callId);
    if (list === undefined) this.#announced.set(callId, [[argument, stream]]);
    else list.push([argument, stream]);
  }

  #call(id: number, header: number | string, args: unknown[]): void {
    const early = typeof header === "string";
    const flags = early ? 0 : header & ((1 << callFlagBits) - 1);
    const index = early ? this.#names.indexOf(header) : header >> callFlagBits;
    const definition = this.#tasks[index];
    const budgetMs = this.#budgets.get(id) ?? this.#settings.slices;
    this.#budgets.delete(id);
    // Ignores an early call (sent before this worker was ready) of a task that is not a function. The caller sends the call again.
    if (definition === undefined || (early && definition.kind !== "function")) return;
    const name = this.#names[index]!;
    this.#endpoint.called?.(id, name);
    const call = new ServedCall(id, name, definition, flags, args);
    if (budgetMs !== undefined) call.budgetMs = budgetMs === false ? Number.POSITIVE_INFINITY : budgetMs;
    if (this.#announced.size > 0) {
      call.announced = this.#announced.get(id);
      this.#announced.delete(id);
    }
    this.#take(call);
  }

  #take(call: ServedCall): void {
    if (this.#stage === "new") this.#stage = "called";
    this.#calls.set(call.id, call);
    this.#runner.add(call);
  }

  #cancel(id: number, wire: WireError | undefined): void {
    const call = this.#calls.get(id);
    if (call === undefined) return void this.#announced.delete(id);
    if (this.#runner.withdraw(call)) {
      this.#forget(call);
      if (wire === undefined) this.#answers.failure(id, cancelled(), 0);
      else this.#transport.send(Op.Failure, id, wire, 0);
    } else if (wire === undefined) call.cancel(cancelled());
    else call.cancel(decodeError(wire));
  }

  #settled(call: ServedCall, finishedMs: number): void {
    this.#forget(call);
    if (this.#settings.metrics) {
      const offsetMs = now() - clock();
      this.#transport.send(Op.Times, call.id, offsetMs + call.startedMs, offsetMs + finishedMs);
    }
    if (this.#settings.reportHeap && finishedMs - this.#heapSentMs > heapEveryMs) {
      this.#heapSentMs = finishedMs;
      this.#transport.send(Op.Heap, 0, heapBytes());
    }
  }

  #forget(call: ServedCall): void {
    this.#calls.delete(call.id);
    this.#runner.inputs.end(call);
  }

  async #close(): Promise<void> {
    await this.#runner.leases.shutDown();
    await this.#endpoint.printed();
    this.#transport.send(Op.Closed, 0);
    this.#transport.flush();
  }

  #refused(op: Op, id: number, a: unknown, reason: unknown, transfer: readonly object[], b: unknown): void {
    // The call continues. Its listener receives an error instead of the value.
    if (op === Op.Progress) return this.#answers.progressRefused(id, reason, b as number);
    const bare = op & ~coded;
    if (bare !== Op.Result && bare !== Op.Chunk) return;
    const input = this.#runner.inputs.of(id);
    if (input !== undefined) return input.refused?.(a, reason);
    const error = this.#answers.refused(op, id, a, transfer, reason, b);
    if (error === undefined) return;
    const call = this.#calls.get(id);
    if (call === undefined) {
      this.#answers.failure(id, error, 0);
    } else {
      // The refused value was a value of the call's stream.
      call.refusal = error;
      call.producer?.refuse(error);
    }
  }
}

function cancelled(): ClearwayError {
  return new ClearwayError("cancelled", "the call was cancelled");
}
