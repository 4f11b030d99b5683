// SPDX-License-Identifier: MIT OR Apache-2.0

import { clearTimeout, clock, globals, OwnPromise, setTimeout } from "../../globals.js";
import { BeatDetector, type DetectedStall } from "../detect.js";
import type { SourceState, StallReport } from "../report.js";
import { type BeatListener, beatSource } from "./browser-beat-source.js";
import type { ObserveOptions, Observer, Sink } from "./host.js";
import { clockStepMsMax, clockStepOf, tooCoarse } from "./host.js";
import { TimerBeats, timerFloorMs } from "./timer-beats.js";

/** The fields of long-animation-frame entries that the meter uses. TypeScript's DOM library does not declare them yet. */
interface LoafScript extends PerformanceEntry {
  readonly sourceURL: string;
  readonly sourceFunctionName: string;
  readonly invoker: string;
  readonly forcedStyleAndLayoutDuration: number;
}
interface LoafEntry extends PerformanceEntry {
  readonly scripts: readonly LoafScript[];
}

export interface Timeline {
  readonly sources: readonly SourceState[];
  /** Passes the entries that the browser has queued to the sink. */
  flush(): void;
  stop(): void;
}

/** Observes the browser's entries about long tasks and long animation frames, if the browser has them. */
function openTimeline(sink: Sink): Timeline {
  const sources: SourceState[] = [];
  const open: { observer: PerformanceObserver; take: (entries: PerformanceEntryList) => void }[] = [];
  const listen = (name: string, type: string, take: (entry: PerformanceEntry) => void): void => {
    if (typeof PerformanceObserver === "undefined" || !PerformanceObserver.supportedEntryTypes.includes(type)) {
      sources.push({ name, available: false, why: `this browser or scope has no ${type} entries` });
      return;
    }
    const takeAll = (entries: PerformanceEntryList): void => {
      for (const entry of entries) take(entry);
    };
    const observer = new PerformanceObserver((list) => takeAll(list.getEntries()));
    observer.observe({ type });
    open.push({ observer, take: takeAll });
    // Observed in Chromium 156: an embedded frame gets long tasks but no long animation frames.
    if (type === "long-animation-frame" && window.top !== window)
      sources.push({ name, available: false, why: "an embedded frame is told of no scripts, only its top page is" });
    else sources.push({ name, available: true });
  };
  listen("long tasks", "longtask", (entry) => sink.task(entry.startTime, entry.startTime + entry.duration));
  listen("scripts", "long-animation-frame", (entry) => {
    for (const script of (entry as LoafEntry).scripts) {
      sink.script(script.startTime, script.startTime + script.duration, {
        url: script.sourceURL,
        functionName: script.sourceFunctionName,
        invoker: script.invoker,
        durationMs: script.duration,
        layoutMs: script.forcedStyleAndLayoutDuration,
      });
    }
  });
  return {
    sources,
    flush: () => {
      for (const { observer, take } of open) take(observer.takeRecords());
    },
    stop: () => {
      for (const { observer } of open) observer.disconnect();
    },
  };
}

const inPage = typeof document !== "undefined";

export const kind: StallReport["host"] = inPage ? "browser" : "browser-worker";

export const now = (): number => clock();

let stepMs: number | undefined;
/** Returns the step of `now()` in milliseconds. Measures it once, which blocks the thread for up to 5 ms. */
export function clockStepMs(): number {
  stepMs ??= clockStepOf(now);
  return stepMs;
}

/** Default time between beats, in milliseconds. This time limits the error of a stall's start to 1 ms. docs/meter.md states the cost. */
const beatMsDefault = 2;
/** Time between beats during a measurement, in milliseconds. This time limits the error of a stall's start to 0.5 ms. */
const beatMsBrief = 1;
/** The number of frames after which the display's rate is known. */
const readyFrames = 5;
/** In milliseconds. If a watcher wakes later than this, the machine or the watched thread has delayed it. */
const lateMsMin = 2.5;
/** In ms. No scheduler delays a ready thread this long, so the page and the watcher both slept, with the machine or in a frozen tab. */
const asleepMsMin = 10_000;
/** In milliseconds. The browser delivers its entries about one frame after the frame that they describe. */
const settleMs = 150;

