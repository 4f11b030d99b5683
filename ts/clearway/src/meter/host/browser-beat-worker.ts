// SPDX-License-Identifier: MIT OR Apache-2.0
import { FastestTransit } from "../detect.js";

/**
 * A beat: `[sent]`, or `[sent, due]` if the beater woke late and was due at `due`. Both are milliseconds on the beater's own clock.
 * An array of numbers costs less to clone than an object. By default, the beater sends 500 beats per second.
 */
type BeatMessage = readonly [sentMs: number] | readonly [sentMs: number, dueMs: number];

/**
 * Runs in the beater's thread and sends a beat every `periodMs`. The thread is otherwise idle, so a late beat shows that it got no core.
 *
 * The page's own timers are unsuitable. To save wake-ups, Chromium delays them by up to 8 ms just before the tasks that cause stalls. A
 * worker's timers are clamped to 4 ms, but `Atomics.wait` is not. A WebAssembly memory provides the shared memory without cross-origin
 * isolation.
 *
 * The function runs from its own source text in another thread, so it must not use anything from outside. Its inner functions are
 * methods, because bundlers that keep names wrap other named functions in a helper. That thread would not have the helper.
 */
function beater(scope: { postMessage(message: unknown): void }, periodMs: number): void {
  // In milliseconds. The rounding of timers does not explain a longer delay. An undisturbed wait of 1 ms took 1.06 to 1.15 ms.
  const lateMsMin = 0.3;
  let dueMs = 0;
  const sender = {
    sendBeat(): void {
      const sentMs = performance.now();
      const wantedMs = dueMs;
      // Sets the next due time first. If this thread then loses its core, the next beat is late.
      dueMs = sentMs + waitMs;
      scope.postMessage(sentMs - wantedMs > lateMsMin ? [sentMs, wantedMs] : [sentMs]);
    },
    sharedCell(): Int32Array<ArrayBufferLike> | undefined {
      try {
        const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
        const cell = new Int32Array(memory.buffer);
        Atomics.wait(cell, 0, 0, 0);
        return cell;
      } catch {
        // This browser lacks shared memory or waiting. Timers send the beats instead, less precisely.
        return undefined;
      }
    },
    tick(): void {
      sender.sendBeat();
      sender.schedule();
    },
    schedule(): void {
      setTimeout(() => sender.tick(), waitMs);
    },
  };
  const cell = sender.sharedCell();
  const waitMs = cell ? periodMs : Math.max(4, periodMs);
  dueMs = performance.now() + waitMs;
  if (!cell) return sender.schedule();
  for (;;) {
    Atomics.wait(cell, 0, 0, waitMs);
    sender.sendBeat();
  }
}

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

interface BeatWorkerEvents {
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
