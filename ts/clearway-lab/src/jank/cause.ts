// SPDX-License-Identifier: MIT OR Apache-2.0
// Explains a stall: the kind of its cause, and the function and line that ran. The meter's rule holds here too: a cause must account for at
// least half of the stall. The meter's own verdict about the machine comes first, because a thread that does not run cannot block.
import type { Stall } from "clearway/meter";
import type { Evidence, Sample, Span, StackFrame } from "./evidence.js";
import { heaviestPath } from "./heaviest-path.js";

export type CauseKind = "script" | "parse" | "layout" | "gc" | "paint" | "machine" | "unknown";

/** A place in a script. Lines and columns count from 1. */
export interface Place {
  readonly functionName: string;
  readonly url: string;
  /** The line that ran most. If it is not known, the line at which the function begins. */
  readonly line?: number;
  readonly column?: number;
  /** The line and column at which the function begins, if the engine knows them. */
  readonly functionLine?: number;
  readonly functionColumn?: number;
  /** The index of the function in its source, if the browser knows nothing else about its place. */
  readonly charPosition?: number;
}

export interface Cause {
  readonly kind: CauseKind;
  /** The part of the stall that this cause explains, in milliseconds. */
  readonly ms: number;
  readonly because: string;
  /** What the stall consisted of, in milliseconds. Only parts of 1 ms or more. */
  readonly parts: Partial<Parts>;
  /** The function that ran. For a cause of the machine, the function that would have run. */
  readonly place?: Place;
  /** The calls that lead to `place`, outermost first, without `place` itself. */
  readonly callers: readonly Place[];
  /** The engine's own function that ran on behalf of `place`, such as `parse`. */
  readonly builtIn?: string;
  /** What called the script, as the browser names it: `TimerHandler:setTimeout`. */
  readonly invoker?: string;
}

/** The part of the meter's stall that an explanation needs. */
export type Explained = Pick<
  Stall,
  "startMs" | "lengthMs" | "errorMs" | "cause" | "because" | "machineMs" | "gcMs" | "scripts" | "stacks"
>;

/** Scripts of the tool itself have addresses with this start. They are never a cause. */
export const TOOL_URL = "clearway-jank:";
/** The files of the tool in the process of a measured script. */
const TOOL_FILE = /\/clearway-lab\/dist\//;

/** Explains one stall. `evidence` has the clock of the stall's report. */
export function explain(stall: Explained, evidence: Evidence): Cause {
  const fromMs = stall.startMs - stall.errorMs;
  const untilMs = stall.startMs + stall.lengthMs;
  const samples = within(evidence.samples, fromMs, untilMs).filter((sample) => !isTools(sample));
  const spans = evidence.spans
    .filter(({ startMs, endMs }) => endMs > fromMs && startMs < untilMs)
    .sort((a, b) => a.startMs - b.startMs);
  const scripts = evidence.scripts
    .filter(({ url }) => !isTool(url))
    .map((script) => ({ script, ms: Math.min(untilMs, script.endMs) - Math.max(fromMs, script.startMs) }))
    .filter(({ ms }) => ms > 0)
    .sort((a, b) => b.ms - a.ms);
  const named = scripts.map(({ script }) => script);
  const bounded = (value: number): number => Math.min(stall.lengthMs, value);
  const spent = (...kinds: Span["kind"][]): number =>
    spans
      .filter(({ kind }) => kinds.includes(kind))
      .reduce((sum, span) => sum + Math.min(untilMs, span.endMs) - Math.max(fromMs, span.startMs), 0);
  const sampled = (state: Sample["state"]): number =>
    samples.reduce((sum, sample) => sum + (sample.state === state ? sample.ms : 0), 0);
  const forcedMs = named.reduce((sum, { layoutMs }) => sum + layoutMs, 0);
  const parts: Parts = {
    script: bounded(sampled("script")),
    gc: bounded(Math.max(stall.gcMs, spent("gc"), sampled("gc"))),
    layout: bounded(Math.max(spent("style", "layout"), forcedMs)),
    parse: bounded(spent("parse", "compile")),
    paint: bounded(spent("paint")),
  };
  const found = place(stall, samples, named);
  const where = whereOf(found, named[0]);
  const half = stall.lengthMs / 2;
  // Layout that a script forces is a part of its own, not of the script.
  const pure = samples.filter(({ atMs, state }) => state === "script" && !isIn(spans, atMs));
  const disjoint = { ...parts, script: bounded(pure.reduce((sum, sample) => sum + sample.ms, 0)) };
  const shown = Object.fromEntries(Object.entries(disjoint).filter(([, value]) => value >= 1)) as Partial<Parts>;
  const cause = (kind: CauseKind, causeMs: number, because: string, at: Where = { callers: [] }): Cause => ({
    kind,
    ms: causeMs,
    because,
    parts: shown,
    ...at,
  });
  if (stall.cause === "machine") return cause("machine", stall.machineMs, stall.because, where);
  if (parts.gc >= half) return cause("gc", parts.gc, `garbage collection took ${ms(parts.gc)} of it`, where);
  if (parts.layout >= half) {
    const how = forcedMs >= parts.layout / 2 ? `, ${ms(forcedMs)} of that forced by a script` : "";
    const because = `style and layout took ${ms(parts.layout)} of it${how}`;
    return cause("layout", parts.layout, because, forcedBy(stall, samples, spans, named, forcedMs > 0));
  }
  if (parts.parse >= half)
    return cause("parse", parts.parse, `the browser parsed and compiled for ${ms(parts.parse)} of it`);
  const frameMs = scripts[0]?.ms ?? 0;
  if (found.place !== undefined && (parts.script >= half || found.fromStack || frameMs >= half)) {
    const shareMs = bounded(found.ms || frameMs || stall.lengthMs);
    return cause("script", shareMs, ranFor(nameOf(found.place), shareMs), where);
  }
  if (parts.paint >= half) return cause("paint", parts.paint, `painting took ${ms(parts.paint)} of it`);
  if (parts.script >= half)
    return cause(
      "script",
      parts.script,
      `scripts ran for ${ms(parts.script)} of it, no function for half of it`,
      where,
    );
  if (stall.cause === "gc") return cause("gc", stall.gcMs, stall.because, where);
  return cause("unknown", stall.lengthMs, mixture(stall, shown));
}