export function observe(options: ObserveOptions, sink: Sink): Observer {
  const timeline = openTimeline(sink);
  let stopped = false;
  let beginMs = now();
  let hiddenSinceMs: number | undefined;
  let endedMs: number | undefined;
  let frames = 0;
  /** Evaluates the beats of `beatSource`. `undefined` while the page's own timers send the beats. */
  let detector: BeatDetector | undefined;
  let periodMs = 0;

  const stepMs = clockStepMs();
  const isCoarse = stepMs > clockStepMsMax;
  const emit = (stall: DetectedStall | undefined): void => {
    if (stall && !isCoarse) sink.detected({ ...stall, errorMs: stall.errorMs + stepMs });
  };
  const timers = new TimerBeats(options.floorMs, now, emit);
  /** Evaluates the first beat after the end of a run. This beat shows whether the thread was blocked at the end. */
  const finishAfterEnd = (found: DetectedStall | undefined): void => {
    const endMs = endedMs ?? now();
    endedMs = undefined;
    // If the watcher had no core until after the end, only other evidence shows the stall's start.
    if (found && found.earliestMs < endMs) emit({ ...found, startMs: Math.min(found.startMs, endMs), endMs });
  };
  /** Reports the stall that is open at `atMs`. If beats are missing, that counts as a stall, even if the watcher caused it. */
  const finish = (atMs: number): void => {
    if (detector) emit(detector.finish(atMs, periodMs));
    else timers.finish(atMs);
  };
  const restart = (atMs: number): void => {
    detector?.restart(atMs);
    timers.restart(atMs);
  };
  const listener: BeatListener = {
    periodMs: options.beatMs ?? (options.brief ? beatMsBrief : beatMsDefault),
    sourceChanged: (fastest) => {
      const atMs = now();
      if (endedMs === undefined) finish(atMs);
      timers.stop();
      detector = fastest && new BeatDetector(options.floorMs, fastest);
      periodMs = beatSource.periodMs;
      restart(atMs);
      if (!detector) timers.start();
    },
    beat: (sentMs, atMs, wokeLateMs) => {
      if (!detector) return;
      const found = detector.beat(sentMs, atMs, wokeLateMs);
      const wokeMs = sentMs + detector.lagMinMs;
      if (wokeLateMs > asleepMsMin) return sink.hidden(wokeMs - wokeLateMs, atMs);
      if (endedMs === undefined) emit(found);
      else finishAfterEnd(found);
      if (wokeLateMs > lateMsMin) sink.watcherLate(wokeMs - wokeLateMs, wokeMs);
    },
  };
  const onFrame = (atMs: number): void => {
    if (stopped) return;
    frames++;
    sink.frame(atMs);
    globals.requestAnimationFrame?.(onFrame);
  };
  const startBeats = (): void => {
    timers.start();
    beatSource.addListener(listener);
  };
  const flushHidden = (): number => {
    const atMs = now();
    if (hiddenSinceMs !== undefined) {
      sink.hidden(hiddenSinceMs, atMs);
      hiddenSinceMs = atMs;
    }
    return atMs;
  };
  // Pages that are frozen or in the back/forward cache do not run. Not every browser reports them as hidden first.
  const onVisibility = ({ type }: Pick<Event, "type">): void => {
    const isAway = document.visibilityState === "hidden" || type === "freeze" || type === "pagehide";
    const atMs = flushHidden();
    if (isAway === (hiddenSinceMs !== undefined)) return;
    if (isAway) {
      finish(atMs);
      hiddenSinceMs = atMs;
      flushHidden();
      timers.stop();
      detector = undefined;
      beatSource.removeListener(listener);
    } else {
      hiddenSinceMs = undefined;
      startBeats();
    }
  };
  const toggleListeners = (change: "addEventListener" | "removeEventListener"): void => {
    if (!inPage) return;
    for (const type of ["visibilitychange", "freeze", "resume"]) document[change](type, onVisibility);
    for (const type of ["pagehide", "pageshow"]) window[change](type, onVisibility);
  };

  if (inPage && document.visibilityState === "hidden") hiddenSinceMs = beginMs;
  else startBeats();
  toggleListeners("addEventListener");
  if (inPage && options.frames) globals.requestAnimationFrame?.(onFrame);

  const sources = (): SourceState[] => {
    const why = isCoarse ? tooCoarse : beatSource.why;
    const unavailable = (name: string, reason: string): SourceState => ({ name, available: false, why: reason });
    return [
      why === undefined
        ? { name: "heartbeat", available: true }
        : unavailable(
            "heartbeat",
            isCoarse ? why : `${why}; timers stand in: stalls under ${timerFloorMs} ms are not seen`,
          ),
      why === undefined ? { name: "watcher", available: true } : unavailable("watcher", why),
      ...timeline.sources,
      !inPage
        ? unavailable("frames", "a worker has no display")
        : options.frames
          ? { name: "frames", available: true }
          : unavailable("frames", "turned off by the option frames"),
      unavailable("garbage collection", "browsers do not show their collections"),
    ];
  };

  return {
    settleMs,
    sources,
    ready: async () => {
      await beatSource.ready;
      if (options.frames && inPage && hiddenSinceMs === undefined) await untilFrames(() => frames >= readyFrames, 500);
    },
    flushHidden,
    begin: () => {
      beginMs = now();
      endedMs = undefined;
      restart(beginMs);
      if (hiddenSinceMs !== undefined) hiddenSinceMs = beginMs;
      return beginMs;
    },
    blocked: () => {
      const atMs = now();
      if (hiddenSinceMs === undefined && atMs - beginMs >= options.floorMs) {
        emit(exactStall(beginMs, atMs));
        detector?.blockedUntil(atMs);
        timers.blockedUntil(atMs);
      }
      return atMs;
    },
    end: (blocked) => {
      const atMs = flushHidden();
      if (hiddenSinceMs === undefined) {
        if (blocked) emit(exactStall(beginMs, atMs));
        // `settle`, which the caller calls next, waits for the next beat.
        else if (options.brief && detector) {
          endedMs = atMs;
          return atMs;
        } else finish(atMs);
      }
      restart(atMs);
      return atMs;
    },
    settle: async () => {
      // Waits for two frames, even if frames are not counted, because entries arrive after the frame that they describe.
      let shown = 0;
      if (inPage && hiddenSinceMs === undefined) await untilFrames(() => shown++ >= 2, 250);
      await new OwnPromise<void>((resolve) => setTimeout(resolve, 30));
      // If no beat has arrived in this time, the watcher has ended. This thread has run since, so the stall's end is unknown.
      endedMs = undefined;
      timeline.flush();
    },
    stop: () => {
      stopped = true;
      toggleListeners("removeEventListener");
      timers.stop();
      detector = undefined;
      beatSource.removeListener(listener);
      timeline.stop();
    },
  };
}

/** Returns a stall with known edges. Its error is the clock's step, which `observe` adds. */
function exactStall(startMs: number, endMs: number): DetectedStall {
  return { startMs, endMs, earliestMs: startMs, errorMs: 0, unwokenMs: 0 };
}

/** Calls `enough` at each frame until it returns true, for at most `msMax`. The limit is for pages that show no frames. */
function untilFrames(enough: () => boolean, msMax: number): Promise<void> {
  return new OwnPromise((resolve) => {
    let over = false;
    const finish = (): void => {
      over = true;
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(finish, msMax);
    const checkFrame = (): void => {
      if (over) return;
      if (enough()) finish();
      else globals.requestAnimationFrame?.(checkFrame);
    };
    checkFrame();
  });
}
