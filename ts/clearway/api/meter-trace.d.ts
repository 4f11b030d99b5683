import { S as StallReport } from './types-report.js';
export { C as CauseShare, F as FrameReport, H as HitchReport, a as HitchVerdicts, M as MarkShare, b as ScriptShare, c as SourceState, d as StackSample, e as Stall, f as StallCause, T as TailQuantile, W as WaitShare } from './types-report.js';

/** An event of the Trace Event Format. Times are in microseconds. */
interface TraceEvent {
    readonly name: string;
    /** The kind of event: `X` a slice, `C` a counter, `M` a name of a process or a track. */
    readonly ph: "X" | "C" | "M";
    readonly pid: number;
    readonly tid: number;
    readonly cat?: string;
    readonly ts?: number;
    readonly dur?: number;
    readonly args: Readonly<Record<string, unknown>>;
}
/** A trace file. `JSON.stringify` gives the text that Perfetto and Chrome open. */
interface TraceFile {
    readonly traceEvents: readonly TraceEvent[];
    readonly displayTimeUnit: "ms";
    /** The figures of each report that have no place on the timeline. */
    readonly otherData: Readonly<Record<string, string>>;
}
/**
 * Converts one report, or the reports of several threads, to a trace. Each report is a process with its own tracks:
 *
 * - `stalls`: each stall as a slice named by its cause, with the reason, the scripts and the stacks.
 * - `labels`: each mark during a stall. A report has the time that a mark and a stall share, but not its start, so the slice has the
 *   stall's length, and `overlapMs` the shared time.
 * - `worst second`, if a thread was blocked at all.
 * - a counter of the frames that the stalls drop, computed from their lengths. Frames that the meter counted itself have no times in a
 *   report. Their number is in the process's label.
 *
 * The trace starts with the earliest report. Reports of any language fit, also parsed from JSON. Copies what it needs; O(n log n).
 *
 * Throws `TypeError` for a value that is not a report, and for an empty list.
 */
declare function stallTrace(reports: StallReport | readonly StallReport[]): TraceFile;

export { StallReport, stallTrace };
export type { TraceEvent, TraceFile };
