// SPDX-License-Identifier: MIT OR Apache-2.0
// The sentences about a measured page or script, for terminals and for the page.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type CauseKind, type Place, partsText } from "../../jank/cause.js";
import { BUDGET_FIGURES, type BudgetName, type BudgetResult, type Figures, type Frames } from "../../jank/figures.js";
import type { CauseGroup, ComparedFigure, JankReport, LocatedCause, Run, Subject } from "../../jank/record.js";
import { ratioText } from "../../ratio/device-time.js";
import { OTHERS_MIN } from "../answers/words.js";

/** Stalls shorter than a frame at 60 Hz cost no frame there. The text lists only the longer ones; the page and the JSON list all. */
export const NOTABLE_MS = 1000 / 60;

export function ms(value: number): string {
  return `${value >= 1000 ? group(value) : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ms`;
}

function group(value: number): string {
  return value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, " ");
}

export function figureText(name: BudgetName, value: number): string {
  const { unit } = BUDGET_FIGURES[name];
  if (unit === "ms") return ms(value);
  return unit === "" ? String(value) : `${value.toFixed(1)} ${unit}`;
}

/** The sentence that a reader sees first. */
export function headline(subject: Subject): string {
  const { name, figures, runs } = subject;
  if (runs.length === 0 || figures.durationMs < 1) return `${name}: not measured.`;
  if (figures.stalls === 0)
    return `${name}: nothing found. No stall of ${floorText(runs)} or longer in ${ms(figures.durationMs)}.`;
  const longest = msThere(subject, ({ longestMs }) => longestMs);
  const costsFrame = (lengthMs: number) => lengthMs * scaleOf(subject) >= NOTABLE_MS;
  if (!costsFrame(figures.longestMs) && costsFrame(figures.machineMs))
    return `${name}: nothing of its own that costs a frame; the machine caused a stall of ${msThere(subject, ({ machineMs }) => machineMs)}.`;
  if (!costsFrame(figures.longestMs))
    return `${name}: nothing that costs a frame. The longest of ${plural(figures.stalls, "stall")} took ${longest}.`;
  if (subject.there !== undefined) return `${name}: ${plural(figures.stalls, "stall")}; the longest takes ${longest}.`;
  const share = `${ms(figures.stalledMs)} of ${ms(figures.durationMs)}`;
  return `${name}: ${plural(figures.stalls, "stall")}, ${share}; the longest took ${ms(figures.longestMs)}.`;
}

/** What the comparison found. Undefined without one. */
export function comparedHeadline({ subjects, comparison, device }: JankReport): string | undefined {
  const stall = comparison.find(({ name }) => name === BUDGET_FIGURES.stall.title);
  if (stall === undefined) return undefined;
  const [after, before] = [subjects[0]!.name, subjects[1]!.name];
  const here = device === undefined ? "" : " here";
  if (stall.before === 0 && stall.after === 0) return `${after} and ${before}: no stall of their own in either.`;
  const [own, other] = [stall.after, stall.before].map((value) => (value === 0 ? "nothing" : `${ms(value)}${here}`));
  if (isUnclear(stall))
    return `${after} and ${before}: no clear difference. The longest stalls take ${own} and ${other}: ${ratiosText(stall)}.`;
  const ratio = stall.ratio === null ? "" : `: ${ratiosText(stall)}`;
  return `${after}: the longest stall takes ${own} instead of ${other} with ${before}${ratio}.`;
}

/** Returns a compared figure: `312 ms -> 41.0 ms, ratio 0.131 (0.129 to 0.134)`. */
export function comparedText(figure: ComparedFigure): string {
  const { before, after, unit, ratio } = figure;
  const value = (of: number) => (unit === "ms" ? ms(of) : `${Number(of.toFixed(1))}${unit === "" ? "" : ` ${unit}`}`);
  const change = `${value(before)} -> ${value(after)}`;
  if (ratio === null) return change;
  return `${change}, ${ratiosText(figure)}${isUnclear(figure) ? ": no clear difference" : ""}`;
}

function ratiosText({ ratio, ratioMin, ratioMax, pairs }: ComparedFigure): string {
  return `ratio ${short(ratio!)}${pairs > 1 ? ` (${short(ratioMin!)} to ${short(ratioMax!)})` : ""}`;
}

function isUnclear({ ratioMin, ratioMax, pairs }: ComparedFigure): boolean {
  return pairs > 1 && ratioMin !== null && ratioMin <= 1 && ratioMax! >= 1;
}

function short(ratio: number): string {
  return String(Number(ratio.toPrecision(3)));
}

export function plural(count: number, noun: string): string {
  return `${Number(count.toFixed(1))} ${noun}${count === 1 ? "" : "s"}`;
}

/** The factor of the other device, or 1 without one. */
export function scaleOf({ there }: Pick<Subject, "there">): number {
  return there?.ratio ?? 1;
}

/** Returns a time of a subject: `12.0 ms`, or with another device `37.2 ms there (12.0 ms here x 3.1)`. */
function msThere({ figures, there }: Pick<Subject, "figures" | "there">, of: (figures: Figures) => number): string {
  return timesText(of(figures), there && of(there.figures), there?.ratio);
}

