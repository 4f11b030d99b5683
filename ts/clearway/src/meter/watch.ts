// SPDX-License-Identifier: MIT OR Apache-2.0
import { kind, now, observe } from "#meter-host";
import { checkMeterOptions, floorMsDefault, hzDefault, stallsMaxDefault } from "./options.js";
import { Recorder } from "./recorder.js";
import type { StallReport } from "./report.js";
import type { Stall } from "./stall.js";

export interface WatchOptions {
  /** Frame rate that hitches and estimated frames are computed for; 60 unless told. */
  readonly hz?: number;
  /** Stalls shorter than this are not recorded; 4 ms unless told. */
  readonly floorMs?: number;
  readonly label?: string;
  /** Stalls kept; 10,000 unless told. Past it the oldest are dropped and the report covers the time after them. */
  readonly stallsMax?: number;
  /** Sample the stacks of a held thread (Node); true unless told. */
  readonly stacks?: boolean;
  /** Count the display's real frames (browser); true unless told. Keeps the page rendering: see docs/meter.md. */
  readonly frames?: boolean;
  /** Time between heartbeats; see docs/meter.md for what each host needs it for. */
  readonly beatMs?: number;
  /** Called with each stall once its cause is known: up to 150 ms after its end. Must not throw. */
  readonly onStall?: (stall: Stall) => void;
}

/** A running watch over this thread. Never keeps a process alive. */
export interface Watch {
  /** Settles when every source runs or is known to be unavailable. Stalls are seen before that, with fewer causes. */
  readonly ready: Promise<void>;
  /** The report so far. Computed from the kept stalls on each call: O(n log n). */
  report(): StallReport;
  /** Begins anew: what was recorded is forgotten. */
  reset(): void;
  /** Stops watching. `report()` then gives the final report, again and again. Harmless if called twice. */
  stop(): void;
  [Symbol.dispose](): void;
}

/** Watches this thread until it is stopped. Its own cost is in docs/meter.md. */
export function watch(options: WatchOptions = {}): Watch {
  checkMeterOptions(options);
  const floorMs = options.floorMs ?? floorMsDefault;
  const recorder: Recorder = new Recorder({
    host: kind,
    label: options.label,
    hz: options.hz ?? hzDefault,
    floorMs,
    stallsMax: options.stallsMax ?? stallsMaxDefault,
    sources: () => observer.sources(),
    onStall: options.onStall,
  });
  const observer = observe(
    { floorMs, stacks: options.stacks ?? true, frames: options.frames ?? true, beatMs: options.beatMs },
    {
      found: (stall) => {
        recorder.found(stall);
        // Explained later, when the evidence is there; by then the observation may have been stopped.
        const timer = setTimeout(() => recorder.explain(now() - observer.settleMs), observer.settleMs + 1);
        (timer as { unref?: () => void }).unref?.();
      },
      watcherHeld: (startMs, endMs) => recorder.watcherHeld(startMs, endMs),
      garbageCollected: (startMs, endMs) => recorder.garbageCollected(startMs, endMs),
      task: (startMs, endMs) => recorder.task(startMs, endMs),
      script: (startMs, endMs, script) => recorder.script(startMs, endMs, script),
      stack: (atMs, frames) => recorder.stack(atMs, frames),
      hidden: (startMs, endMs) => recorder.hidden(startMs, endMs),
      frame: (atMs) => recorder.frame(atMs),
    },
  );
  recorder.begin(observer.begin(), Date.now());
  let finalReport: StallReport | undefined;
  const stop = (): void => {
    if (finalReport) return;
    const endMs = observer.end(false);
    recorder.explain(endMs);
    finalReport = recorder.report(endMs);
    observer.stop();
  };
  const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");
  return {
    get ready() {
      return observer.ready();
    },
    report: () => finalReport ?? recorder.report(now()),
    reset: () => {
      if (!finalReport) recorder.begin(observer.begin(), Date.now());
    },
    stop,
    [dispose]: stop,
  } as Watch;
}
