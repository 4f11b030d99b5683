// SPDX-License-Identifier: MIT OR Apache-2.0
import { PerformanceObserver, performance } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";
import type { StallReport } from "../report.js";
import type { ObserveOptions, Observer, Sink } from "./host.js";
import { observeLoop, sleepIsTold } from "./node-loop.js";
import { observeTimers } from "./node-thread.js";
import { nodeWatcher } from "./node-watcher.js";

export const kind: StallReport["host"] = isMainThread ? "node" : "node-worker";

export const now = (): number => performance.now();

/**
 * The heartbeat of an idle loop. It shows the watchdog that the loop answers, and limits how far apart two runs of work can be and still
 * count as one. The loop's own clock measures the stalls, at any heartbeat. 10 ms cost 100 wakes per second.
 */
const beatMsDefault = 10;
/** The watcher's own tick. It determines the precision of delays by the machine. A lasting watch ticks half as often, to cost less. */
const tickMs = 10;
const tickMsBrief = 5;
export function observe(options: ObserveOptions, sink: Sink): Observer {
  const beatMs = options.beatMs ?? beatMsDefault;
  const thread = sleepIsTold() ? observeLoop(options.floorMs, beatMs, sink) : observeTimers(options.floorMs, sink);
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
    pass: now,
    begin: thread.begin,
    held: thread.held,
    end: thread.end,
    // Waits one tick of the watcher, and then two turns of the loop. Once per turn, Node passes on the garbage collector's reports, and
    // it calls the observer after earlier immediates. A late timer alone could run before both.
    settle: () =>
      new Promise((resolve) => {
        setTimeout(() => setImmediate(() => setImmediate(resolve)), 15);
      }),
    stop: () => {
      thread.stop();
      collections.disconnect();
      nodeWatcher.leave(watched);
    },
  };
}
