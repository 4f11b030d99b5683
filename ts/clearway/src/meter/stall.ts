// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * What held the thread.
 * - `machine`: an idle watcher thread was held up at the same time, or the thread was not woken although it had nothing to do.
 * - `gc`: garbage collection took most of it.
 * - `app`: the thread was running (or blocking in a synchronous call of) the app's own code.
 * - `unknown`: no source could tell; `because` says which sources were missing.
 */
export type StallCause = "machine" | "gc" | "app" | "unknown";

/** A script that ran in the stall, as the browser's long-animation-frame entry names it. */
export interface ScriptShare {
  /** Where the script came from; empty where the browser withholds it (cross-origin). */
  readonly url: string;
  readonly functionName: string;
  /** What called it: `TimerHandler:setTimeout`, `BUTTON#send.onclick`, ... */
  readonly invoker: string;
  readonly durationMs: number;
  /** Part of `durationMs` spent in forced style and layout. */
  readonly layoutMs: number;
}

/** A stack seen by the watchdog while the thread was held, innermost frame first. */
export interface StackSample {
  readonly frames: readonly string[];
  /** How many samples of this stall showed this very stack. */
  readonly seen: number;
}

/** A `mark()` that was open during the stall. */
export interface MarkShare {
  readonly label: string;
  readonly overlapMs: number;
}

/** An interval in which the thread could not answer an event. */
export interface Stall {
  /** Since the start of the run. */
  readonly startMs: number;
  readonly lengthMs: number;
  /** The true length lies within `lengthMs` plus or minus this, by the way it was detected. */
  readonly errorMs: number;
  readonly cause: StallCause;
  /** One sentence: why this cause. */
  readonly because: string;
  /** How long the machine ran others during this stall: in place of this thread where that is counted, or of an idle watcher. */
  readonly machineMs: number;
  /** How long garbage collection paused the thread during this stall. */
  readonly gcMs: number;
  readonly scripts: readonly ScriptShare[];
  readonly stacks: readonly StackSample[];
  readonly marks: readonly MarkShare[];
}
