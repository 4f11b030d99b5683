// SPDX-License-Identifier: MIT OR Apache-2.0

import { causeOf, gatherStacks } from "./cause.js";
import type { DetectedStall } from "./detect.js";
import type { Sink } from "./host/host.js";
import { marksDuring } from "./mark.js";
import type { ScriptShare, SourceState, Stall, StallReport } from "./report.js";
import { type CountedFrames, countDroppedFrames, summarize } from "./summarize.js";

interface Interval<Value> {
  readonly startMs: number;
  readonly endMs: number;
  readonly value: Value;
}

/**
 * A ring of fixed size for intervals with a value.
 *
 * The ring's memory stays bounded even if the app runs for ever. The recorder needs an interval only until `settleMs` after it.
 */
class SpanRing<Value> {
  #intervals: Interval<Value>[] = [];
  #next = 0;

  constructor(private readonly spansMax: number) {}

  add(startMs: number, endMs: number, value: Value): void {
    this.#intervals[this.#next] = { startMs, endMs, value };
    this.#next = (this.#next + 1) % this.spansMax;
  }

  /** Returns the intervals that overlap a span, each with its overlap. An interval of length 0 inside the span has overlap 0. */
  during(startMs: number, endMs: number): { startMs: number; overlapMs: number; value: Value }[] {
    const found: { startMs: number; overlapMs: number; value: Value }[] = [];
    for (const interval of this.#intervals) {
      if (interval.endMs < startMs || interval.startMs > endMs) continue;
      const overlapMs = Math.min(endMs, interval.endMs) - Math.max(startMs, interval.startMs);
      found.push({ startMs: interval.startMs, overlapMs, value: interval.value });
    }
    return found;
  }

  overlapMs(startMs: number, endMs: number): number {
    let total = 0;
    for (const span of this.during(startMs, endMs)) total += span.overlapMs;
    return Math.min(total, endMs - startMs);
  }
}

/**
 * The number of gaps between frames that are counted together: half a minute at 60 Hz. The display's rate is computed from their median.
 */
const gapsMax = 1800;
/**
 * The number of gaps that are kept with their times, for unexplained stalls: 2 s at 60 Hz. This is over ten times the observer's
 * `settleMs`, the time after which the recorder looks for a stall's cause.
 */
const recentGapsMax = 128;
/** The number of frames between two computations of the display's rate. Sorting the gaps for each stall would cost too much. */
const rateFrames = 60;

/** Counts the display's frames and the dropped ones, with bounded memory. */
class FrameLog {
  #gaps: number[] = [];
  #earlierGaps: number[] = [];
  #lastMs: number | undefined;
  #expected = 0;
  #dropped = 0;
  readonly #recentGaps = new SpanRing<number>(recentGapsMax);
  #frameMs = 0;
  #framesUntilRate = 0;

