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
  MarkShare,
  ScriptShare,
  SourceState,
  StackSample,
  Stall,
  StallCause,
  StallReport,
  TailQuantile,
  WaitShare,
} from "./meter/report.js";
export { stallTrace, type TraceEvent, type TraceFile } from "./meter/trace.js";
