// SPDX-License-Identifier: MIT OR Apache-2.0
import { PerformanceObserver, performance } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";
import { OwnPromise, setImmediate, setTimeout } from "../../globals.js";
import type { StallReport } from "../report.js";
import type { ObserveOptions, Observer, Sink, ThreadObserver } from "./host.js";
import { observeLoop, reportsIdleTime } from "./node-loop.js";
import { nodeWatcher } from "./node-watcher.js";
import { TimerBeats, timerFloorMs } from "./timer-beats.js";

export const kind: StallReport["host"] = isMainThread ? "node" : "node-worker";

// Read once: a test may replace the clock.
export const now: () => number = performance.now.bind(performance);

/** Returns the step of `now()` in milliseconds: it counts nanoseconds. */
export const clockStepMs = (): number => 0;

/**
 * Default period of the heartbeats of an idle loop, in milliseconds. Each heartbeat shows the watchdog that the loop answers. The period
 * also limits the gap at which two runs of work can count as one. The period does not affect how the loop's clock measures a stall. 10 ms
 * cost 100 wake-ups per second.
 */
const beatMsDefault = 10;
/** Time between the watcher's ticks, in ms. A shorter time gives more precise delays by the machine, but costs more. */
const tickMs = 10;
const tickMsBrief = 5;
export function observe(options: ObserveOptions, sink: Sink): Observer {
  const beatMs = options.beatMs ?? beatMsDefault;
  const thread = reportsIdleTime() ? observeLoop(options.floorMs, beatMs, sink) : observeTimers(options.floorMs, sink);
  const collections = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sink.garbageCollected(entry.startTime, entry.startTime + entry.duration);
  });
  collections.observe({ type: "gc" });

  const watcherSink = {
    stacks: options.stacks,
    beatMs,
    watcherLate: (startMs: number, endMs: number) => sink.watcherLate(startMs, endMs),
    stack: (atMs: number, frames: readonly string[]) => sink.stack(atMs, frames),
  };
  nodeWatcher.addSink(watcherSink, options.brief ? tickMsBrief : tickMs);
  return {
    ready: () => nodeWatcher.whenReady(),
    settleMs: 30,
    sources: () => [
      thread.source,
      { name: "garbage collection", available: true },
      ...nodeWatcher
        .sources()
        .map((source) =>
          source.name === "stacks" && !options.stacks
            ? { name: "stacks", available: false, why: "turned off by the option stacks" }
            : source,
        ),
    ],
    flushHidden: now,
    begin: thread.begin,
    blocked: thread.blocked,
    end: thread.end,
    // Waits longer than one tick of the watcher, and then for two turns of the loop. Node passes on the garbage collector's reports once
    // per turn, and calls the observer after earlier immediates. A timer alone could run before both.
    settle: () =>
      new OwnPromise((resolve) => {
        setTimeout(() => setImmediate(() => setImmediate(resolve)), 15);
      }),
    stop: () => {
      thread.stop();
      collections.disconnect();
      nodeWatcher.removeSink(watcherSink);
    },
  };
}

/** Observes this thread by its timers. Runtimes that do not report their loop's idle time use this. */
function observeTimers(floorMs: number, sink: Sink): ThreadObserver {
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