  frame(atMs: number): void {
    if (this.#lastMs !== undefined && atMs > this.#lastMs) {
      this.#gaps.push(atMs - this.#lastMs);
      this.#recentGaps.add(this.#lastMs, atMs, atMs);
      this.#framesUntilRate--;
    }
    this.#lastMs = atMs;
    if (this.#gaps.length < gapsMax) return;
    const counted = this.count();
    this.#expected = counted?.expected ?? this.#expected;
    this.#dropped = counted?.dropped ?? this.#dropped;
    this.#earlierGaps = this.#gaps;
    this.#gaps = [];
  }

  /** Begins a run. Earlier frames are no longer counted; they only help to find the display's rate. */
  begin(): void {
    this.#earlierGaps = [...this.#earlierGaps, ...this.#gaps].slice(-gapsMax);
    this.#gaps = [];
    this.#expected = 0;
    this.#dropped = 0;
  }

  /** Ignores the time until the next frame, because the page was hidden. */
  interrupt(): void {
    this.#lastMs = undefined;
  }

  /**
   * Returns when the first missed frame of a span was due. The span lasts from `startMs` to `endMs`. Returns `undefined` if no frame was
   * missed.
   *
   * A missed frame appears late, in the span or after it. The thread, or the compositor that shows the frames, was blocked from the
   * returned time on.
   */
  missedSince(startMs: number, endMs: number): number | undefined {
    if (this.#framesUntilRate <= 0) {
      const hz = this.count()?.hz;
      if (hz === undefined) return undefined;
      this.#frameMs = 1000 / hz;
      this.#framesUntilRate = rateFrames;
    }
    let sinceMs: number | undefined;
    for (const { startMs: gapStartMs, value: gapEndMs } of this.#recentGaps.during(startMs, endMs)) {
      // A frame that is late by less than half a frame time is not missed. `count` uses the same limit.
      if (gapEndMs - gapStartMs < this.#frameMs * 1.5) continue;
      const dueMs = gapStartMs + this.#frameMs;
      if (dueMs < endMs) sinceMs = Math.min(sinceMs ?? dueMs, dueMs);
    }
    return sinceMs;
  }

  /** Returns the counts of the run, or `undefined` if there were too few frames. */
  count(): CountedFrames | undefined {
    const known = [...this.#earlierGaps, ...this.#gaps];
    const all = countDroppedFrames(known);
    if (!all || (this.#gaps.length === 0 && this.#expected === 0)) return undefined;
    const frameMs = 1000 / all.hz;
    let dropped = 0;
    for (const gap of this.#gaps) dropped += Math.max(0, Math.round(gap / frameMs) - 1);
    return {
      hz: all.hz,
      expected: this.#expected + this.#gaps.length + dropped,
      dropped: this.#dropped + dropped,
    };
  }
}

/** A stall with its times on the host's clock. */
interface PlacedStall {
  readonly startMs: number;
  readonly endMs: number;
  readonly stall: Omit<Stall, "startMs">;
}

/**
 * Keeps the stalls of a run in bounded memory.
 *
 * If there are more than `stallsMax` stalls, the history drops the oldest ones and counts them. The covered time then starts after the
 * last dropped stall. Every figure therefore stays exact for the covered time.
 */
class StallHistory {
  #stalls: PlacedStall[] = [];
  #dropped = 0;
  #coveredFromMs: number;

  constructor(
    private readonly stallsMax: number,
    beginMs: number,
  ) {
    this.#coveredFromMs = beginMs;
  }

  get dropped(): number {
    return this.#dropped;
  }

  get coveredFromMs(): number {
    return this.#coveredFromMs;
  }

  get stalls(): readonly PlacedStall[] {
    return this.#stalls;
  }

  add(stall: PlacedStall): void {
    this.#stalls.push(stall);
    if (this.#stalls.length <= this.stallsMax) return;
    // Drops a quarter of the stalls at once. Dropping one stall at a time would move the whole list for each new stall.
    const dropped = this.#stalls.splice(0, Math.max(1, this.stallsMax >> 2));
    this.#dropped += dropped.length;
    this.#coveredFromMs = dropped.at(-1)!.endMs;
  }
}

export interface RecorderOptions {
  readonly host: StallReport["host"];
  readonly label?: string | undefined;
  readonly hz: number;
  readonly floorMs: number;
  readonly stallsMax: number;
  readonly sources: () => SourceState[];
  readonly onStall?: ((stall: Stall) => void) | undefined;
  /** Called when the recorder has received a stall, before the stall is explained. */
  readonly onDetected?: (() => void) | undefined;
}

/** The number of kept entries per kind of evidence: the last few seconds. Older stalls are already explained. */
const evidenceMax = 1024;
/** The maximum number of spans of hidden time. Beyond that number, the oldest spans are joined. */
const hiddenMax = 1000;

interface HiddenSpan {
  startMs: number;
  endMs: number;
}

/** Turns a host's observations into explained stalls and a report. Uses no clock and no timer: the caller passes the time. */
export class Recorder implements Sink {
  #history: StallHistory;
  // Before `begin`, all observations are ignored.
  #beginMs = Number.POSITIVE_INFINITY;
  #startedAt = new Date(0).toISOString();
  #pending: DetectedStall[] = [];
  #hidden: HiddenSpan[] = [];
  readonly #frames = new FrameLog();
  readonly #watcher = new SpanRing<null>(evidenceMax);
  readonly #queued = new SpanRing<null>(evidenceMax);
  readonly #gc = new SpanRing<null>(evidenceMax);
  readonly #tasks = new SpanRing<null>(evidenceMax);
  readonly #calls = new SpanRing<string>(8);
  readonly #scripts = new SpanRing<ScriptShare>(evidenceMax);
  readonly #stacks = new SpanRing<readonly string[]>(evidenceMax);

  constructor(private readonly options: RecorderOptions) {
    this.#history = new StallHistory(options.stallsMax, 0);
  }

  /** Begins a run at `atMs` (host clock) and forgets the previous run. `wallMs` is the same moment in milliseconds since the epoch. */
  begin(atMs: number, wallMs: number): void {
    this.#beginMs = atMs;
    this.#startedAt = new Date(wallMs).toISOString();
    this.#history = new StallHistory(this.options.stallsMax, atMs);
    this.#pending = [];
    this.#hidden = [];
    this.#frames.begin();
  }

  detected(stall: DetectedStall): void {
    if (stall.endMs <= this.#beginMs) return;
    const last = this.#pending.at(-1);
    if (stall.continuesLast && last?.endMs === stall.startMs)
      this.#pending[this.#pending.length - 1] = { ...last, endMs: stall.endMs };
    else this.#pending.push(stall);
    this.options.onDetected?.();
  }
  watcherLate(startMs: number, endMs: number): void {
    this.#watcher.add(startMs, endMs, null);
  }
  queued(startMs: number, endMs: number): void {
    this.#queued.add(startMs, endMs, null);
  }
  garbageCollected(startMs: number, endMs: number): void {
    this.#gc.add(startMs, endMs, null);
  }
  task(startMs: number, endMs: number): void {
    this.#tasks.add(startMs, endMs, null);
  }
  script(startMs: number, endMs: number, script: ScriptShare): void {
    this.#scripts.add(startMs, endMs, script);
  }
  stack(atMs: number, frames: readonly string[]): void {
    this.#stacks.add(atMs, atMs, frames);
  }
  hidden(startMs: number, endMs: number): void {
    this.#frames.interrupt();
    const last = this.#hidden.at(-1);
    // A watcher that slept in a hidden page reports that time, too, so spans can overlap.
    const fromMs = Math.max(startMs, this.#beginMs, last?.endMs ?? 0);
    if (last?.endMs === fromMs) last.endMs = endMs;
    else if (endMs > fromMs) this.#hidden.push({ startMs: fromMs, endMs });
    if (this.#hidden.length <= hiddenMax) return;
    // Joins the two oldest spans and keeps their total length. The report is inexact only if its covered time starts within them.
    const [oldest, next] = this.#hidden as [HiddenSpan, HiddenSpan];
    next.startMs -= oldest.endMs - oldest.startMs;
    this.#hidden.shift();
  }
  frame(atMs: number): void {
    this.#frames.frame(atMs);
  }

  /** Records that a measured function ran from `startMs` to `endMs` without returning to the loop. */
  call(startMs: number, endMs: number, name: string): void {
    this.#calls.add(startMs, endMs, name);
  }

  /** Explains every stall that ended at or before `untilMs`. The caller must have waited for the evidence. */
  explain(untilMs: number): void {
    while (this.#pending.length > 0 && this.#pending[0]!.endMs <= untilMs) {
      const placed = this.#explainOne(this.#pending.shift()!);
      if (placed === undefined) continue;
      this.#history.add(placed);
      this.options.onStall?.({ startMs: placed.startMs - this.#beginMs, ...placed.stall });
    }
  }

  /** Returns the report of the run up to `atMs`. Explains the newest stalls from the evidence that has arrived so far. */
  report(atMs: number): StallReport {
    const early = this.#pending.flatMap((detected) =>
      detected.endMs <= atMs ? (this.#explainOne(detected) ?? []) : [],
    );
    const { options } = this;
    const fromMs = this.#history.coveredFromMs;
    let hiddenMs = 0;
    for (const span of this.#hidden) hiddenMs += Math.max(0, span.endMs - Math.max(span.startMs, fromMs));
    return summarize({
      host: options.host,
      label: options.label,
      startedAt: this.#startedAt,
      durationMs: Math.max(0, atMs - fromMs - hiddenMs),
      coveredFromMs: fromMs - this.#beginMs,
      hiddenMs,
      hz: options.hz,
      floorMs: options.floorMs,
      stalls: [...this.#history.stalls, ...early].map(({ startMs, stall }) => ({
        startMs: startMs - this.#beginMs,
        ...stall,
      })),
      droppedStalls: this.#history.dropped,
      frames: this.#frames.count(),
      sources: options.sources(),
    });
  }

  #explainOne(detected: DetectedStall): PlacedStall | undefined {
    const { endMs } = detected;
    let { startMs, errorMs } = detected;
    // The edges of a task are exact. If a task began near the stall's estimated start, the task's start is the stall's start.
    if (errorMs > 1) {
      for (const task of this.#tasks.during(startMs, endMs)) {
        if (Math.abs(task.startMs - startMs) > errorMs + 1) continue;
        startMs = task.startMs;
        errorMs = 1;
        break;
      }
    }
    // If a frame was missed while the thread answered no beat, the thread was blocked from that moment at the latest.
    const missedMs = this.#frames.missedSince(detected.earliestMs, endMs);
    if (missedMs !== undefined) startMs = Math.min(startMs, Math.max(missedMs, detected.earliestMs));
    startMs = Math.max(startMs, this.#beginMs);
    const lengthMs = endMs - startMs;
    if (lengthMs < this.options.floorMs) return undefined;
    // Collects evidence from the earliest possible start on. Each kind of evidence counts for at most the stall's length.
    const fromMs = Math.min(startMs, Math.max(detected.earliestMs, this.#beginMs));
    const ran = this.#scripts.during(fromMs, endMs).filter((script) => script.overlapMs > 0);
    ran.sort((a, b) => b.overlapMs - a.overlapMs);
    const call = this.#calls.during(fromMs, endMs).find((span) => span.overlapMs >= lengthMs / 2);
    const watcherMs = this.#watcher.overlapMs(fromMs, endMs);
    const queuedMs = this.#queued.overlapMs(fromMs, endMs);
    const evidence = {
      lengthMs,
      machineMs: Math.min(lengthMs, Math.max(watcherMs, queuedMs, detected.unwokenMs)),
      gcMs: Math.min(lengthMs, this.#gc.overlapMs(fromMs, endMs)),
      scripts: ran.map((script) => script.value),
      stacks: gatherStacks(this.#stacks.during(fromMs, endMs).map((sample) => sample.value)),
      marks: marksDuring(fromMs, endMs),
    };
    const sources = this.options.sources();
    const watcher = sources.find((source) => source.name === "watcher");
    const { cause, because } = causeOf({
      ...evidence,
      call: call?.value,
      scriptsMs: ran.reduce((sum, script) => sum + script.overlapMs, 0),
      queued: queuedMs >= watcherMs,
      unwokenMs: detected.unwokenMs,
      noWatcher: watcher?.available ? undefined : (watcher?.why ?? "not started"),
      gcSeen: sources.some((source) => source.name === "garbage collection" && source.available),
    });
    return { startMs, endMs, stall: { ...evidence, errorMs, cause, because } };
  }
}
