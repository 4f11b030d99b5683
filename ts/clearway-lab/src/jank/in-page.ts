// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in the measured page, before the page's own scripts: the meter, and the browser's entries about long animation frames.
import { watch } from "clearway/meter";
import type { FrameScript } from "./evidence.js";
import { BINDING, FLOOR, HANDLE, type PageHandle, type PageMessage } from "./message.js";

/** The fields of long-animation-frame entries that are used. TypeScript's DOM library does not declare them yet. */
interface LongFrame extends PerformanceEntry {
  readonly scripts: readonly LongFrameScript[];
}
interface LongFrameScript extends PerformanceEntry {
  readonly sourceURL: string;
  readonly sourceFunctionName: string;
  readonly sourceCharPosition: number;
  readonly invoker: string;
  readonly forcedStyleAndLayoutDuration: number;
  readonly pauseDuration: number;
}

function start(send: (text: string) => void, floorMs: number | undefined): void {
  const stringify = JSON.stringify;
  const tell = (message: PageMessage): void => send(stringify(message));
  const id = `clearway-jank-${Math.random().toString(36).slice(2)}`;
  // The mark is in the trace, where it names the document's thread and joins the clocks. The page does not see it.
  performance.mark(id);
  performance.clearMarks(id);
  const watching = watch({
    hz: 60,
    ...(floorMs !== undefined && { floorMs }),
    onStall: (stall) => tell({ type: "stall", id, stall }),
  });
  const beginMs = performance.now();
  tell({ type: "begin", id, url: location.href, beginMs, originMs: performance.timeOrigin });
  const tellFrames = (entries: PerformanceEntryList): void => {
    const scripts = entries.flatMap((entry) => (entry as LongFrame).scripts.map(frameScript));
    if (scripts.length > 0) tell({ type: "frame", id, scripts });
  };
  const observer = new PerformanceObserver((list) => tellFrames(list.getEntries()));
  if (PerformanceObserver.supportedEntryTypes.includes("long-animation-frame"))
    observer.observe({ type: "long-animation-frame", buffered: true });
  const report = (): void => {
    tellFrames(observer.takeRecords());
    tell({ type: "report", id, report: watching.report() });
  };
  // After the next document has been committed, no message arrives, so `pagehide` is too late for most navigations. The last report counts.
  for (const type of ["beforeunload", "pagehide"]) addEventListener(type, report);
  Object.defineProperty(globalThis, Symbol.for(HANDLE), { value: { id, report } satisfies PageHandle });
}

function frameScript(script: LongFrameScript): FrameScript {
  return {
    startMs: script.startTime,
    endMs: script.startTime + script.duration,
    url: script.sourceURL,
    functionName: script.sourceFunctionName,
    invoker: script.invoker,
    charPosition: script.sourceCharPosition,
    layoutMs: script.forcedStyleAndLayoutDuration,
    pauseMs: script.pauseDuration,
  };
}

const scope = globalThis as unknown as Record<string, unknown>;
const binding = scope[BINDING];
const floorMs = scope[FLOOR] as number | undefined;
delete scope[BINDING];
delete scope[FLOOR];
// Frames inside the page share its thread or have a thread of their own. Only the top document is measured.
if (window.top === window && typeof binding === "function") start(binding as (text: string) => void, floorMs);
