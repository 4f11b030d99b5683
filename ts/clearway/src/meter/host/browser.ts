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

/** Bounds the start of a stall to plus or minus 1 ms. What it costs is in docs/meter.md. */
const beatMsDefault = 2;
/** Plus or minus half a millisecond, for the length of a measurement. */
const beatMsBrief = 1;
/** The display's rate is known after so many frames. */
const readyFrames = 5;
/** A watcher that wakes later than this was held by the machine, or by the thread that it watches. */
const heldMsMin = 2.5;
/** No scheduler leaves a ready thread for so long: page and watcher both slept, with the machine or in a frozen tab. */
const asleepMsMin = 10_000;
/** Entries about a frame come after it was shown. */
const settleMs = 150;

export function observe(options: ObserveOptions, sink: Sink): Observer {
  const timeline = openTimeline(sink);
  let stopped = false;
  let beginMs = now();
  let hiddenSinceMs: number | undefined;
  let endedMs: number | undefined;
  let frames = 0;
  /** Of the heart's beats; `undefined` while the page's own timers beat in its place. */
  let detector: BeatDetector | undefined;
  let periodMs = 0;

  const report = (found: Found | undefined): void => {
    if (found) sink.found(found);
  };
  const timers = new TimerBeats(options.floorMs, now, report);
  /** The first beat after a run's end tells whether the thread was held when it ended. */
  const finishAt = (found: Found | undefined): void => {
    const endMs = endedMs ?? now();
    endedMs = undefined;
    // Where the watcher itself was kept from its core until after the end, other evidence has to tell when the stall began.
    if (found && found.earliestMs < endMs) report({ ...found, startMs: Math.min(found.startMs, endMs), endMs });
  };
  /** Reports the stall that is open at `atMs`: silence is taken for one, also a silent watcher's. */
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
  // Neither a frozen page nor one that waits in the history runs, and not every browser says that it is hidden first.
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
        // What settles can wait for the next beat.
        else if (options.brief && detector) {
          endedMs = atMs;
          return atMs;
        } else finish(atMs);
      }
      restart(atMs);
      return atMs;
    },
    settle: async () => {
      // Two frames of its own, whether or not frames are counted: entries come after the frame that they are about.
      let shown = 0;
      if (inPage && hiddenSinceMs === undefined) await untilFrames(() => shown++ >= 2, 250);
      await new Promise((resolve) => setTimeout(resolve, 30));
      // Not one beat in all that time: the watcher is gone, and the thread has answered since, so there is no telling.
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

/** A stall of known edges: that of the clock, which a page without isolation has in steps of 0.1 ms. */
function heldSince(startMs: number, endMs: number): Found {
  return { startMs, endMs, earliestMs: startMs, errorMs: 0.1, unwokenMs: 0 };
}

/** Asks at each frame, for `msMax` at most: a page that shows none must neither hang this nor be asked for ever. */
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
