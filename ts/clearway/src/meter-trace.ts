// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Converts reports of `clearway/meter` to a trace that Perfetto and Chrome show on a timeline.
 *
 * @module clearway/meter/trace
 */

export type {
  CauseShare,
  FrameReport,
  HitchReport,
  HitchVerdicts,
  SourceState,
  StallReport,
  TailQuantile,
  WaitShare,
} from "./meter/report.js";
export type { MarkShare, ScriptShare, StackSample, Stall, StallCause } from "./meter/stall.js";
export { stallTrace, type TraceEvent, type TraceFile } from "./meter/trace/trace.js";
