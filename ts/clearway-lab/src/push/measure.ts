// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs one push measurement. Warms the mechanism up, runs the load once, checks the count and the order, and calculates the figures.
import { nowMs } from "#lab-host";
import { type Measured, type Mechanism, numberParam, textParam, WARM_UP_CUT } from "../protocol/measured.js";
import { warmUp } from "../statistics/warm-up.js";
import { emit, type Load, type PushEvent } from "./pace.js";

/**
 * An open connection from a sender to the receiver. `run` resolves when all events have been sent. The receiver may get the last
 * events later.
 */
export interface PushConnection {
  run(load: Load, receiver: Receiver): Promise<void>;
  close(): Promise<void>;
}

// The warm-up sends events without pauses, so that the optimiser soon sees enough. At 1000 events per second it would take a second.
const WARM_UP = { count: 20, perSecond: 0 };
const WARM_UP_WINDOW_MS = 10;
// This load gives the garbage collector time to clean up after the warm-up, before the first measured events.
const SETTLE = { count: 50, perSecond: 2000 };

/** Time after which events count as lost, in milliseconds. No load has such a lag, even on a busy machine. A loss ends the measurement. */
const LOST_AFTER_MS = 20_000;

export function pushMechanism(open: () => Promise<PushConnection>): Mechanism {
  return async ({ params }) => {
    const load: Load = {
      count: numberParam(params, "count"),
      perSecond: numberParam(params, "perSecond"),
      payloadBytes: numberParam(params, "payloadBytes"),
      ...(params["loop"] === "closed" && { loop: "closed" as const }),
    };
    const connection = await open();
    try {
      const warmUpRun = () => runOnce(connection, { ...WARM_UP, payloadBytes: load.payloadBytes }, "idle");
      const { warm, ms } = await warmUp(warmUpRun, numberParam(params, "warmUpMs"), nowMs, WARM_UP_WINDOW_MS);
      await runOnce(connection, { ...SETTLE, payloadBytes: load.payloadBytes }, "idle");
      const measured = await runOnce(connection, load, textParam(params, "receiver") as ReceiverState);
      return warm
        ? measured
        : { ...measured, values: { ...measured.values, [WARM_UP_CUT]: { unit: "ms", value: ms } } };
    } finally {
      await connection.close();
    }
  };
}

async function runOnce(connection: PushConnection, load: Load, state: ReceiverState): Promise<Measured> {
  const receiver = new Receiver(load);
  const stopBlocking = blockRepeatedly(state);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const lost = new Promise<never>((_, fail) => {
    timer = setTimeout(
      () => fail(new Error(`events were lost: received=${receiver.received} of ${load.count}`)),
      LOST_AFTER_MS + (load.perSecond === 0 ? 0 : (load.count / load.perSecond) * 1000),
    );
  });
  const sending = connection.run(load, receiver);
  await Promise.race([Promise.all([sending, receiver.done]), lost]).finally(() => clearTimeout(timer));
  const hitchRatio = stopBlocking();
  const result = { received: receiver.received, outOfOrder: receiver.outOfOrder };
  if (load.perSecond === 0) {
    const seconds = (receiver.lastMs - receiver.firstMs) / 1000;
    return {
      samples: load.loop === "closed" ? { latency: { unit: "us", ns: receiver.latencyNs } } : {},
      values: {
        throughput: { unit: "events/s", value: load.count / seconds },
        // Without shared memory, a sender in another thread does not tell how many events it has sent.
        ...(hasSharedMemory() && { backlogMax: { unit: "events", value: receiver.backlogMax } }),
      },
      result,
    };
  }
  return {
    samples: { latency: { unit: "us", ns: receiver.latencyNs } },
    values: state === "idle" ? {} : { receiverHitchRatio: { unit: "ms/s", value: hitchRatio } },
    result,
  };
}

export type Send = (event: PushEvent) => void;

/** Makes a mechanism from a function that opens a sender. Each run opens a new sender and closes it with `end`. */
export function senderMechanism(open: (receiver: Receiver) => { send: Send; end?: () => void }): Mechanism {
  return pushMechanism(async () => ({
    run: async (load, receiver) => {
      const { send, end } = open(receiver);
      await emit(load, receiver.sent, send);
      await receiver.done;
      end?.();
    },
    close: async () => {},
  }));
}

// The receiver on the main thread. It records the time of every arrival. `blockRepeatedly` makes its thread busy or stalls it.

type ReceiverState = "idle" | "half-busy" | "stalled";

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
function blockRepeatedly(state: ReceiverState): () => number {
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