/** Returns `37.2 ms there (12.0 ms here x 3.1)`, or `12.0 ms` without another device. */
function timesText(hereMs: number, thereMs: number | undefined, ratio: number | undefined): string {
  if (thereMs === undefined || ratio === undefined) return ms(hereMs);
  return `${ms(thereMs)} there (${ms(hereMs)} here x ${ratioText(ratio)})`;
}

function floorText(runs: readonly Run[]): string {
  return `${Number((runs[0]?.reports[0]?.floorMs ?? 4).toPrecision(3))} ms`;
}

/** The figures of a subject, as rows of a name and a value. With another device, they are those of the device. */
export function figureRows(subject: Pick<Subject, "figures" | "there">): [string, string][] {
  const figures = subject.there?.figures ?? subject.figures;
  const { figures: here, there } = subject;
  const behind = (text: string) => (there === undefined ? "" : ` there (${text} here)`);
  return [
    [
      "longest stall",
      msThere(subject, ({ longestMs }) => longestMs) +
        (here.machineMs > here.longestMs ? `; the machine caused one of ${ms(here.machineMs)}` : ""),
    ],
    [
      "stalled",
      `${ms(figures.stalledMs)} of ${ms(figures.durationMs)}${behind(`${ms(here.stalledMs)} of ${ms(here.durationMs)}`)}`,
    ],
    ["mean lag", `${ms(figures.lagMeanMs)} for an event at a random moment${behind(ms(here.lagMeanMs))}`],
    ["dropped frames", `${framesText(figures)}${behind(framesText(here))}`],
    ["hitch ratio", `${hitchText(figures)}${behind(hitchText(here))}`],
  ];
}

function framesText({ frames60, frames120 }: Figures): string {
  return `${frames(frames60)} at 60 Hz, ${frames(frames120)} at 120 Hz`;
}

function hitchText({ hitch60, hitch120 }: Figures): string {
  return `${hitch60.toFixed(1)} ms/s at 60 Hz (${rating(hitch60)}), ${hitch120.toFixed(1)} ms/s at 120 Hz`;
}

/** Returns a limit's figure with the limit: `longest stall 37.2 ms there (12.0 ms here x 3.1), limit 35.0 ms`. */
export function budgetText({ name, value, max, here, uncertain }: BudgetResult, ratio: number | undefined): string {
  const { title, unit } = BUDGET_FIGURES[name];
  const own = figureText(name, value);
  const times = unit === "ms" && here !== undefined ? timesText(here, value, ratio) : undefined;
  const text = times ?? (here === undefined ? own : `${own} there (${figureText(name, here)} here)`);
  const doubt = uncertain === true ? "; not certain: the limit lies within the interval of the device's ratio" : "";
  return `${title} ${text}, limit ${figureText(name, max)}${doubt}`;
}

function frames({ dropped, counted }: Frames): string {
  return `${dropped}${counted ? " (counted)" : ""}`;
}

/** The strict rating of docs/meter.md. */
function rating(msPerSecond: number): string {
  return msPerSecond <= 5 ? "good" : msPerSecond <= 10 ? "warning" : "critical";
}

export const KIND_TITLES: Readonly<Record<CauseKind, string>> = {
  script: "script",
  parse: "parsing",
  layout: "style and layout",
  gc: "garbage collection",
  paint: "painting",
  machine: "the machine",
  unknown: "unknown",
};

/** Names a cause: `style and layout: resizeAll (js/list.js:12:7)`. */
export function causeTitle(cause: LocatedCause): string {
  const kind = cause.builtIn === "JSON.parse" ? "JSON.parse" : KIND_TITLES[cause.kind];
  if (cause.place === undefined) return kind;
  const { original, place, thirdParty } = cause;
  const name = original?.functionName || place.functionName || "(anonymous)";
  const engine = cause.builtIn === undefined || cause.builtIn === "JSON.parse" ? "" : `, in ${cause.builtIn}`;
  const where = original === undefined ? placeText(place) : `${original.source}:${original.line}:${original.column}`;
  return `${kind}${thirdParty ? " of a third party" : ""}: ${name} (${where})${engine}`;
}

const COPY = /^(postMessage|structuredClone)$/;

