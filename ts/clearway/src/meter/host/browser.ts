// SPDX-License-Identifier: MIT OR Apache-2.0
import { BeatDetector } from "../detect/beats.js";
import type { Found } from "../detect/turns.js";
import type { SourceState, StallReport } from "../report.js";
import { heart } from "./browser-heart.js";
import { openTimeline } from "./browser-timeline.js";
import type { ObserveOptions, Observer, Sink } from "./host.js";

const inPage = typeof document !== "undefined";

export const kind: StallReport["host"] = inPage ? "browser" : "browser-worker";

export const now = (): number => performance.now();

/** Bounds the start of a stall to plus or minus 1 ms. What it costs is in docs/meter.md. */
const beatMsDefault = 2;
/** Plus or minus half a millisecond, for the length of a measurement. */
const beatMsBrief = 1;
/** Without a worker the page's own timers beat. Chromium holds them back up to 8 ms; under this they tell nothing. */
const timerFloorMs = 20;
const timerBeatMs = 8;
/** The display's rate is known after so many frames. */
const readyFrames = 5;
/** A watcher that wakes later than this was held by the machine, or by the thread that it watches. */
const heldMsMin = 2.5;
/** Entries about a frame come after it was shown. */
const settleMs = 150;

export function observe(options: ObserveOptions, sink: Sink): Observer {
  const beatMs = options.beatMs ?? (options.brief ? beatMsBrief : beatMsDefault);
  let detector = new BeatDetector(options.floorMs);
  const timeline = openTimeline(sink);
  let stopped = false;
  let beginMs = now();
  let hiddenSinceMs: number | undefined;
  let endedMs: number | undefined;
  let frames = 0;
  let timerBeat: ReturnType<typeof setTimeout> | undefined;

  const report = (found: Found | undefined): void => {
    if (found) sink.found(found);
  };
  /** The first beat after a run's end tells whether the thread was held when it ended. */
  const finishAt = (found: Found | undefined): void => {
    const endMs = endedMs ?? now();
    endedMs = undefined;
    // Where the watcher itself was kept from its core until after the end, other evidence has to tell when the stall began.
    if (found && found.earliestMs < endMs) report({ ...found, startMs: Math.min(found.startMs, endMs), endMs });
  };
  const onBeat = (sentMs: number, atMs: number, heldMs: number): void => {
    if (hiddenSinceMs !== undefined) return;
    const found = detector.beat(sentMs, atMs, heldMs);
    if (endedMs === undefined) report(found);
    else finishAt(found);
    if (heldMs > heldMsMin) sink.watcherHeld(sentMs + detector.lagMinMs - heldMs, sentMs + detector.lagMinMs);
  };
  const startBeats = (): void => {
    heart.use(onBeat, beatMs);
    if (heart.why !== undefined) beatByTimer();
  };
  const beatByTimer = (): void => {
    if (stopped || timerBeat !== undefined) return;
    detector = new BeatDetector(Math.max(options.floorMs, timerFloorMs));
    detector.restart(now());
    let dueMs = now() + timerBeatMs;
    const tick = (): void => {
      const atMs = now();
      if (hiddenSinceMs === undefined) report(detector.beat(dueMs, atMs));
      dueMs = atMs + timerBeatMs;
      timerBeat = setTimeout(tick, timerBeatMs);
    };
    timerBeat = setTimeout(tick, timerBeatMs);
  };
  const onFrame = (atMs: number): void => {
    if (stopped) return;
    frames++;
    sink.frame(atMs);
    requestAnimationFrame(onFrame);
  };
  const onVisibility = (): void => {
    if (document.visibilityState === "hidden") {
      hiddenSinceMs ??= now();
      detector.restart(undefined);
      heart.leave(onBeat);
    } else if (hiddenSinceMs !== undefined) {
      sink.hidden(hiddenSinceMs, now());
      hiddenSinceMs = undefined;
      startBeats();
    }
  };

  startBeats();
  void heart.ready.then(() => {
    if (heart.why !== undefined) beatByTimer();
  });
  if (inPage) {
    document.addEventListener("visibilitychange", onVisibility);
    onVisibility();
    if (options.frames) requestAnimationFrame(onFrame);
  }

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
    begin: () => {
      beginMs = now();
      endedMs = undefined;
      detector.restart(hiddenSinceMs === undefined ? beginMs : undefined);
      if (hiddenSinceMs !== undefined) hiddenSinceMs = beginMs;
      return beginMs;
    },
    held: () => {
      const atMs = now();
      if (hiddenSinceMs === undefined && atMs - beginMs >= options.floorMs) {
        report(heldSince(beginMs, atMs));
        detector.held(atMs);
      }
      return atMs;
    },
    end: (held) => {
      const atMs = now();
      if (hiddenSinceMs !== undefined) {
        sink.hidden(hiddenSinceMs, atMs);
        hiddenSinceMs = atMs;
      } else if (held) report(heldSince(beginMs, atMs));
      else if (heart.why === undefined) {
        // Who settles can wait for the next beat. Who cannot takes silence for a stall, also a silent watcher's.
        if (options.brief) {
          endedMs = atMs;
          return atMs;
        }
        report(detector.finish(atMs, beatMs));
      }
      detector.restart(atMs);
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
      clearTimeout(timerBeat);
      if (inPage) document.removeEventListener("visibilitychange", onVisibility);
      heart.leave(onBeat);
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
