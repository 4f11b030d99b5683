// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the trace of a browser: the CPU profile and the browser's own work on the main thread of one document.
import type { Sample, Span, SpanKind } from "./evidence.js";
import { type ProfileNode, profileStacks } from "./profile.js";

/** An event of Chromium's trace. Times are in microseconds. */
export interface TraceEvent {
  readonly name: string;
  readonly cat?: string;
  readonly ph: string;
  readonly ts: number;
  readonly dur?: number;
  readonly pid: number;
  readonly tid: number;
  readonly id?: string;
  readonly args?: { readonly data?: Record<string, unknown> } & Record<string, unknown>;
}

/** What the trace must contain. `v8.cpu_profiler` takes a sample each 0.2 ms. */
export const TRACE_CATEGORIES = ["blink.user_timing", "devtools.timeline", "v8", "disabled-by-default-v8.cpu_profiler"];

/** `script` marks scripts that run inside other work, such as a parser. The time of a piece of work excludes the work inside. */
const KINDS: Readonly<Record<string, SpanKind | "script">> = {
  MinorGC: "gc",
  MajorGC: "gc",
  "BlinkGC.AtomicPhase": "gc",
  UpdateLayoutTree: "style",
  RecalculateStyles: "style",
  Layout: "layout",
  ParseHTML: "parse",
  ParseAuthorStyleSheet: "parse",
  "v8.compile": "compile",
  "v8.compileModule": "compile",
  PrePaint: "paint",
  Paint: "paint",
  Layerize: "paint",
  Commit: "paint",
  UpdateLayer: "paint",
  "Decode Image": "paint",
  EvaluateScript: "script",
  FunctionCall: "script",
  EventDispatch: "script",
  FireAnimationFrame: "script",
  FireIdleCallback: "script",
  RunMicrotasks: "script",
  TimerFire: "script",
  "v8.run": "script",
  "v8.callFunction": "script",
  "v8.evaluateModule": "script",
};

/** The main thread of a document, and the zero of its clock. */
export interface DocumentClock {
  readonly pid: number;
  readonly tid: number;
  /** The trace's time at `performance.now() === 0`, in microseconds. */
  readonly zeroUs: number;
}

/** Finds a document by the name of a `performance.mark()` that it made. Returns undefined if the trace does not have the mark. */
export function findDocument(events: readonly TraceEvent[], mark: string): DocumentClock | undefined {
  const event = events.find(({ name, cat }) => name === mark && cat?.includes("blink.user_timing"));
  if (event === undefined) return undefined;
  const startTime = event.args?.data?.["startTime"] ?? event.args?.["startTime"];
  if (typeof startTime !== "number") return undefined;
  return { pid: event.pid, tid: event.tid, zeroUs: event.ts - startTime * 1000 };
}

/** Returns the samples of a document's main thread. `fromMs` is the moment on the document's clock that becomes 0. */
export function traceSamples(events: readonly TraceEvent[], document: DocumentClock, fromMs: number): Sample[] {
  const { pid, tid, zeroUs } = document;
  const samples: Sample[] = [];
  for (const profile of events.filter((event) => event.name === "Profile" && event.pid === pid && event.tid === tid)) {
    const nodes: ProfileNode[] = [];
    const ids: number[] = [];
    const deltas: number[] = [];
    const lines: number[] = [];
    const columns: number[] = [];
    for (const event of events) {
      if (event.name !== "ProfileChunk" || event.pid !== pid || event.id !== profile.id) continue;
      const data = event.args?.data as ChunkData | undefined;
      nodes.push(...(data?.cpuProfile?.nodes ?? []));
      const own = data?.cpuProfile?.samples ?? [];
      for (const [index, id] of own.entries()) {
        ids.push(id);
        deltas.push(data?.timeDeltas?.[index] ?? 0);
        lines.push(data?.lines?.[index] ?? 0);
        columns.push(data?.columns?.[index] ?? 0);
      }
    }
    const stacks = profileStacks(nodes);
    let atUs = Number(profile.args?.data?.["startTime"] ?? profile.ts);
    for (const [index, id] of ids.entries()) {
      atUs += deltas[index]!;
      const untilUs = index + 1 < ids.length ? atUs + deltas[index + 1]! : atUs;
      const known = stacks.get(id);
      if (known === undefined) continue;
      samples.push({
        atMs: (atUs - zeroUs) / 1000 - fromMs,
        ms: Math.max(0, untilUs - atUs) / 1000,
        ...known,
        ...(lines[index]! > 0 ? { line: lines[index]! } : {}),
        ...(columns[index]! > 0 ? { column: columns[index]! } : {}),
      });
    }
  }
  return samples;
}

interface ChunkData {
  readonly cpuProfile?: { readonly nodes?: readonly ProfileNode[]; readonly samples?: readonly number[] };
  readonly timeDeltas?: readonly number[];
  readonly lines?: readonly number[];
  readonly columns?: readonly number[];
}

/** Returns the browser's own work on a document's main thread. The returned spans do not overlap. */
export function traceSpans(events: readonly TraceEvent[], document: DocumentClock, fromMs: number): Span[] {
  const own = events
    .filter(({ name, ph, pid, tid }) => ph === "X" && pid === document.pid && tid === document.tid && name in KINDS)
    .map(({ name, ts, dur = 0 }) => ({ name, kind: KINDS[name]!, fromUs: ts, untilUs: ts + dur }))
    .sort((a, b) => a.fromUs - b.fromUs || b.untilUs - a.untilUs);
  const spans: Span[] = [];
  const toMs = (us: number): number => (us - document.zeroUs) / 1000 - fromMs;
  const add = ({ name, kind }: (typeof own)[number], fromUs: number, untilUs: number): void => {
    if (kind !== "script" && untilUs > fromUs) spans.push({ kind, name, startMs: toMs(fromUs), endMs: toMs(untilUs) });
  };
  const open: (typeof own)[number][] = [];
  let atUs = 0;
  const closeUntil = (us: number): void => {
    while (open.length > 0 && open.at(-1)!.untilUs <= us) {
      const ended = open.pop()!;
      add(ended, atUs, ended.untilUs);
      atUs = Math.max(atUs, ended.untilUs);
    }
  };
  for (const each of own) {
    closeUntil(each.fromUs);
    const outer = open.at(-1);
    if (outer !== undefined) add(outer, atUs, each.fromUs);
    atUs = each.fromUs;
    open.push(each);
  }
  closeUntil(Number.POSITIVE_INFINITY);
  return spans;
}
