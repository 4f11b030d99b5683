// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Converts reports of `clearway/meter` to a trace that Perfetto and Chrome show on a timeline.
 *
 * @module clearway/meter/trace
 */

import type { Stall, StallReport } from "./meter/report.js";

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

/** An event of the Trace Event Format. Times are in microseconds. */
export interface TraceEvent {
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
export interface TraceFile {
  readonly traceEvents: readonly TraceEvent[];
  readonly displayTimeUnit: "ms";
  /** The figures of each report that have no place on the timeline. */
  readonly otherData: Readonly<Record<string, string>>;
}

const tracks = { stalls: 1, labels: 2, worstSecond: 3 } as const;

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
export function stallTrace(reports: StallReport | readonly StallReport[]): TraceFile {
  const list = Array.isArray(reports) ? (reports as readonly StallReport[]) : [reports as StallReport];
  if (list.length === 0) throw new TypeError("reports must have a report: reports.length=0");
  const startsMs = list.map(startOf);
  const originMs = startsMs.reduce((least, start) => Math.min(least, start));
  return {
    traceEvents: list.flatMap((report, at) => eventsOf(report, at + 1, startsMs[at]! - originMs)),
    displayTimeUnit: "ms",
    otherData: {
      producer: "clearway/meter",
      startedAt: new Date(originMs).toISOString(),
      ...Object.fromEntries(list.map((report, at) => [`report ${at + 1}`, JSON.stringify(figuresOf(report))])),
    },
  };
}

/** Returns the start of a report in milliseconds since the epoch. Throws `TypeError` if the value is not a report. */
function startOf(report: StallReport, at: number): number {
  const { kind, version, startedAt, stalls } = (report ?? {}) as Partial<StallReport>;
  if (kind !== "clearway-stalls" || version !== 1 || !Array.isArray(stalls))
    throw new TypeError(
      `reports[${at}] must be a report of clearway/meter, version 1: kind=${kind}, version=${version}`,
    );
  const startMs = Date.parse(startedAt!);
  if (Number.isNaN(startMs))
    throw new TypeError(`reports[${at}].startedAt must be a time in ISO 8601: startedAt=${startedAt}`);
  return startMs;
}

function eventsOf(report: StallReport, pid: number, offsetMs: number): TraceEvent[] {
  const { label, host, stalls, worstSecond, frames } = report;
  const named = (name: string, tid: number, args: Record<string, unknown>): TraceEvent => ({
    name,
    ph: "M",
    pid,
    tid,
    args,
  });
  const slice = (name: string, tid: number, cat: string, startMs: number, ms: number, args: Record<string, unknown>) =>
    ({ name, ph: "X", pid, tid, cat, ts: micros(offsetMs + startMs), dur: micros(ms), args }) as const;
  const counted = `${frames.dropped} of ${frames.expected} frames dropped at ${frames.hz} Hz`;
  const events: TraceEvent[] = [
    named("process_name", 0, { name: label === undefined ? host : `${label} (${host})` }),
    named("process_labels", 0, { labels: frames.estimated ? `${counted}, estimated` : counted }),
    named("thread_name", tracks.stalls, { name: "stalls" }),
  ];
  let dropped = 0;
  events.push(counter(pid, offsetMs, dropped));
  for (const stall of [...stalls].sort((a, b) => a.startMs - b.startMs)) {
    const ownDropped = Math.max(0, (stall.lengthMs * frames.hz) / 1000 - 1);
    dropped += ownDropped;
    events.push(
      slice(stall.cause, tracks.stalls, "stall", stall.startMs, stall.lengthMs, evidenceOf(stall, ownDropped)),
    );
    for (const { label: mark, overlapMs } of stall.marks)
      events.push(slice(mark, tracks.labels, "label", stall.startMs, stall.lengthMs, { overlapMs }));
    events.push(counter(pid, offsetMs + stall.startMs + stall.lengthMs, dropped));
  }
  if (stalls.some(({ marks }) => marks.length > 0))
    events.push(named("thread_name", tracks.labels, { name: "labels" }));
  if (worstSecond.stalledMs > 0) {
    const { startMs, stalledMs } = worstSecond;
    events.push(
      named("thread_name", tracks.worstSecond, { name: "worst second" }),
      slice("worst second", tracks.worstSecond, "summary", startMs, 1000, { stalledMs }),
    );
  }
  return events;
}

function counter(pid: number, atMs: number, frames: number): TraceEvent {
  return {
    name: "dropped frames",
    ph: "C",
    pid,
    tid: 0,
    ts: micros(atMs),
    args: { frames: Math.round(frames * 100) / 100 },
  };
}

function evidenceOf(stall: Stall, droppedFrames: number): Record<string, unknown> {
  const { because, lengthMs, errorMs, machineMs, gcMs, scripts, stacks, marks } = stall;
  return {
    because,
    lengthMs,
    errorMs,
    machineMs,
    gcMs,
    droppedFrames: Math.round(droppedFrames * 100) / 100,
    ...(marks.length > 0 && { labels: marks.map(({ label }) => label) }),
    ...(scripts.length > 0 && { scripts: scripts.map((script) => ({ ...script })) }),
    // Viewers show one text better than a list of lists.
    ...(stacks.length > 0 && { stacks: stacks.map(({ frames, seen }) => `seen ${seen} times:\n${frames.join("\n")}`) }),
  };
}

function figuresOf(report: StallReport): Record<string, unknown> {
  const { label, host, startedAt, durationMs, hiddenMs, droppedStalls, frames, hitch, lagMeanMs } = report;
  return { label, host, startedAt, durationMs, hiddenMs, droppedStalls, frames, hitch, lagMeanMs };
}

/** Returns microseconds, rounded to a nanosecond: Perfetto stores nanoseconds. */
function micros(ms: number): number {
  return Math.round(ms * 1e6) / 1e3;
}
