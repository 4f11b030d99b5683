// SPDX-License-Identifier: MIT OR Apache-2.0
import { kind, now, observe } from "#meter-host";
import { dispose, setTimeout, unref, wallMs } from "../globals.js";
import type { Observer } from "./host/host.js";
import {
  check,
  floorMsDefault,
  hzDefault,
  listener,
  type MeterOptions,
  meterRules,
  type Rules,
  stallsMaxDefault,
  wholeNumber,
} from "./options.js";
import { Recorder, type RecorderOptions } from "./recorder.js";
import type { Stall, StallReport } from "./report.js";

/** Settings of one kind of run, in addition to the common options. */
interface RunSettings extends Pick<RecorderOptions, "onStall" | "onDetected"> {
  readonly stallsMax?: number | undefined;
  /** See `ObserveOptions.brief`. */
  readonly brief?: boolean;
}

/** Starts to observe this thread and records the observations. The caller must have checked the options. */
export function start(options: MeterOptions, settings: RunSettings): { recorder: Recorder; observer: Observer } {
  const floorMs = options.floorMs ?? floorMsDefault;
  const recorder: Recorder = new Recorder({
    host: kind,
    label: options.label,
    hz: options.hz ?? hzDefault,
    floorMs,
    stallsMax: settings.stallsMax ?? stallsMaxDefault,
    sources: () => observer.sources(),
    onStall: settings.onStall,
    onDetected: settings.onDetected,
  });
  const observer = observe(
    {
      floorMs,
      stacks: options.stacks ?? true,
      frames: options.frames ?? true,
      beatMs: options.beatMs,
      brief: settings.brief ?? false,
    },
    recorder,
  );
  return { recorder, observer };
}

/** Options of {@link watch}. */
export interface WatchOptions extends MeterOptions {
  /**
   * The maximum number of kept stalls. Default: 10,000. Beyond that number the oldest stalls are dropped. The report then covers the time
   * after the last dropped stall.
   */
  readonly stallsMax?: number | undefined;
  /** Receives each stall once its cause is known, up to 150 ms after the stall's end. Must not throw. */
  readonly onStall?: ((stall: Stall) => void) | undefined;
}

/** A running watch of this thread. A watch keeps no process alive, except while a promise from `ready` is pending. */
export interface Watch {
  /** Settles when each source of evidence runs or is known to be unavailable. Until then, the watch finds stalls but fewer causes. */
  readonly ready: Promise<void>;
  /**
   * Returns the report so far, without a stall that still lasts. Each call computes the report from the kept stalls, in O(n log n).
   */
  report(): StallReport;
  /** Begins a new run and forgets all recorded stalls. First passes those that `onStall` has not received to it, also one that still lasts. */
  reset(): void;
  /** Stops watching. After this, `report()` returns the final report, and further calls of `stop()` do nothing. */
  stop(): void;
  /** Stops watching at the end of a `using` block. */
  [Symbol.dispose](): void;
}

const watchRules: Rules = { ...meterRules, stallsMax: wholeNumber(1), onStall: listener };

/**
 * Watches this thread until `stop()` is called. docs/meter.md states the cost of a watch.
 *
 * Throws `RangeError` or `TypeError` for an invalid option, before it starts anything.
 */
export function watch(options: WatchOptions = {}): Watch {
  check(options, watchRules);
  const { recorder, observer } = start(options, {
    stallsMax: options.stallsMax,
    onStall: options.onStall,
    onDetected: () => {
      // Explains the stall later, when its evidence has arrived. The watch may have stopped by that time.
      const timer = setTimeout(() => recorder.explain(now() - observer.settleMs), observer.settleMs + 1);
      unref(timer);
    },
  });
  recorder.begin(observer.begin(), wallMs());
  let finalReport: StallReport | undefined;
  let stopped = false;
  let resetting = false;
  const stop = (): void => {
    if (stopped) return;
    stopped = true;
    const endMs = observer.end(false);
    try {
      recorder.explain(endMs);
    } finally {
      finalReport = recorder.report(endMs);
      observer.stop();
    }
  };
  return {
    get ready() {
      return observer.ready();
    },
    report: () => finalReport ?? recorder.report(observer.flushHidden()),
    reset: () => {
      if (stopped) return;
      try {
        // Not again if `onStall` calls this: each call of it may be a stall.
        if (!resetting) {
          resetting = true;
          recorder.explain(observer.end(false));
        }
      } finally {
        resetting = false;
        recorder.begin(observer.begin(), wallMs());
      }
    },
    stop,
    [dispose]: stop,
  } as Watch;
}
