// SPDX-License-Identifier: MIT OR Apache-2.0
import { BeatDetector } from "../detect/beats.js";
import type { Found } from "../detect/turns.js";
import type { SourceState, StallReport } from "../report.js";
import { type HeartListener, heart } from "./browser-heart.js";
import { openTimeline } from "./browser-timeline.js";
import type { ObserveOptions, Observer, Sink } from "./host.js";
import { TimerBeats, timerFloorMs } from "./timer-beats.js";

const inPage = typeof document !== "undefined";

export const kind: StallReport["host"] = inPage ? "browser" : "browser-worker";

export const now = (): number => performance.now();

/** Bounds the error of a stall's start to plus or minus 1 ms. docs/meter.md states its cost. */
const beatMsDefault = 2;
/** Bounds the error to plus or minus 0.5 ms, during a measurement. */
const beatMsBrief = 1;
/** The number of frames after which the display's rate is known. */
const readyFrames = 5;
/** A watcher that wakes later than this was held, by the machine or by the watched thread. */
const heldMsMin = 2.5;
/** No scheduler delays a ready thread this long. The page and the watcher both slept, with the machine or in a frozen tab. */
const asleepMsMin = 10_000;
/** The browser delivers entries about a frame after it has shown the frame. */
const settleMs = 150;

