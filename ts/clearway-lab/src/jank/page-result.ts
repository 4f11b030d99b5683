// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes a run's record from what a page and its browser told.
import type { Stall, StallReport } from "clearway/meter";
import { type Cause, explain, lastCause } from "./cause.js";
import type { PageDocument } from "./document-log.js";
import type { Evidence, Sample } from "./evidence.js";
import { figuresOf } from "./figures.js";
import { locateCause } from "./locate.js";
import type { End, FoundStall, Run } from "./record.js";
import { httpReader, SourceMapper } from "./source-map.js";
import type { StepStart } from "./steps.js";
import { findDocument, type TraceEvent, traceSamples, traceSpans } from "./trace.js";

export interface PageFacts {
  readonly end: End;
  readonly documents: readonly PageDocument[];
  readonly starts: readonly StepStart[];
  readonly events: readonly TraceEvent[];
  /** Whether the browser has a trace. */
  readonly isTraced: boolean;
  /** The time in which a page without a trace did not answer until the end, in milliseconds since the epoch. */
  readonly silentMs?: readonly [fromMs: number, untilMs: number];
  /** When the run ended, before a page that does not answer was stopped. On the clock of `wallMs`. */
  readonly endedMs?: number;
  readonly loaded: ReadonlySet<string>;
  /** Whether the page is a local file. */
  readonly local: boolean;
  readonly notes: readonly string[];
}

export async function pageRun(facts: PageFacts): Promise<Run> {
  const { end, documents, starts, events, loaded, local, notes, isTraced, silentMs, endedMs } = facts;
  const mapper = new SourceMapper(httpReader(loaded));
  // The empty page at the start, and the browser's own error page.
  const own = documents.filter(({ url }) => /^(https?|file):/.test(url));
  const stalls: FoundStall[] = [];
  const evidences = own.map((document) => evidenceOf(document, events));
  const found = own.map((document, index) => {
    const next = own[index + 1];
    return reportOf(document, next, evidences[index]!, next === undefined ? silentMs : undefined);
  });
  let last: Cause | undefined;
  for (const [index, document] of own.entries()) {
    const evidence = evidences[index]!;
    const site = { origin: originOf(document.url), local };
    for (const stall of found[index]!.stalls) {
      stalls.push({
        startMs: document.wallMs - own[0]!.wallMs + stall.startMs,
        lengthMs: stall.lengthMs,
        errorMs: stall.errorMs,
        ...(stall === found[index]!.open ? { open: true as const } : {}),
        during: stepOf(stall.startMs + stall.errorMs, index, own, starts),
        cause: await locateCause(explain(stall, evidence), mapper, site),
      });
    }
    last = lastCause(evidence, endedMs === undefined ? undefined : endedMs - document.wallMs);
  }
  const unfinished = end.outcome !== "completed" && end.outcome !== "failed" && last !== undefined;
  const partial = own.filter(({ report }) => report === undefined).length;
  return {
    ...end,
    startedAt: new Date(own[0]?.wallMs ?? Date.now()).toISOString(),
    figures: figuresOf(found),
    stalls,
    ...(unfinished ? { last: await locateCause(last!, mapper, { origin: originOf(own.at(-1)!.url), local }) } : {}),
    notes: [
      ...notes,
      ...(partial === 0
        ? []
        : [
            `${partial} of ${own.length} documents ended without a report: their last stall is ${isTraced ? "known from the profile alone" : "unknown, or known from the page's silence alone"}`,
          ]),
      ...mapper.notes,
    ],
    sources: own.at(-1)?.report?.sources ?? [],
    reports: own.flatMap(({ report }) => report ?? []),
  };
}

interface DocumentReport extends Pick<StallReport, "durationMs" | "stalls" | "frames"> {
  readonly open?: Stall | undefined;
}

/**
 * Returns a document's report, with the stalls that it told afterwards: its last report may be from before it was left. Without a report,
 * returns what is known: the stalls that it told, and one that had not ended.
 */
function reportOf(
  document: PageDocument,
  next: PageDocument | undefined,
  evidence: Evidence,
  silentMs: PageFacts["silentMs"],
): DocumentReport {
  const { report } = document;
  const leftMs = next === undefined ? 0 : next.wallMs - document.wallMs;
  const told = document.stalls.filter((stall) => stall.startMs > (report?.stalls.at(-1)?.startMs ?? -1));
  if (report !== undefined && told.length === 0) return report;
  const silence = silentMs?.map((ms) => Math.max(0, ms - document.wallMs)) as [number, number] | undefined;
  const open = report === undefined ? openStall(silence ?? busyAtEnd(evidence.samples)) : undefined;
  const stalls = [...(report?.stalls ?? []), ...told, ...(open === undefined ? [] : [open])];
  const knownMs = Math.max(report?.durationMs ?? 0, document.heardMs, leftMs);
  const durationMs = stalls.reduce((most, stall) => Math.max(most, stall.startMs + stall.lengthMs), knownMs);
  if (report !== undefined) return { ...report, stalls, durationMs };
  const frames = { hz: 60, expected: Math.round((durationMs * 60) / 1000), dropped: 0, estimated: true };
  return { durationMs, stalls, frames, open };
}

/** The shortest stall that is taken from the profile, or from a page's silence, in milliseconds. A shorter one may be the page's last ordinary work. */
const OPEN_MS_MIN = 50;

/** Returns the time since the thread was last idle. */
function busyAtEnd(samples: readonly Sample[]): [fromMs: number, untilMs: number] {
  let idleUntilMs = 0;
  let untilMs = 0;
  for (const { atMs, ms, state } of samples) {
    untilMs = Math.max(untilMs, atMs + ms);
    if (state === "idle") idleUntilMs = Math.max(idleUntilMs, atMs + ms);
  }
  return [idleUntilMs, untilMs];
}

/** Returns the stall in which a run ended. */
function openStall([fromMs, untilMs]: readonly [number, number]): Stall | undefined {
  const lengthMs = untilMs - fromMs;
  if (lengthMs < OPEN_MS_MIN) return undefined;
  return {
    startMs: fromMs,
    lengthMs,
    errorMs: 1,
    cause: "unknown",
    because: "the thread did not answer until the run ended",
    machineMs: 0,
    gcMs: 0,
    scripts: [],
    stacks: [],
    marks: [],
  };
}

function evidenceOf(document: PageDocument, events: readonly TraceEvent[]): Evidence {
  const clock = findDocument(events, document.id);
  if (clock === undefined) return { samples: [], spans: [], scripts: document.scripts };
  return {
    samples: traceSamples(events, clock, document.beginMs),
    spans: traceSpans(events, clock, document.beginMs),
    scripts: document.scripts,
  };
}

/** Returns the step during which a stall of a document began. A step that navigates causes the stalls of the next document's load. */
function stepOf(atMs: number, index: number, documents: readonly PageDocument[], starts: readonly StepStart[]): string {
  const earlier = new Set(documents.slice(0, index).map(({ id }) => id));
  const { id, beginMs } = documents[index]!;
  const begun = starts.filter(
    (start) => earlier.has(start.documentId) || (start.documentId === id && start.atMs - beginMs <= atMs),
  );
  return begun.at(-1)?.step ?? "load";
}

/** Returns the origin of an address, which is what the page told, so it may be anything. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
