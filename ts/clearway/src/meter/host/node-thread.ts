// SPDX-License-Identifier: MIT OR Apache-2.0
import { performance } from "node:perf_hooks";
import type { SourceState } from "../report.js";
import type { Observer, Sink } from "./host.js";
import { nodeWatcher } from "./node-watcher.js";
import { TimerBeats, timerFloorMs } from "./timer-beats.js";

/** Finds the stalls of a thread. Each runtime has its own implementation. */
export interface ThreadObserver extends Pick<Observer, "begin" | "blocked" | "end" | "stop"> {
  readonly source: SourceState;
}

// Read once: a test may replace the clock.
const now: () => number = performance.now.bind(performance);

/** Observes this thread by its timers. Runtimes that do not report their loop's idle time use this. */
export function observeTimers(floorMs: number, sink: Sink): ThreadObserver {
  let beginMs = now();
  const timers = new TimerBeats(floorMs, now, (stall) => {
    nodeWatcher.answered(now());
    if (stall) sink.detected(stall);
  });
  timers.start();
  /** Reports a stall with known edges: the caller did not return to the loop since `begin()`. */
  const reportBlocked = (atMs: number): void => {
    if (atMs - beginMs < floorMs) return;
    sink.detected({ startMs: beginMs, endMs: atMs, earliestMs: beginMs, errorMs: 0.1, unwokenMs: 0 });
    timers.blockedUntil(atMs);
  };
  return {
    source: {
      name: "loop clock",
      available: false,
      why: `this runtime does not tell its loop's idle time; timers stand in: stalls under ${timerFloorMs} ms are not seen`,
    },
    begin: () => {
      beginMs = now();
      timers.restart(beginMs);
      nodeWatcher.answered(beginMs);
      return beginMs;
    },
    blocked: () => {
      const atMs = now();
      reportBlocked(atMs);
      return atMs;
    },
    end: (blocked) => {
      const atMs = now();
      if (blocked) reportBlocked(atMs);
      else timers.finish(atMs);
      timers.restart(atMs);
      return atMs;
    },
    stop: () => timers.stop(),
  };
}