export function observe(options: ObserveOptions, sink: Sink): Observer {
  const timeline = openTimeline(sink);
  let stopped = false;
  let beginMs = now();
  let hiddenSinceMs: number | undefined;
  let endedMs: number | undefined;
  let frames = 0;
  /** Evaluates the heart's beats. `undefined` while the page's own timers beat instead. */
  let detector: BeatDetector | undefined;
  let periodMs = 0;

  const report = (found: Found | undefined): void => {
    if (found) sink.found(found);
  };
  const timers = new TimerBeats(options.floorMs, now, report);
  /** Evaluates the first beat after a run's end, which shows whether the thread was held at the end. */
  const finishAt = (found: Found | undefined): void => {
    const endMs = endedMs ?? now();
    endedMs = undefined;
    // If the watcher itself had no core until after the end, only other evidence shows the stall's start.
    if (found && found.earliestMs < endMs) report({ ...found, startMs: Math.min(found.startMs, endMs), endMs });
  };
  /** Reports the stall that is open at `atMs`. Missing beats count as a stall, even if the watcher caused them. */
  const finish = (atMs: number): void => {
    if (detector) report(detector.finish(atMs, periodMs));
    else timers.finish(atMs);
  };
  const restart = (atMs: number): void => {
    detector?.restart(atMs);
    timers.restart(atMs);
  };
  const listener: HeartListener = {
    periodMs: options.beatMs ?? (options.brief ? beatMsBrief : beatMsDefault),
    beating: (fastest) => {
      const atMs = now();
      if (endedMs === undefined) finish(atMs);
      timers.stop();
      detector = fastest && new BeatDetector(options.floorMs, fastest);
      periodMs = heart.periodMs;
      restart(atMs);
      if (!detector) timers.start();
    },
    beat: (sentMs, atMs, heldMs) => {
      if (!detector) return;
      const found = detector.beat(sentMs, atMs, heldMs);
      const wokeMs = sentMs + detector.lagMinMs;
      if (heldMs > asleepMsMin) return sink.hidden(wokeMs - heldMs, atMs);
      if (endedMs === undefined) report(found);
      else finishAt(found);
      if (heldMs > heldMsMin) sink.watcherHeld(wokeMs - heldMs, wokeMs);
    },
  };
  const onFrame = (atMs: number): void => {
    if (stopped) return;
    frames++;
    sink.frame(atMs);
    requestAnimationFrame(onFrame);
  };
  const show = (): void => {
    timers.start();
    heart.use(listener);
  };
  const pass = (): number => {
    const atMs = now();
    if (hiddenSinceMs !== undefined) {
      sink.hidden(hiddenSinceMs, atMs);
      hiddenSinceMs = atMs;
    }
    return atMs;
  };
  // Frozen pages and pages in the back/forward cache do not run, and not every browser reports them as hidden first.
  const onVisibility = ({ type }: Pick<Event, "type">): void => {
    const away = document.visibilityState === "hidden" || type === "freeze" || type === "pagehide";
    const atMs = pass();
    if (away === (hiddenSinceMs !== undefined)) return;
    if (away) {
      finish(atMs);
      hiddenSinceMs = atMs;
      pass();
      timers.stop();
      detector = undefined;
      heart.leave(listener);
    } else {
      hiddenSinceMs = undefined;
      show();
    }
  };
  const listen = (change: "addEventListener" | "removeEventListener"): void => {
    if (!inPage) return;
    for (const type of ["visibilitychange", "freeze", "resume"]) document[change](type, onVisibility);
    for (const type of ["pagehide", "pageshow"]) window[change](type, onVisibility);
  };

  if (inPage && document.visibilityState === "hidden") hiddenSinceMs = beginMs;
  else show();
  listen("addEventListener");
  if (inPage && options.frames) requestAnimationFrame(onFrame);

  const sources = (): SourceState[] => {
    const why = heart.why;
    const none = (name: string, reason: string): SourceState => ({ name, available: false, why: reason });
    return [
      why === undefined
        ? { name: "heartbeat", available: true }
        : none("heartbeat", `${why}; timers stand in: stalls under ${timerFloorMs} ms are not seen`),
      why === undefined ? { name: "watcher", available: true } : none("watcher", why),
      ...timeline.sources,
      !inPage
        ? none("frames", "a worker has no display")
        : options.frames
          ? { name: "frames", available: true }
          : none("frames", "turned off by the option frames"),
      none("garbage collection", "browsers do not show their collections"),
    ];
  };

  return {
    settleMs,
    sources,
    ready: async () => {
      await heart.ready;
      if (options.frames && inPage && hiddenSinceMs === undefined) await untilFrames(() => frames >= readyFrames, 500);
    },
    pass,
    begin: () => {
      beginMs = now();
      endedMs = undefined;
      restart(beginMs);
      if (hiddenSinceMs !== undefined) hiddenSinceMs = beginMs;
      return beginMs;
    },
    held: () => {
      const atMs = now();
      if (hiddenSinceMs === undefined && atMs - beginMs >= options.floorMs) {
        report(heldSince(beginMs, atMs));
        detector?.held(atMs);
        timers.held(atMs);
      }
      return atMs;
    },
    end: (held) => {
      const atMs = pass();
      if (hiddenSinceMs === undefined) {
        if (held) report(heldSince(beginMs, atMs));
        // The caller settles next, and `settle` waits for the next beat.
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
      await new Promise((resolve) => setTimeout(resolve, 30));
      // No beat arrived in all that time, so the watcher has ended. The thread has answered since, so the stall's end is unknown.
      endedMs = undefined;
      timeline.flush();
    },
    stop: () => {
      stopped = true;
      listen("removeEventListener");
      timers.stop();
      detector = undefined;
      heart.leave(listener);
      timeline.stop();
    },
  };
}

/** Returns a stall with known edges. Its error is the clock's resolution, which is 0.1 ms in a page without isolation. */
function heldSince(startMs: number, endMs: number): Found {
  return { startMs, endMs, earliestMs: startMs, errorMs: 0.1, unwokenMs: 0 };
}

/** Checks at each frame until `enough` returns true, for at most `msMax`. The limit is for pages that show no frames. */
function untilFrames(enough: () => boolean, msMax: number): Promise<void> {
  return new Promise((resolve) => {
    let over = false;
    const finish = (): void => {
      over = true;
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(finish, msMax);
    const look = (): void => {
      if (over) return;
      if (enough()) finish();
      else requestAnimationFrame(look);
    };
    look();
  });
}
