// SPDX-License-Identifier: MIT OR Apache-2.0
// `node.ts` and `browser.ts` export what `#meter-host` contains: `kind`, `now()` (monotonic ms), `clockStepMs()` and `observe(options, sink)`.
import type { DetectedStall } from "../detect.js";
import type { ScriptShare, SourceState } from "../report.js";

/** Receives a host's observations. All times are milliseconds on the host's `now()`. */
export interface Sink {
  detected(stall: DetectedStall): void;
  /** Reports that the idle watcher (a thread that only sleeps and ticks) was due at `startMs` but woke only at `endMs`. */
  watcherLate(startMs: number, endMs: number): void;
  /** Reports that the thread was ready to run in this interval, but the machine ran other threads. */
  queued(startMs: number, endMs: number): void;
  garbageCollected(startMs: number, endMs: number): void;
  /** Reports that a single task blocked the thread. The edges of the interval are exact. */
  task(startMs: number, endMs: number): void;
  script(startMs: number, endMs: number, script: ScriptShare): void;
  stack(atMs: number, frames: readonly string[]): void;
  hidden(startMs: number, endMs: number): void;
  /** Reports that a frame of the display began. */
  frame(atMs: number): void;
}

export interface ObserveOptions {
  readonly floorMs: number;
  readonly stacks: boolean;
  readonly beatMs?: number | undefined;
  /**
   * Whether the observation is short. The caller then calls `settle` after `end`. Such an observation may cost more, measure more
   * precisely and report later.
   */
  readonly brief?: boolean;
  /** Whether to count the display's real frames, if there are any. */
  readonly frames: boolean;
}

/** One running observation of the current thread. A thread is blocked while it cannot handle events. */
export interface Observer {
  /** Settles when every source runs or is known to be unavailable. Never rejects. Keeps the process alive until then. */
  ready(): Promise<void>;
  /**
   * The maximum time until all evidence about a moment has arrived, in milliseconds. Evidence is a report that can explain a stall, such as
   * that of a garbage collection.
   */
  readonly settleMs: number;
  sources(): SourceState[];
  /** Reports the page's hidden time up to now, and returns the current time. */
  flushHidden(): number;
  /** Begins a run at the returned time. Earlier observations do not count. */
  begin(): number;
  /**
   * Records that the thread was blocked from `begin()` to the returned time. The run continues.
   *
   * The caller must know that the thread did not return to its loop.
   */
  blocked(): number;
  /**
   * Ends the run at the returned time and reports the stall that was still open.
   *
   * With `blocked`, the caller states that the thread did not return to its loop after `begin()`.
   */
  end(blocked: boolean): number;
  /** Settles when the evidence about all earlier moments has arrived. Never rejects. */
  settle(): Promise<void>;
  /** Stops all sources and discards all data. */
  stop(): void;
}

/** Finds the stalls of a thread. Each runtime has its own implementation. */
export interface ThreadObserver extends Pick<Observer, "begin" | "blocked" | "end" | "stop"> {
  readonly source: SourceState;
}

/** Number of steps that are seen before one is believed. The first is a part of a step. */
const stepsSeen = 3;
/** Number of reads without a step after which the clock counts as standing. They take 2 to 5 ms. */
const readsMax = 50_000;

/** The largest step of a clock with which stalls can be measured, in milliseconds: browsers that hide the time from pages have 16.7 or more. */
export const clockStepMsMax = 5;

/**
 * Returns the step of a clock in milliseconds. Browsers round the clock of a page: to 0.005 in Chromium's isolated pages, to 1 in other
 * pages of Firefox and WebKit. Reads the clock until it has stepped a few times, which blocks the thread for up to three steps. Returns
 * Infinity for a clock that does not step meanwhile.
 */
export function clockStepOf(read: () => number): number {
  let stepMs = Number.POSITIVE_INFINITY;
  let lastMs = read();
  let seen = 0;
  for (let reads = 0; reads < readsMax && seen < stepsSeen; reads++) {
    const atMs = read();
    if (atMs === lastMs) continue;
    if (seen++ > 0) stepMs = Math.min(stepMs, atMs - lastMs);
    lastMs = atMs;
  }
  return stepMs;
}

/** Says why nothing is measured with a clock that has larger steps. */
export const tooCoarse = `this clock steps more than ${clockStepMsMax} ms, so nothing can be measured here`;
