// SPDX-License-Identifier: MIT OR Apache-2.0
import { heapBytes, now } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { decodeError, encodeError, type WireError } from "../error/wire.js";
import type { ParentEndpoint } from "../host/host.js";
import { notCloneable } from "../transfer/refusal.js";
import { PortTransport } from "../transport/port.js";
import { callFlagBits, frameSlots, type HelloSettings, type InputStream, Op } from "../transport/protocol.js";
import { RingLane } from "../transport/ring/ring-lane.js";
import { Answers } from "./answers.js";
import { Inputs } from "./inputs.js";
import { Runner } from "./runner.js";
import { ServedCall } from "./served-call.js";
import type { TaskDefinition } from "./task.js";
import { Vigil } from "./vigil.js";

const heapEveryMs = 100;

/** The worker's side of the wire: reads frames, keeps the table of calls, and hands them to the runner. */
export class Server {
  readonly #transport: PortTransport;
  readonly #answers: Answers;
  readonly #inputs: Inputs;
  readonly #runner: Runner;
  readonly #tasks: readonly TaskDefinition[];
  readonly #calls = new Map<number, ServedCall>();
  readonly #settings: HelloSettings;
  readonly #endpoint: ParentEndpoint;
  #lane: RingLane | undefined;
  #vigil: Vigil | undefined;
  #heapToldMs = 0;

  constructor(endpoint: ParentEndpoint, tasks: readonly TaskDefinition[], settings: HelloSettings) {
    this.#tasks = tasks;
    this.#settings = settings;
    this.#endpoint = endpoint;
    this.#transport = new PortTransport(endpoint, (op, id, a, reason, moved) =>
      this.#refused(op, id, a, reason, moved),
    );
    this.#answers = new Answers(this.#transport);
    this.#inputs = new Inputs(this.#transport);
    this.#runner = new Runner(this.#transport, this.#answers, settings, (call, ms) => this.#settled(call, ms));
    endpoint.onEnding(() => {
      // A result that cannot cross shows so now, and its error leaves with the rest.
      this.#transport.flush();
      // The pool may give what has not begun to another worker.
      this.#runner.ending = true;
      const begun = [...this.#calls.values()].filter((call) => call.begun).map((call) => call.id);
      this.#transport.send(Op.Ending, 0, begun);
      this.#transport.flush();
      // A browser lets the task that closed its worker go on. By port nothing of it would arrive; by the ring it would.
      this.#transport.close();
    });
  }

  /** Says what this module can do. Calls come only after that. */
  ready(names: readonly string[]): void {
    const kinds = names.map((name, at) => [name, this.#tasks[at]!.kind, this.#tasks[at]!.placement]);
    this.#transport.send(Op.Ready, 0, kinds);
    this.#transport.flush();
  }

  /** A message could not be read: the pool must not wait for what was in it. */
  unreadable(): void {
    this.#transport.send(Op.Unreadable, 0);
    this.#transport.flush();
  }

  /** A message came by port. */
  receive(message: readonly unknown[]): void {
    if (this.#lane) this.#lane.receive(message);
    else this.#frames(message);
    // The message may have opened the ring.
    this.#vigil?.watch();
  }

  #frames(frames: readonly unknown[]): void {
    for (let at = 0; at < frames.length; at += frameSlots) {
      this.#frame(frames[at] as Op, frames[at + 1] as number, frames[at + 2], frames[at + 3]);
    }
    this.#work();
  }

  // Does what has come.
  #work(): void {
    this.#runner.pump();
    // What is finished now need not wait for the end of the tick.
    this.#transport.flush();
  }

  #frame(op: Op, id: number, a: unknown, b: unknown): void {
    switch (op) {
      case Op.Call:
        return this.#call(id, a as number, b as unknown[]);
      case Op.Input:
        return this.#inputs.announce(id, a as number, b as InputStream);
      case Op.Cancel:
        return this.#cancel(id, a as WireError | undefined);
      case Op.Credit:
        return this.#calls.get(id)?.grant(a as number, b as number);
      case Op.Chunk:
      case Op.End:
      case Op.Abort:
        return this.#inputs.receive(op, id, a, b as number);
      case Op.Ping:
        return this.#transport.send(Op.Pong, id, now());
      case Op.Close:
        void this.#close();
        return;
      case Op.Ring:
        return this.#open(a as SharedArrayBuffer);
    }
  }

  // From here on the caller's small frames come by the ring, and this side's leave by it.
  #open(memory: SharedArrayBuffer): void {
    // What was sent so far leaves by the port, unnumbered.
    this.#transport.flush();
    const lane = new RingLane(memory, "worker", this.#endpoint, {
      message: (frames) => this.#frames(frames),
      frame: (op, id, a, b) => this.#frame(op, id, a, b),
      drained: () => this.#work(),
      broken: () => this.unreadable(),
      // The caller counts what it is given.
      copied: () => {},
    });
    this.#lane = this.#transport.lane = lane;
    this.#vigil = new Vigil(lane, { busy: () => this.#calls.size > 0 || this.#runner.leases.live > 0 });
  }

  #call(id: number, header: number, args: unknown[]): void {
    const flags = header & ((1 << callFlagBits) - 1);
    const call = new ServedCall(id, this.#tasks[header >> callFlagBits]!, flags, args);
    this.#inputs.attach(call);
    this.#calls.set(id, call);
    this.#runner.add(call);
  }

  #cancel(id: number, wire: WireError | undefined): void {
    const call = this.#calls.get(id);
    if (call === undefined) return this.#inputs.forget(id);
    const reason = wire === undefined ? new ClearwayError("cancelled", "the call was cancelled") : decodeError(wire);
    call.cancel(reason);
    if (this.#runner.withdraw(call)) {
      this.#forget(call);
      this.#answers.failure(id, reason, 0);
    }
  }

  #settled(call: ServedCall, finishedMs: number): void {
    this.#forget(call);
    if (this.#settings.metrics) {
      const offsetMs = performance.timeOrigin;
      this.#transport.send(Op.Times, call.id, offsetMs + call.startedMs, offsetMs + finishedMs);
    }
    if (this.#settings.reportHeap && finishedMs - this.#heapToldMs > heapEveryMs) {
      this.#heapToldMs = finishedMs;
      this.#transport.send(Op.Heap, 0, heapBytes());
    }
  }

  #forget(call: ServedCall): void {
    this.#calls.delete(call.id);
    this.#inputs.end(call);
  }

  async #close(): Promise<void> {
    await this.#runner.leases.shutDown();
    this.#transport.send(Op.Closed, 0);
    this.#transport.flush();
  }

  #refused(op: Op, id: number, a: unknown, reason: unknown, transfer: readonly object[]): void {
    if (op === Op.Progress) {
      // The call goes on; the listener is told in the value's place.
      return this.#transport.send(Op.Progress, id, encodeError(notCloneable("a progress value", reason)), 1);
    }
    if (op !== Op.Result && op !== Op.Chunk) return;
    const error = this.#answers.refused(op, id, a, transfer, reason);
    if (error === undefined) return;
    const call = this.#calls.get(id);
    if (call === undefined) {
      this.#answers.failure(id, error, 0);
    } else {
      // A stream's value: its iterator is closed first, then the stream fails.
      call.refusal = error;
      call.producer?.stop();
    }
  }
}
