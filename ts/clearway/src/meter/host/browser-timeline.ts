// SPDX-License-Identifier: MIT OR Apache-2.0
import type { SourceState } from "../report.js";
import type { Sink } from "./host.js";

/** The fields of long-animation-frame entries that the meter uses. TypeScript's DOM library does not declare them yet. */
interface LoafScript extends PerformanceEntry {
  readonly sourceURL: string;
  readonly sourceFunctionName: string;
  readonly invoker: string;
  readonly forcedStyleAndLayoutDuration: number;
}
interface LoafEntry extends PerformanceEntry {
  readonly scripts: readonly LoafScript[];
}

export interface Timeline {
  readonly sources: readonly SourceState[];
  /** Passes the entries that the browser has queued to the sink. */
  flush(): void;
  stop(): void;
}

/** Observes the browser's entries about long tasks and long animation frames, if the browser has them. */
export function openTimeline(sink: Sink): Timeline {
  const sources: SourceState[] = [];
  const open: { observer: PerformanceObserver; take: (entries: PerformanceEntryList) => void }[] = [];
  const listen = (name: string, type: string, take: (entry: PerformanceEntry) => void): void => {
    if (typeof PerformanceObserver === "undefined" || !PerformanceObserver.supportedEntryTypes.includes(type)) {
      sources.push({ name, available: false, why: `this browser or scope has no ${type} entries` });
      return;
    }
    const takeAll = (entries: PerformanceEntryList): void => {
      for (const entry of entries) take(entry);
    };
    const observer = new PerformanceObserver((list) => takeAll(list.getEntries()));
    observer.observe({ type });
    open.push({ observer, take: takeAll });
    // Observed in Chromium 156: an embedded frame gets long tasks but no long animation frames.
    if (type === "long-animation-frame" && window.top !== window)
      sources.push({ name, available: false, why: "an embedded frame is told of no scripts, only its top page is" });
    else sources.push({ name, available: true });
  };
  listen("long tasks", "longtask", (entry) => sink.task(entry.startTime, entry.startTime + entry.duration));
  listen("scripts", "long-animation-frame", (entry) => {
    for (const script of (entry as LoafEntry).scripts) {
      sink.script(script.startTime, script.startTime + script.duration, {
        url: script.sourceURL,
        functionName: script.sourceFunctionName,
        invoker: script.invoker,
        durationMs: script.duration,
        layoutMs: script.forcedStyleAndLayoutDuration,
      });
    }
  });
  return {
    sources,
    flush: () => {
      for (const { observer, take } of open) take(observer.takeRecords());
    },
    stop: () => {
      for (const { observer } of open) observer.disconnect();
    },
  };
}
