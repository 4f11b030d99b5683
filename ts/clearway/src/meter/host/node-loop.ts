// SPDX-License-Identifier: MIT OR Apache-2.0
import { performance } from "node:perf_hooks";
import { type Found, TurnDetector } from "../detect/turns.js";
import type { Sink } from "./host.js";
import { RunQueue } from "./node-run-queue.js";
import type { ThreadObserver } from "./node-thread.js";
import { nodeWatcher } from "./node-watcher.js";

const now = (): number => performance.now();

/** Returns how long the loop has slept. libuv counts it to the nanosecond. Unlike `eventLoopUtilization()`, this allocates nothing. */
const slept = (): number => performance.nodeTiming.idleTime;

/** Returns whether the loop reports its idle time. Deno and Bun run this file, too, and do not report it. */
export const sleepIsTold = (): boolean => Number.isFinite(performance.nodeTiming?.idleTime) && !process.versions["bun"];

/** The delay from work to the next reading, in milliseconds. No timer is faster, so the start of a stall is uncertain by up to 1 ms. */
const soonMs = 1;
/** In milliseconds. Shorter busy times come from the meter itself (measured: 10 to 60 us per reading on a cold cache). */
const workMs = 0.2;

/** Observes this thread by the idle clock of its event loop, which gives exact stalls. */
export function observeLoop(floorMs: number, beatMs: number, sink: Sink): ThreadObserver {
  const detector = new TurnDetector(floorMs, now(), slept());
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
    // Reads the run queue before reporting, because this thread's wait for a core belongs to the stall that ends here. Each timer reads it,
    // too, so that a stall does not include waits that are older than one beat.
    const busyMs = atMs - lastMs - (sleptMs - lastSleptMs);
    if (busyMs >= floorMs || phase === "timer") {
      const waitedMs = queue.take();
      if (busyMs >= floorMs && waitedMs > 0) sink.queued(atMs - Math.min(waitedMs, busyMs), atMs);
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

  // An immediate without a reference does not keep the loop from sleeping. It runs once per turn, after the poll.
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

  return {
    source: { name: "loop clock", available: true },
    begin: () => {
      const atMs = now();
      detector.restart(atMs, slept());
      nodeWatcher.answered(atMs);
      return atMs;
    },
    held: now,
    end: () => {
      const atMs = now();
      report(detector.finish(atMs, slept()));
      return atMs;
    },
    stop: () => {
      stopped = true;
      clearTimeout(soon);
      clearTimeout(beat);
      queue.close();
    },
  };
}
