// SPDX-License-Identifier: MIT OR Apache-2.0
import { FastestWay } from "../detect/fastest-way.js";
import { type BeatMessage, beater } from "./browser-beater.js";

/** The number of first beats that establish the fastest transit time of a message. That time is the detector's zero. */
const steadyBeats = 20;
/**
 * The number of steps that wait for the first beat: 2 s in which this thread answers. A time in which the thread is held counts as one
 * step.
 */
const silentSteps = 20;
const silentStepMs = 100;

export interface BeatsEvents {
  /** The first beats have arrived, so the fastest transit time is known. */
  steady(): void;
  /** No beat arrived in 2 s, without an error: some content security policies block a worker this way. Beats may still arrive. */
  silent(): void;
  /** The worker could not be started, or it ended. No more beats will arrive. */
  failed(why: string): void;
  /**
   * A steady beat was answered at `atMs` (this clock).
   *
   * The sender sent it at `sentMs` (its own clock) and had woken `heldMs` late.
   */
  beat(sentMs: number, atMs: number, heldMs: number): void;
}

/** One worker that sends beats, started from a Blob URL. It has its own clock, so another worker's measurements do not apply. */
export class Beats {
  readonly fastest: FastestWay = new FastestWay();
  /** Settles after the first beats, or when no beats will come. Never rejects. */
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
        // A late message of a stopped worker.
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

  /** Ends the worker. Further calls do nothing. */
  stop(): void {
    clearTimeout(this.#silence);
    this.#worker?.terminate();
    this.#worker = undefined;
    URL.revokeObjectURL(this.#url);
    this.#settle();
  }

  /**
   * Waits for the first beat in steps.
   *
   * After the thread was held, the loop handles an expired timer before it handles the waiting messages.
   */
  #listen(steps: number): void {
    this.#silence = setTimeout(() => {
      if (steps > 1) return this.#listen(steps - 1);
      this.#settle();
      this.events.silent();
    }, silentStepMs);
  }
}