type Parts = Record<"script" | "gc" | "layout" | "parse" | "paint", number>;

/** How a reader knows the parts of a stall. */
const PART_TITLES: Readonly<Record<keyof Parts, string>> = {
  script: "scripts",
  gc: "garbage collection",
  layout: "style and layout",
  parse: "parsing",
  paint: "painting",
};

type Where = Pick<Cause, "place" | "callers" | "builtIn" | "invoker">;

function whereOf(found: Found, script: Evidence["scripts"][number] | undefined): Where {
  return {
    ...(found.place === undefined ? {} : { place: found.place }),
    callers: found.callers,
    ...(found.builtIn === undefined ? {} : { builtIn: found.builtIn }),
    ...(script === undefined || script.invoker === "" ? {} : { invoker: script.invoker }),
  };
}

/** Finds the function that made the browser compute the layout. Layout that no function forced has no place. */
function forcedBy(
  stall: Explained,
  samples: readonly Sample[],
  spans: readonly Span[],
  scripts: Evidence["scripts"],
  forced: boolean,
): Where {
  const inLayout = spans.filter(({ kind }) => kind === "layout" || kind === "style");
  const during = samples.filter(({ atMs, state }) => state === "script" && isIn(inLayout, atMs));
  const found = place(stall, during, forced ? scripts : []);
  return found.ms > 0 || forced ? whereOf(found, scripts[0]) : { callers: [] };
}

/** Returns whether a moment lies in one of the spans, which are in order and do not overlap. */
function isIn(spans: readonly Span[], atMs: number): boolean {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]!.startMs <= atMs) low = middle + 1;
    else high = middle;
  }
  return low > 0 && atMs < spans[low - 1]!.endMs;
}

interface Found {
  readonly place: Place | undefined;
  readonly callers: readonly Place[];
  readonly builtIn: string | undefined;
  readonly ms: number;
  /** Whether the meter's own sample of the stack names the place. */
  readonly fromStack: boolean;
}

/** Finds the function: from the profile, else from the long animation frame, else from the meter's samples of the stack. */
function place(stall: Explained, samples: readonly Sample[], scripts: Evidence["scripts"]): Found {
  const path = heaviestPath(
    samples.filter(({ state }) => state === "script"),
    isApp,
  );
  if (path !== undefined) {
    const last = path.frames.at(-1)!;
    const callers = path.frames.slice(0, -1).map((frame) => placeOf(frame, undefined));
    const own = placeOf(last, path.line === undefined ? calledAt(last, stall) : (path as RanAt));
    return { place: own, callers, builtIn: path.builtIn, ms: path.ms, fromStack: false };
  }
  const script = scripts.find(({ url, functionName }) => url !== "" && functionName !== undefined);
  if (script !== undefined) {
    const { url, functionName, charPosition } = script;
    const own = { functionName, url, ...(charPosition >= 0 ? { charPosition } : {}) };
    return { place: own, callers: [], builtIn: undefined, ms: 0, fromStack: false };
  }
  const frames = (stall.stacks[0]?.frames ?? []).flatMap((text) => parseStackFrame(text) ?? []).filter(isApp);
  const [own, ...callers] = frames;
  return { place: own, callers: callers.reverse(), builtIn: undefined, ms: 0, fromStack: own !== undefined };
}

