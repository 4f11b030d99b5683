// SPDX-License-Identifier: MIT OR Apache-2.0
import { closeSync, openSync, readSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import { type DetectedStall, TurnDetector } from "../detect.js";
import type { Sink, ThreadObserver } from "./host.js";
import { nodeWatcher } from "./node-watcher.js";

const space = 0x20;

/**
 * Reads how long this thread was ready to run while the machine ran other threads.
 *
 * Linux counts this time to the nanosecond (`schedstat`: time run, time waited, turns). A reading is a system call of 1 to 3 us and
 * allocates nothing.
 */
class RunQueue {
  readonly #file: number | undefined;
  readonly #bytes = new Uint8Array(96);
  #waitedMs = 0;

  constructor() {
    this.#file = open();
    this.#waitedMs = this.#read();
  }

  /** Returns how long the thread has waited since the last call, in milliseconds. Returns 0 if the system does not count this. */
  take(): number {
    const before = this.#waitedMs;
    this.#waitedMs = this.#read();
    return Math.max(0, this.#waitedMs - before);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  #read(): number {
    if (this.#file === undefined) return 0;
    const bytes = this.#bytes;
    let size = 0;
    try {
      size = readSync(this.#file, bytes, 0, bytes.length, 0);
    } catch {
      return this.#waitedMs; // the thread is about to end
    }
    let at = bytes.indexOf(space) + 1;
    let nanoseconds = 0;
    for (; at < size && bytes[at] !== space; at++) nanoseconds = nanoseconds * 10 + (bytes[at] as number) - 0x30;
    return nanoseconds / 1e6;
  }
}

function open(): number | undefined {
  try {
    return openSync("/proc/thread-self/schedstat", "r");
  } catch {
    return undefined; // the system is not Linux, or its kernel lacks this count
  }
}

// Node's own timers also where a test environment has others: these can be refreshed, and let the process end.

// Read once: a test may replace the clock.
const now: () => number = performance.now.bind(performance);

/** Returns how long the loop has been idle. libuv counts it to the nanosecond. Unlike `eventLoopUtilization()`, this allocates nothing. */
const idleMs = (): number => performance.nodeTiming.idleTime;

/** Returns whether the loop reports its idle time. Deno and Bun run this file, too, and do not report it. */
export const reportsIdleTime = (): boolean =>
  Number.isFinite(performance.nodeTiming?.idleTime) && !process.versions["bun"];

/** The delay from work to the next reading, in milliseconds. No timer is faster, so the start of a stall is uncertain by up to 1 ms. */
const followUpMs = 1;
/** In milliseconds. Shorter busy times come from the meter itself (measured: 10 to 60 us per reading on a cold cache). */
const workMsMin = 0.2;

/** Observes this thread by the idle clock of its event loop, which gives exact stalls. */
export function observeLoop(floorMs: number, beatMs: number, sink: Sink): ThreadObserver {
  const detector = new TurnDetector(floorMs, now(), idleMs());
  const queue = new RunQueue();
  let stopped = false;
  let lastMs = now();
  let lastIdleMs = idleMs();
  let followUpArmed = false;
  let beatDueMs = 0;

  const emit = (stall: DetectedStall | undefined): void => {
    if (stall) sink.detected(stall);
  };
  const read = (phase: "check" | "timer"): void => {
    const atMs = now();
    const readIdleMs = idleMs();
    // Reads the run queue before reporting, because this thread's wait for a core belongs to the stall that ends here. Each timer reads it,
    // too, so that a stall does not include waits that are older than one beat.
    const busyMs = atMs - lastMs - (readIdleMs - lastIdleMs);
    if (busyMs >= floorMs || phase === "timer") {
      const waitedMs = queue.take();
      if (busyMs >= floorMs && waitedMs > 0) sink.queued(atMs - Math.min(waitedMs, busyMs), atMs);
    }
    emit(detector.read(phase, atMs, readIdleMs));
    nodeWatcher.answered(atMs);
    if (!followUpArmed && busyMs >= workMsMin) {
      followUpArmed = true;
      followUp.refresh();
      detector.dueMs = Math.min(beatDueMs, atMs + followUpMs);
    }
    lastMs = atMs;
    lastIdleMs = readIdleMs;
  };

  // An immediate without a reference does not keep the loop from sleeping. It runs once per turn, after the poll.
  const check = (): void => {
    if (stopped) return;
    setImmediate(check).unref();
    read("check");
  };
  const followUp = setTimeout(() => {
    followUpArmed = false;
    detector.dueMs = beatDueMs;
    read("timer");
  }, followUpMs).unref();
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
      detector.restart(atMs, idleMs());
      nodeWatcher.answered(atMs);
      return atMs;
    },
    blocked: now,
    end: () => {
      const atMs = now();
      for (const stall of detector.finish(atMs, idleMs())) emit(stall);
      return atMs;
    },
    stop: () => {
      stopped = true;
      clearTimeout(followUp);
      clearTimeout(beat);
      queue.close();
    },
  };
}
