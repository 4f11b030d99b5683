// SPDX-License-Identifier: MIT OR Apache-2.0
import type { FastestWay } from "../detect/fastest-way.js";
import { Beats } from "./browser-beats.js";

/**
 * The time for which a heart continues when it is unused or beats more often than needed, in milliseconds. Starting a heart takes about 10
 * ms and disturbs the next measurement.
 */
const lingerMs = 3_000;
/** After this number of failed workers, no further worker is started, because a content security policy reports each failure. */
const failedMax = 3;

export interface HeartListener {
  /** The longest time between two beats that this listener accepts, in milliseconds. */
  readonly periodMs: number;
  /**
   * Called when another thread starts to send the beats. `fastest` tracks the transit time of that thread's messages. With `undefined`, no
   * beats come until the next call.
   */
  beating(fastest: FastestWay | undefined): void;
  /** See `BeatsEvents.beat`. */
  beat(sentMs: number, atMs: number, heldMs: number): void;
}

/**
 * This thread's only source of beats, which all its observers share. A beat is a message that a worker sends at a fixed interval.
 *
 * The heart beats as often as the listener with the shortest period requires. Another period needs another worker. The new worker takes
 * over when its beats are steady.
 */
class Heart {
  readonly #listeners = new Set<HeartListener>();
  #beats: Beats | undefined;
  #starting: Beats | undefined;
  #why: string | undefined;
  #failed = 0;
  #linger: ReturnType<typeof setTimeout> | undefined;

  /** The reason why there is no heart, or `undefined` while it beats or starts. */
  get why(): string | undefined {
    return this.#why;
  }

  /** Time between two beats, in milliseconds. 0 without a heart. */
  get periodMs(): number {
    return this.#beats?.periodMs ?? 0;
  }

  /** Settles when the first beats have arrived, after 2 s without a beat, or when the worker has failed or was stopped. Never rejects. */
  get ready(): Promise<void> {
    return (this.#starting ?? this.#beats)?.ready ?? Promise.resolve();
  }

  use(listener: HeartListener): void {
    this.#listeners.add(listener);
    if (this.#beats) listener.beating(this.#beats.fastest);
    if (this.#wantedMs() < ((this.#starting ?? this.#beats)?.periodMs ?? Number.POSITIVE_INFINITY)) this.#start();
  }

  leave(listener: HeartListener): void {
    if (!this.#listeners.delete(listener)) return;
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => {
      const newest = this.#starting ?? this.#beats;
      if (this.#listeners.size === 0) this.#stop();
      else if (newest && newest.periodMs < this.#wantedMs()) this.#start();
    }, lingerMs);
  }

  #wantedMs(): number {
    let wantedMs = Number.POSITIVE_INFINITY;
    for (const { periodMs } of this.#listeners) wantedMs = Math.min(wantedMs, periodMs);
    return wantedMs;
  }

  #start(): void {
    this.#starting?.stop();
    this.#starting = undefined;
    if (this.#failed >= failedMax) return;
    const tell = (): void => {
      for (const listener of this.#listeners) listener.beating(this.#beats?.fastest);
    };
    const beats = new Beats(this.#wantedMs(), {
      steady: () => {
        this.#beats?.stop();
        this.#beats = beats;
        this.#starting = undefined;
        this.#why = undefined;
        this.#failed = 0;
        tell();
      },
      silent: () => {
        if (!this.#beats) this.#why = "the watcher worker sent nothing";
      },
      failed: (why) => {
        this.#failed++;
        if (this.#starting === beats) this.#starting = undefined;
        if (this.#beats === beats) this.#beats = undefined;
        if (this.#beats) return;
        this.#why = why;
        tell();
      },
      beat: (sentMs, atMs, heldMs) => {
        for (const listener of this.#listeners) listener.beat(sentMs, atMs, heldMs);
      },
    });
    this.#starting = beats;
    if (!this.#beats && this.#failed === 0) this.#why = undefined;
    beats.start();
  }

  #stop(): void {
    // A worker that never sent a beat counts as failed.
    if (this.#starting && this.#why !== undefined) this.#failed++;
    this.#starting?.stop();
    this.#beats?.stop();
    this.#starting = undefined;
    this.#beats = undefined;
  }
}

export const heart: Heart = new Heart();