export function isApp({ url }: Pick<StackFrame, "url">): boolean {
  return url !== "" && !url.startsWith("node:") && !isTool(url);
}

function isTool(url: string): boolean {
  return url.startsWith(TOOL_URL) || TOOL_FILE.test(url);
}

/** Returns whether the tool ran: it is the outermost of the stack's functions that have a file. */
function isTools({ stack }: Sample): boolean {
  const outermost = stack.find(({ url }) => url !== "" && !url.startsWith("node:"));
  return outermost !== undefined && isTool(outermost.url);
}

interface RanAt {
  readonly line: number;
  readonly column?: number | undefined;
}

function placeOf({ functionName, url, line, column }: StackFrame, ran: RanAt | undefined): Place {
  const at = ran ?? { line, column };
  return {
    functionName,
    url,
    ...(at.line === undefined ? {} : { line: at.line }),
    ...(at.column === undefined ? {} : { column: at.column }),
    ...(line === undefined ? {} : { functionLine: line }),
    ...(column === undefined ? {} : { functionColumn: column }),
  };
}

/** Returns the place that the meter's samples of the stack show for this function. A profile has none while it calls another function. */
function calledAt(frame: StackFrame, stall: Explained): RanAt | undefined {
  for (const { frames } of stall.stacks)
    for (const text of frames) {
      const parsed = parseStackFrame(text);
      if (parsed?.url === frame.url && parsed.functionName === frame.functionName && parsed.line !== undefined)
        return { line: parsed.line, column: parsed.column };
    }
  return undefined;
}

/** Parses a frame of an error's stack: `name (file:///a.js:3:9)` or `file:///a.js:3:9`. */
export function parseStackFrame(text: string): Place | undefined {
  const match = /^(?:(.*?) \(|async )?(.+?):(\d+):(\d+)\)?$/.exec(text);
  if (match === null) return undefined;
  const functionName = (match[1] ?? "").replace(/^(async|new) /, "").replace(/ \[as .*\]$/, "");
  const place = match[2]!;
  const url = place.startsWith("/") ? `file://${encodeURI(place)}` : place;
  return { functionName: functionName.split(".").at(-1)!, url, line: Number(match[3]), column: Number(match[4]) };
}

function within(samples: readonly Sample[], fromMs: number, untilMs: number): Sample[] {
  return samples.flatMap((sample) => {
    const overlapMs = Math.min(untilMs, sample.atMs + sample.ms) - Math.max(fromMs, sample.atMs);
    return overlapMs > 0 ? [{ ...sample, ms: overlapMs }] : [];
  });
}

/** Says what a stall without a main cause consists of. */
function mixture(stall: Explained, parts: Partial<Parts>): string {
  const known = partsText(parts);
  return known === "" ? stall.because : `nothing took half of it: ${known}`;
}

/** Returns the parts of a stall, the largest first: `scripts 210 ms, garbage collection 90.1 ms`. */
export function partsText(parts: Partial<Parts>): string {
  return (Object.entries(parts) as [keyof Parts, number][])
    .sort(([, a], [, b]) => b - a)
    .map(([name, value]) => `${PART_TITLES[name]} ${ms(value)}`)
    .join(", ");
}

/** Returns `work ran for 90.0 ms of it`. */
export function ranFor(name: string, shareMs: number): string {
  return `${name} ran for ${ms(shareMs)} of it`;
}

export function nameOf({ functionName }: Pick<Place, "functionName">): string {
  return functionName === "" ? "(anonymous)" : functionName;
}

function ms(value: number): string {
  return `${value >= 100 ? value.toFixed(0) : value.toFixed(1)} ms`;
}

/** The time before the end of an unfinished run that is searched for what ran, in milliseconds. */
const LAST_MS = 1000;

/**
 * Explains the last second before `endMs`, or of the samples: what ran when a run did not complete. Returns undefined if nothing took half of
 * it. Samples after `endMs` are of a page whose code was stopped.
 */
export function lastCause(evidence: Evidence, endMs = Number.POSITIVE_INFINITY): Cause | undefined {
  const sampledMs = evidence.samples.reduce((most, { atMs, ms }) => Math.max(most, atMs + ms), 0);
  const untilMs = Math.min(sampledMs, endMs);
  if (untilMs <= 0) return undefined;
  const lengthMs = Math.min(LAST_MS, untilMs);
  const nothing = {
    errorMs: 0,
    cause: "unknown",
    because: "",
    machineMs: 0,
    gcMs: 0,
    scripts: [],
    stacks: [],
  } as const;
  const cause = explain({ startMs: untilMs - lengthMs, lengthMs, ...nothing }, evidence);
  return cause.kind === "unknown" ? undefined : cause;
}
