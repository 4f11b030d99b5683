// SPDX-License-Identifier: MIT OR Apache-2.0
// What `#meter-host` gives, in `node.ts` and in `browser.ts`: `kind`, `now()` (monotonic ms) and `observe(options, sink)`.
import type { Found } from "../detect/turns.js";
import type { SourceState } from "../report.js";
import type { ScriptShare } from "../stall.js";

/** Where a host puts what it observes. All times in milliseconds on the host's `now()`. */
export interface Sink {
  found(stall: Found): void;
  /** The idle watcher was not woken between these moments although it should have been. */
  watcherHeld(startMs: number, endMs: number): void;
  /** The thread was ready to run between these moments, and the machine ran others. */
  queued(startMs: number, endMs: number): void;
  garbageCollected(startMs: number, endMs: number): void;
  /** A single task that held the thread, with exact edges. */
  task(startMs: number, endMs: number): void;
  script(startMs: number, endMs: number, script: ScriptShare): void;
  stack(atMs: number, frames: readonly string[]): void;
  hidden(startMs: number, endMs: number): void;
  /** A frame of the display began. */
  frame(atMs: number): void;
}

export interface ObserveOptions {
  readonly floorMs: number;
  readonly stacks: boolean;
  readonly beatMs?: number | undefined;
  /** The observation will not last and is settled after its end: it may cost more, see more finely, and tell later. */
  readonly brief?: boolean;
  /** Count the display's real frames, where there are some. */
  readonly frames: boolean;
}

/** One running observation of the current thread. */
export interface Observer {
  /** Settles when every source is running, or is known to be unavailable. Never rejects. Keeps the process until then. */
  ready(): Promise<void>;
  /** How long evidence about a moment may take to arrive. */
  readonly settleMs: number;
  sources(): SourceState[];
  /** Hands over the time that the page has been hidden for until now, and returns this moment. */
  pass(): number;
  /** Begins a run at the returned moment: nothing before it counts. */
  begin(): number;
  /** The caller knows that the thread never went back to its loop from `begin()` to the returned moment; the run goes on. */
  held(): number;
  /**
   * Ends the run at the returned moment, and reports the stall that was still open. `held`: the caller knows that the
   * thread never went back to its loop since `begin()`.
   */
  end(held: boolean): number;
  /** Settles when the evidence about everything before now has arrived. Never rejects. */
  settle(): Promise<void>;
  /** Stops everything and keeps nothing. */
  stop(): void;
}
