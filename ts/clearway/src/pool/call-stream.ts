// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import type { Consumer, ConsumerWire } from "../stream/consumer.js";
import { Op } from "../transport/protocol.js";
import type { CallTracker } from "./call-tracker.js";
import type { Lifecycle } from "./parts.js";
import type { PoolCall } from "./pool-call.js";
import { tellEnded } from "./settle.js";
import type { StreamHandle } from "./stream-handle.js";

// A stream that its reader forgot would hold its worker's generator for ever. When the handle is collected, it is ended.
const forgotten = new FinalizationRegistry<CallStream>((stream) =>
  stream.end(() => new ClearwayError("abandoned", "the stream was dropped before its end")),
);

/** A call's stream as the pool holds it: what reads it, and, weakly, what the caller holds. */
export class CallStream implements ConsumerWire {
  /** What reads it: a part that is there before the first worker is ready. Nothing is granted without. */
  consumer: Consumer | undefined;
  readonly #call: PoolCall;
  readonly #tracker: CallTracker;
  /** Weak: whether the caller still has it is the question. */
  readonly #handle: WeakRef<StreamHandle>;
  /** The first that was told before there was a consumer: the call's end. */
  #untold: ((consumer: Consumer) => void) | undefined;
  /** What its reader asked for before there was a consumer, in order. */
  #asked: (() => void)[] = [];

  constructor(call: PoolCall, tracker: CallTracker, handle: StreamHandle) {
    this.#call = call;
    this.#tracker = tracker;
    this.#handle = new WeakRef(handle);
    forgotten.register(handle, this);
  }

  /** What the caller holds, if it still does. */
  get handle(): StreamHandle | undefined {
    return this.#handle.deref();
  }

  /** Gives it what reads it, if it has not got that. */
  open({ Consumer }: Lifecycle): void {
    if (this.consumer) return;
    this.consumer = new Consumer(this.#call.options.window, this);
    this.#untold?.(this.consumer);
    for (const ask of this.#asked.splice(0)) ask();
  }

  /** Asks when it is opened. */
  later(ask: () => void): void {
    this.#asked.push(ask);
  }

  /** Tells its reader how the call ended, now or when there is one. */
  tell(word: (consumer: Consumer) => void): void {
    if (this.consumer) word(this.consumer);
    else this.#untold ??= word;
  }

  /**
   * Nobody will read it: nothing is asked any more. A call that is no stream goes on; of hundreds that are collected at once
   * none makes an error.
   */
  end(why: () => ClearwayError): void {
    this.#asked = [];
    if (this.#call.isStream) this.#tracker.cancel(this.#call, why());
  }

  grant(items: number, bytes: number): void {
    const { id, worker, state } = this.#call;
    if (worker) {
      worker.transport.send(Op.Credit, id, items, bytes);
      worker.count(this.#call);
      worker.setRef(true);
    } else if (state === "idle") this.#tracker.enqueue(this.#call);
  }

  cancel(): void {
    // It is told when the task's `finally` has run.
    this.#tracker.cancel(this.#call, undefined, tellEnded);
  }
}
