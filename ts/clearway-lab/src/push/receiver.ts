// SPDX-License-Identifier: MIT OR Apache-2.0
// The receiver on the main thread. It records the time of every arrival. `blockRepeatedly` makes its thread busy or stalls it.
import { nowMs } from "#lab-host";
import type { Load, PushEvent } from "./pace.js";

export type ReceiverState = "idle" | "half-busy" | "stalled";

/** How each state blocks the thread: for `blockMs` in every `everyMs`, both in milliseconds. */
const BLOCK_PATTERNS: Record<Exclude<ReceiverState, "idle">, { blockMs: number; everyMs: number }> = {
  "half-busy": { blockMs: 5, everyMs: 10 },
  stalled: { blockMs: 30, everyMs: 300 },
};

/** WebKitGTK's pages have no shared memory. */
export const hasSharedMemory = (): boolean => typeof SharedArrayBuffer !== "undefined";

/** Returns a number for two threads. Without shared memory, a worker that gets it has a copy. */
export const sharedNumber = (): Int32Array =>
  new Int32Array(hasSharedMemory() ? new SharedArrayBuffer(4) : new ArrayBuffer(4));

export class Receiver {
  readonly latencyNs: Float64Array;
  readonly sent: Int32Array;
  readonly done: Promise<void>;
  received = 0;
  outOfOrder = 0;
  backlogMax = 0;
  firstMs = 0;
  lastMs = 0;
  bytes = 0;
  #finish!: () => void;
  #load: Load;
  /** Whether every event has a time of its own. The events of the firehose share the time of its start. */
  readonly #timesEach: boolean;
  #next = 0;

  constructor(load: Load) {
    this.#load = load;
    this.#timesEach = load.perSecond > 0 || load.loop === "closed";
    this.latencyNs = new Float64Array(this.#timesEach ? load.count : 0);
    this.sent = sharedNumber();
    this.done = new Promise((finish) => {
      this.#finish = finish;
    });
  }

  /** Receives an event. It is a bound function, because mechanisms pass it to many kinds of callbacks. */
  readonly receive = (event: PushEvent): void => {
    const now = nowMs();
    if (this.#load.perSecond === 0) {
      const backlog = Atomics.load(this.sent, 0) - this.received;
      if (backlog > this.backlogMax) this.backlogMax = backlog;
      if (this.received === 0) this.firstMs = event.t;
    }
    if (this.#timesEach) this.latencyNs[event.i] = (now - event.t) * 1e6;
    if (event.i !== this.#next) this.outOfOrder++;
    this.#next = event.i + 1;
    this.bytes += event.body?.byteLength ?? 8;
    this.received++;
    if (this.received === this.#load.count) {
      this.lastMs = now;
      this.#finish();
    }
  };
}

/**
 * Blocks the thread again and again, as `state` demands. The returned function stops this. It returns the time by which the
 * blocks exceeded a 60 Hz frame, in milliseconds per second of the run.
 */
export function blockRepeatedly(state: ReceiverState): () => number {
  if (state === "idle") return () => 0;
  const { blockMs, everyMs } = BLOCK_PATTERNS[state];
  const runBegin = nowMs();
  let beyondFrameMs = 0;
  const timer = setInterval(() => {
    const blockBegin = nowMs();
    while (nowMs() - blockBegin < blockMs);
    beyondFrameMs += Math.max(0, nowMs() - blockBegin - 1000 / 60);
  }, everyMs);
  return () => {
    clearInterval(timer);
    return (beyondFrameMs / (nowMs() - runBegin)) * 1000;
  };
}
