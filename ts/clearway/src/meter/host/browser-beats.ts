// SPDX-License-Identifier: MIT OR Apache-2.0
import { FastestWay } from "../detect/fastest-way.js";
import { type BeatMessage, beater } from "./browser-beater.js";

/** So many beats show how fast a message can be; the detector's zero rests on the fastest. */
const steadyBeats = 20;
/** Steps of waiting for the first beat: 2 s in which this thread answers. Time in which it is held is one step. */
const silentSteps = 20;
const silentStepMs = 100;

export interface BeatsEvents {
  /** The first beats have come: how fast a message can be is known. */
  steady(): void;
  /** No beat after 2 s, without an error: some content security policies block a worker so. Beats may still come. */
  silent(): void;
  /** The worker cannot be started, or it ended. No beat comes any more. */
  failed(why: string): void;
  /** A steady beat was sent at `sentMs` (its own clock) and is answered now, `atMs` on ours; `heldMs` is how late it woke. */
  beat(sentMs: number, atMs: number, heldMs: number): void;
}

/** One worker that sends beats, made from a Blob URL. Its clock is its own: nothing learned from another applies to it. */
export class Beats {
  readonly fastest: FastestWay = new FastestWay();
  /** Settles after the first beats, or when there are none. Never rejects. */
  readonly ready: Promise<void>;
  #settle: () => void = () => {};
  #worker: Worker | undefined;
  #url = "";
  #received = 0;
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly periodMs: number,
    private readonly events: BeatsEvents,
  ) {
    this.ready = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  start(): void {
    const { events } = this;
    const fail = (why: string): void => {
      this.stop();
      events.failed(why);
    };
    try {
      const source = `(${beater.toString()})(self, ${this.periodMs});`;
      this.#url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      const worker = new Worker(this.#url);
      this.#worker = worker;
      worker.onmessage = ({ data: [sentMs, dueMs] }: MessageEvent<BeatMessage>) => {
        const atMs = performance.now();
        // Late answers of a worker that was stopped.
        if (this.#worker !== worker) return;
        if (++this.#received > steadyBeats) return events.beat(sentMs, atMs, dueMs === undefined ? 0 : sentMs - dueMs);
        this.fastest.take(atMs - sentMs);
        clearTimeout(this.#silence);
        if (this.#received < steadyBeats) return;
        this.#settle();
        events.steady();
      };
      worker.onerror = (event) => {
        event.preventDefault();
        fail(`the watcher worker failed${event.message ? `: ${event.message}` : " (a content security policy?)"}`);
      };
      this.#listen(silentSteps);
    } catch (error) {
      fail(`no watcher worker: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Ends the worker. Harmless if called twice. */
  stop(): void {
    clearTimeout(this.#silence);
    this.#worker?.terminate();
    this.#worker = undefined;
    URL.revokeObjectURL(this.#url);
    this.#settle();
  }

  /** In steps, because messages that came while the thread was held are handled after a timer that fell due. */
  #listen(steps: number): void {
    this.#silence = setTimeout(() => {
      if (steps > 1) return this.#listen(steps - 1);
      this.#settle();
      this.events.silent();
    }, silentStepMs);
  }
}
