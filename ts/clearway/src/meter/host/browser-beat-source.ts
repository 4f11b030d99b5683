// SPDX-License-Identifier: MIT OR Apache-2.0
import { clearTimeout, OwnPromise, setTimeout, type Timer } from "../../globals.js";
import type { FastestTransit } from "../detect.js";
import { BeatWorker } from "./browser-beat-worker.js";

/**
 * The time for which a worker continues when it has no listener or beats more often than needed, in milliseconds. Starting a worker takes
 * about 10 ms and disturbs the next measurement.
 */
const lingerMs = 3_000;
/** After this number of failed workers, no further worker is started, because a content security policy reports each failure. */
const failedMax = 3;

export interface BeatListener {
  /** The longest time between two beats that this listener accepts, in milliseconds. */
  readonly periodMs: number;
  /**
   * Called when another thread starts to send the beats. `fastest` tracks the transit time of that thread's messages. With `undefined`, no
   * beats come until the next call.
   */
  sourceChanged(fastest: FastestTransit | undefined): void;
  /** See `BeatWorkerEvents.beat`. */
  beat(sentMs: number, atMs: number, wokeLateMs: number): void;
}

/**
 * This thread's only source of beats. All observers of the thread share it. A beat is a message that a worker sends at a fixed interval.
 *
 * The worker beats as often as the listener with the shortest period requires. Another period needs another worker. The new worker takes
 * over when its beats are steady.
 */
class BeatSource {
  readonly #listeners = new Set<BeatListener>();
  #current: BeatWorker | undefined;
  #starting: BeatWorker | undefined;
  #why: string | undefined;
  #failed = 0;
  #linger: Timer | undefined;

  /** The reason why no worker sends beats, or `undefined` while one sends them or starts. */
  get why(): string | undefined {
    return this.#why;
  }

  /** Time between two beats, in milliseconds. 0 if no worker sends beats. */
  get periodMs(): number {
    return this.#current?.periodMs ?? 0;
  }

  /** Settles when the first beats have arrived, after 2 s without a beat, or when the worker has failed or was stopped. Never rejects. */
  get ready(): Promise<void> {
    return (this.#starting ?? this.#current)?.ready ?? OwnPromise.resolve();
  }

  addListener(listener: BeatListener): void {
    this.#listeners.add(listener);
    if (this.#current) listener.sourceChanged(this.#current.fastest);
    if (this.#shortestPeriodMs() < ((this.#starting ?? this.#current)?.periodMs ?? Number.POSITIVE_INFINITY))
      this.#start();
  }

  removeListener(listener: BeatListener): void {
    if (!this.#listeners.delete(listener)) return;
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => {
      const newest = this.#starting ?? this.#current;
      if (this.#listeners.size === 0) this.#stop();
      else if (newest && newest.periodMs < this.#shortestPeriodMs()) this.#start();
    }, lingerMs);
  }

  #shortestPeriodMs(): number {
    let shortestMs = Number.POSITIVE_INFINITY;
    for (const { periodMs } of this.#listeners) shortestMs = Math.min(shortestMs, periodMs);
    return shortestMs;
  }

  #start(): void {
    this.#starting?.stop();
    this.#starting = undefined;
    if (this.#failed >= failedMax) return;
    const notify = (): void => {
      for (const listener of this.#listeners) listener.sourceChanged(this.#current?.fastest);
    };
    const worker = new BeatWorker(this.#shortestPeriodMs(), {
      steady: () => {
        this.#current?.stop();
        this.#current = worker;
        this.#starting = undefined;
        this.#why = undefined;
        this.#failed = 0;
        notify();
      },
      silent: () => {
        if (!this.#current) this.#why = "the watcher worker sent nothing";
      },
      failed: (why) => {
        this.#failed++;
        if (this.#starting === worker) this.#starting = undefined;
        if (this.#current === worker) this.#current = undefined;
        if (this.#current) return;
        this.#why = why;
        notify();
      },
      beat: (sentMs, atMs, wokeLateMs) => {
        for (const listener of this.#listeners) listener.beat(sentMs, atMs, wokeLateMs);
      },
    });
    this.#starting = worker;
    if (!this.#current && this.#failed === 0) this.#why = undefined;
    worker.start();
  }

  #stop(): void {
    // A worker that never sent a beat counts as failed.
    if (this.#starting && this.#why !== undefined) this.#failed++;
    this.#starting?.stop();
    this.#current?.stop();
    this.#starting = undefined;
    this.#current = undefined;
  }
}

export const beatSource: BeatSource = new BeatSource();