/** What a developer does about a cause, in one sentence. Pages are those of Clearway's package. */
export function nextStep({ kind, place, original, builtIn, thirdParty }: LocatedCause): string {
  switch (kind) {
    case "script": {
      if (thirdParty) return "Load this script after the first input, or leave it out.";
      if (COPY.test(builtIn ?? ""))
        return "Pass less, move buffers, or pass tables of records, which are not copied: docs/records.md.";
      if (place === undefined) return "Split the work into slices that are shorter than a frame.";
      const name = original?.functionName || place.functionName;
      const moved = name === "" ? "this function" : `${name}()`;
      const inPage = place.url.startsWith("file:") ? "" : ", or split it if it needs the DOM";
      return `Move ${moved} to a worker${inPage}: docs/recipes.md#run-a-function-in-a-worker.`;
    }
    case "parse":
      return builtIn === "JSON.parse"
        ? "Parse in a worker and return only the fields that you use: docs/recipes.md#run-a-function-in-a-worker."
        : "Send less HTML and CSS at once, and load scripts with import() when they are needed.";
    case "layout":
      return place === undefined
        ? "Change fewer elements at once, or skip those out of view with content-visibility: auto."
        : "Read the layout once, before you write to the page.";
    case "gc":
      return "Make less garbage: reuse objects, or keep rows in typed arrays or records (docs/records.md).";
    case "paint":
      return "Paint smaller areas, with fewer shadows and filters, or draw on an OffscreenCanvas in a worker.";
    case "machine":
      return "Run again on a quiet machine.";
    case "unknown":
      return "Run again: what the app causes comes back.";
  }
}

/** The causes of a subject with the next step of each. Equal steps are given once, with the first cause that has them. */
export function withSteps(causes: readonly CauseGroup[]): { group: CauseGroup; step: string | undefined }[] {
  const given = new Set<string>();
  return causes.map((group) => {
    const step = nextStep(group.cause);
    const isNew = !given.has(step);
    given.add(step);
    return { group, step: isNew ? step : undefined };
  });
}

/** Returns the address with its line and column. A file is relative to the current folder if it is in it. */
export function placeText({ url, line, column }: Place): string {
  const parts = [shortened(url), line, line === undefined ? undefined : column];
  return parts.filter((part) => part !== undefined).join(":");
}

function shortened(url: string): string {
  if (!url.startsWith("file:")) return url.replace(/[?#].*$/, "") || url;
  try {
    const file = fileURLToPath(url);
    const relative = path.relative(process.cwd(), file);
    return relative.startsWith("..") || path.isAbsolute(relative) ? file : relative;
  } catch {
    return url;
  }
}

/** The further facts of a cause, one line each. */
export function causeDetails(group: CauseGroup): string[] {
  const { cause, during } = group;
  const lines: string[] = [];
  const code = cause.original?.code ?? cause.code;
  if (code !== undefined) lines.push(`code: ${code}`);
  if (cause.original !== undefined && cause.place !== undefined) lines.push(`in the bundle: ${placeText(cause.place)}`);
  if (cause.callers.length > 0)
    lines.push(
      `called by: ${[...cause.callers]
        .reverse()
        .slice(0, 3)
        .map((caller) => `${caller.functionName || "(anonymous)"} (${placeText({ ...caller })})`)
        .join(", ")}`,
    );
  if (Object.keys(cause.parts).length > 1) lines.push(`parts: ${partsText(cause.parts)}`);
  if (cause.invoker !== undefined) lines.push(`started by: ${cause.invoker}`);
  if (during.length > 0) lines.push(`during: ${during.join(", ")}`);
  return lines;
}

/** The sentences about runs that did not complete. */
export function problems({ subjects }: JankReport): string[] {
  return subjects.flatMap(({ runs, name }) =>
    runs.flatMap(({ outcome, message }, index) =>
      outcome === "completed"
        ? []
        : [`${runs.length === 1 && subjects.length === 1 ? "" : `${name}, run ${index + 1}: `}${message ?? outcome}`],
    ),
  );
}

/** What runs that did not complete did in their last second. */
export function lastSeen({ subjects }: JankReport): string[] {
  const seen = subjects.flatMap(({ runs }) =>
    runs.flatMap(({ last }: Run) => (last === undefined ? [] : [`at the end it ran ${causeTitle(last)}`])),
  );
  return [...new Set(seen)];
}

/** The notes of all runs, each once, and the sources that were missing. */
export function notes({ subjects, deviceNotes = [] }: JankReport): string[] {
  const all = subjects.flatMap(({ runs }) => runs.flatMap((run) => [...run.notes, ...missing(run)]));
  return [...new Set([...besideOthers(subjects), ...deviceNotes, ...all])];
}

/** Says that the machine was busy, at the worst of the runs. Stalls that the machine caused are then no riddle. */
function besideOthers(subjects: JankReport["subjects"]): string[] {
  const busy = subjects
    .flatMap(({ runs }) => runs.flatMap(({ others }) => others ?? []))
    .filter(({ cores, of }) => cores >= OTHERS_MIN * of)
    .sort((a, b) => b.cores - a.cores)[0];
  if (busy === undefined) return [];
  const cores = busy.of === 1 ? "the core" : `${Math.min(busy.of, busy.cores).toFixed(1)} of ${busy.of} cores`;
  return [
    `Measured beside other programs, which used ${cores} right before. They cause stalls of the machine and lengthen the others: end them, or compare with --against and --repeat.`,
  ];
}

/** Browsers never show collections to a page, but the trace has them. */
function missing({ sources }: Run): string[] {
  return sources
    .filter(({ available, name }) => !available && name !== "garbage collection")
    .map(({ name, why }) => `not seen by the meter: ${name} (${why ?? "no reason known"})`);
}
