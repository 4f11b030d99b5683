// SPDX-License-Identifier: MIT OR Apache-2.0
import { FastestTransit } from "../detect/fastest-transit.js";
import { type BeatMessage, beater } from "./browser-beater.js";

/**
 * The meter finds the fastest transit time of a message from this many first beats. A beat is a message that a worker sends at a fixed
 * interval. The detector uses the fastest transit time as its zero.
 */
const steadyBeats = 20;
/**
 * The number of steps for which `BeatWorker` waits for the first beat: 2 s if the thread can answer. A time in which the thread is
 * blocked counts as one step.
 */
const silentSteps = 20;
const silentStepMs = 100;

export interface BeatWorkerEvents {
  /** Called when the first beats have arrived. The fastest transit time is then known. */
  steady(): void;
  /** Called if neither a beat nor an error arrives in 2 s. Some security policies block a worker this way. Beats may still arrive. */
  silent(): void;
  /** Called if the worker cannot start, or has ended. No more beats will arrive. */
  failed(why: string): void;
  /**
   * Called when this thread has answered a beat after the first ones, at `atMs` (this clock).
   *
   * The sender sent the beat at `sentMs` (its own clock) and had woken `wokeLateMs` late.
   */
  beat(sentMs: number, atMs: number, wokeLateMs: number): void;
}

/**
 * A worker that sends beats, started from a Blob URL. Each worker has its own clock, so measurements of one worker do not apply to another.
 */
export class BeatWorker {
  readonly fastest: FastestTransit = new FastestTransit();
  /** Settles when the first beats have arrived, after 2 s without a beat, or when the worker has failed or was stopped. Never rejects. */
  readonly ready: Promise<void>;
  #settle: () => void = () => {};
  #worker: Worker | undefined;
  #url = "";
  #received = 0;
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly periodMs: number,
    private readonly events: BeatWorkerEvents,
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
        // The worker has been stopped, and this is a late message.
        if (this.#worker !== worker) return;
        if (++this.#received > steadyBeats) return events.beat(sentMs, atMs, dueMs === undefined ? 0 : sentMs - dueMs);
        this.fastest.add(atMs - sentMs);
        clearTimeout(this.#silence);
        if (this.#received < steadyBeats) return;
        this.#settle();
        events.steady();
      };
      worker.onerror = (event) => {
        event.preventDefault();
        fail(`the watcher worker failed${event.message ? `: ${event.message}` : " (a content security policy?)"}`);
      };
      this.#awaitFirstBeat(silentSteps);
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
   * Waits for the first beat, in steps.
   *
   * A single timer could expire while the thread is blocked. The loop would then handle that timer before the beats that wait.
   */
  #awaitFirstBeat(steps: number): void {
    this.#silence = setTimeout(() => {
      if (steps > 1) return this.#awaitFirstBeat(steps - 1);
      this.#settle();
      this.events.silent();
    }, silentStepMs);
  }
}
