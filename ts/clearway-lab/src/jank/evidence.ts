// SPDX-License-Identifier: MIT OR Apache-2.0
// What is known about a thread besides the meter's report. All times are in milliseconds on the clock of one document or process: 0 is the
// start of the meter's run.

/** A function as the engine names it. Lines and columns count from 1. Undefined if the engine does not know them. */
export interface StackFrame {
  readonly functionName: string;
  /** Empty for functions that are built into the engine. */
  readonly url: string;
  /** The line at which the function begins. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** One sample of a CPU profile. */
export interface Sample {
  readonly atMs: number;
  /** The time that the sample stands for. */
  readonly ms: number;
  /** The stack, outermost function first. It is empty if no JavaScript ran. */
  readonly stack: readonly StackFrame[];
  /** The place that ran in the innermost function that has a source. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** Whether the engine collected garbage, or ran code that is not JavaScript. */
  readonly state: "script" | "gc" | "native" | "idle";
}

export type SpanKind = "gc" | "style" | "layout" | "parse" | "compile" | "paint";

/** A piece of the browser's own work. */
export interface Span {
  readonly kind: SpanKind;
  /** The name of the work in the browser's trace. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** A script of a long animation frame. */
export interface FrameScript {
  readonly startMs: number;
  readonly endMs: number;
  /** Empty if the browser withholds it. */
  readonly url: string;
  readonly functionName: string;
  readonly invoker: string;
  /** The index of the function in its source, in UTF-16 units. -1 if the browser withholds it. */
  readonly charPosition: number;
  readonly layoutMs: number;
  /** Time in which the script waited for a synchronous operation such as `alert()`. */
  readonly pauseMs: number;
}

export interface Evidence {
  readonly samples: readonly Sample[];
  readonly spans: readonly Span[];
  readonly scripts: readonly FrameScript[];
}

export const NO_EVIDENCE: Evidence = { samples: [], spans: [], scripts: [] };
