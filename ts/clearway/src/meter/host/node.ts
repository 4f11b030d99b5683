// SPDX-License-Identifier: MIT OR Apache-2.0
import { PerformanceObserver, performance } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";
import { type Found, TurnDetector } from "../detect/turns.js";
import type { StallReport } from "../report.js";
import type { ObserveOptions, Observer, Sink } from "./host.js";
import { RunQueue } from "./node-run-queue.js";
import { nodeWatcher } from "./node-watcher.js";

export const kind: StallReport["host"] = isMainThread ? "node" : "node-worker";

export const now = (): number => performance.now();

/** Time that the loop slept, kept by libuv to the nanosecond. Unlike `eventLoopUtilization()` it allocates nothing. */
const slept = (): number => performance.nodeTiming.idleTime;

/**
 * The heartbeat of a quiet loop. It only tells the watchdog that the loop lives, and bounds how long two runs of work
 * can be taken for one; stalls are measured by the loop's own clock whatever it is. 10 ms cost 100 wakes a second.
 */
const beatMsDefault = 10;
/** The watcher's own tick: how finely the machine's doing is seen. Half as often for a lasting watch, for its cost. */
const tickMs = 10;
const tickMsBrief = 5;
/** After work the next reading follows this soon: it bounds what cannot be told apart to the 1 ms of a timer. */
const soonMs = 1;
/** Less than this since the last reading is the meter itself (measured: 10 to 60 us a reading on a cold cache). */
const workMs = 0.2;

export function observe(options: ObserveOptions, sink: Sink): Observer {
  const beatMs = options.beatMs ?? beatMsDefault;
  const detector = new TurnDetector(options.floorMs, now(), slept());
  const queue = new RunQueue();
  let stopped = false;
  let lastMs = now();
  let lastSleptMs = slept();
  let soonArmed = false;
  let beatDueMs = 0;

  const report = (found: Found | undefined): void => {
    if (found) sink.found(found);
  };
  const read = (phase: "check" | "timer"): void => {
    const atMs = now();
    const sleptMs = slept();
    // Before it is reported: what the thread waited belongs to the run that ends here. Else with each beat, so that nothing older
    // than one is counted.
    const busyMs = atMs - lastMs - (sleptMs - lastSleptMs);
    if (busyMs >= options.floorMs || phase === "timer") {
      const waitedMs = queue.take();
      if (busyMs >= options.floorMs && waitedMs > 0) sink.queued(atMs - Math.min(waitedMs, busyMs), atMs);
    }
    report(detector.read(phase, atMs, sleptMs));
    nodeWatcher.answered(atMs);
    if (!soonArmed && busyMs >= workMs) {
      soonArmed = true;
      soon.refresh();
      detector.dueMs = Math.min(beatDueMs, atMs + soonMs);
    }
    lastMs = atMs;
    lastSleptMs = sleptMs;
  };

  // An immediate without a reference does not keep the loop from sleeping, and runs once a turn, after the poll.
  const check = (): void => {
    if (stopped) return;
    setImmediate(check).unref();
    read("check");
  };
  const soon = setTimeout(() => {
    soonArmed = false;
    detector.dueMs = beatDueMs;
    read("timer");
  }, soonMs).unref();
  const beat = setTimeout(() => {
    beat.refresh();
    beatDueMs = now() + beatMs;
    detector.dueMs = beatDueMs;
    read("timer");
  }, beatMs).unref();
  beatDueMs = now() + beatMs;
  detector.dueMs = beatDueMs;
  setImmediate(check).unref();

  const collections = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sink.garbageCollected(entry.startTime, entry.startTime + entry.duration);
  });
  collections.observe({ type: "gc" });

  const watched = {
    stacks: options.stacks,
    watcherHeld: (startMs: number, endMs: number) => sink.watcherHeld(startMs, endMs),
    stack: (atMs: number, frames: readonly string[]) => sink.stack(atMs, frames),
  };
  nodeWatcher.use(watched, beatMs, options.brief ? tickMsBrief : tickMs);
  return {
    ready: () => nodeWatcher.whenReady(),
    settleMs: 30,
    sources: () => [
      { name: "loop clock", available: true },
      { name: "garbage collection", available: true },
      ...nodeWatcher
        .sources()
        .map((source) =>
          source.name === "stacks" && !options.stacks
            ? { name: "stacks", available: false, why: "turned off by the option stacks" }
            : source,
        ),
    ],
    // The loop's own clock of idle time tells it exactly.
    held: now,
    begin: () => {
      const atMs = now();
      detector.restart(atMs, slept());
      nodeWatcher.answered(atMs);
      return atMs;
    },
    end: () => {
      const atMs = now();
      report(detector.finish(atMs, slept()));
      return atMs;
    },
    // One tick of the watcher, and two turns for the collector's entries.
    settle: () => new Promise((resolve) => setTimeout(resolve, 15)),
    stop: () => {
      stopped = true;
      clearTimeout(soon);
      clearTimeout(beat);
      collections.disconnect();
      queue.close();
      nodeWatcher.leave(watched);
    },
  };
}
