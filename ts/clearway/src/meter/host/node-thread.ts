// SPDX-License-Identifier: MIT OR Apache-2.0
import { performance } from "node:perf_hooks";
import type { SourceState } from "../report.js";
import type { Observer, Sink } from "./host.js";
import { nodeWatcher } from "./node-watcher.js";
import { TimerBeats, timerFloorMs } from "./timer-beats.js";

/** Finds the stalls of a thread. Each runtime has its own implementation. */
export interface ThreadObserver extends Pick<Observer, "begin" | "held" | "end" | "stop"> {
  readonly source: SourceState;
}

const now = (): number => performance.now();

/** Observes this thread by its timers. Runtimes that do not report their loop's idle time use this. */
export function observeTimers(floorMs: number, sink: Sink): ThreadObserver {
  let beginMs = now();
  const timers = new TimerBeats(floorMs, now, (found) => {
    nodeWatcher.answered(now());
    if (found) sink.found(found);
  });
  timers.start();
  /** Reports a stall with known edges: the caller did not return to the loop since `begin()`. */
  const heldUntil = (atMs: number): void => {
    if (atMs - beginMs < floorMs) return;
    sink.found({ startMs: beginMs, endMs: atMs, earliestMs: beginMs, errorMs: 0.1, unwokenMs: 0 });
    timers.held(atMs);
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
    held: () => {
      const atMs = now();
      heldUntil(atMs);
      return atMs;
    },
    end: (held) => {
      const atMs = now();
      if (held) heldUntil(atMs);
      else timers.finish(atMs);
      timers.restart(atMs);
      return atMs;
    },
    stop: () => timers.stop(),
  };
}
