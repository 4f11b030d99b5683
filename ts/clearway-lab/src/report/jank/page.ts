// SPDX-License-Identifier: MIT OR Apache-2.0
// Renders the HTML report of a measured page or script: one file that fetches nothing and is readable without scripts.
import type { CauseKind } from "../../jank/cause.js";
import { countedRuns, type FoundStall, type JankReport, type Run, type Subject } from "../../jank/record.js";
import { deviceText } from "../../ratio/device-time.js";
import { Html, html, STYLE, scrolling, unbroken } from "../html.js";
import { shown } from "../number.js";
import {
  budgetText,
  causeDetails,
  causeTitle,
  comparedHeadline,
  comparedText,
  figureRows,
  headline,
  KIND_TITLES,
  lastSeen,
  ms,
  notes,
  placeText,
  plural,
  problems,
  withSteps,
} from "./words.js";

/** The number of stalls that a table lists. All are in the JSON. */
const STALLS_MAX = 200;

export function jankHtml(report: JankReport): string {
  const subject = report.subjects[0];
  const [first, ...others] = [comparedHeadline(report) ?? [], report.subjects.map(headline)].flat();
  const when = report.startedAt.replace("T", " ").slice(0, 16);
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Jank of ${subject!.name}</title><link rel="icon" href="data:,"><style>${new Html(STYLE)}</style></head>
<body><main>
<header><p class="kicker">Clearway jank</p><h1>${unbroken(first!)}</h1>
${others.length > 0 ? html`<ul class="advice">${others.map((other) => html`<li>${unbroken(other)}</li>`)}</ul>` : html``}
<p class="meta">${when} UTC, ${report.runtime}, ${plural(report.repeat, "run")}${report.subjects.length > 1 ? " each, interleaved" : ""}${report.steps.length > 0 ? html`; steps: ${report.steps.join(", ")}` : html``}.${report.device === undefined ? html`` : html` There: ${deviceText(report.device)}.`}</p></header>
${doubts(report)}
${budget(report)}
${comparison(report)}
<h2>Timeline</h2>${timelineChart(
    "Stalls over the time of each run",
    report.subjects.flatMap((each) => strips(each, report.subjects.length > 1)),
    "time since the start of the run (ms)",
    "no stall",
  )}${legend(report)}
${report.subjects.map((each) => subjectSection(each))}
</main></body></html>
`;
  return page.text;
}

function doubts(report: JankReport): Html {
  const all = [...problems(report).map((problem) => `Stopped: ${problem}`), ...lastSeen(report), ...notes(report)];
  if (all.length === 0) return html``;
  return html`<aside class="doubt"><h2>${problems(report).length > 0 ? "What went wrong" : "Notes"}</h2><ul>${all.map((line) => html`<li>${unbroken(line)}</li>`)}</ul></aside>`;
}

function budget({ budget: results, device }: JankReport): Html {
  if (results.length === 0) return html``;
  return html`<h2>Budget</h2>${table(
    "budget",
    ["result", "figure and limit"],
    results.map((result) => [result.kept ? "within" : "over", budgetText(result, device?.ratio)]),
  )}`;
}

function comparison({ subjects, comparison: figures }: JankReport): Html {
  if (figures.length === 0) return html``;
  const rows = figures.map((figure) => [figure.name, comparedText(figure).replace("->", "→")]);
  return html`<h2>Before and after</h2><p>Before: ${subjects[1]!.name}. After: ${subjects[0]!.name}. A ratio is after divided by before; ${plural(figures[0]!.pairs, "interleaved pair")}.</p>${table("before and after", ["figure", "before and after"], rows)}`;
}

/** The colour of a stall in the timeline, by its cause: a class of the report's dots, and a variable of its style sheet. */
const KIND_COLOURS: Readonly<Record<CauseKind, string>> = {
  script: "peer",
  parse: "sky",
  layout: "warm",
  gc: "gold",
  paint: "teal",
  machine: "lime",
  unknown: "reference",
};

/** Names the colours that the timeline has. */
function legend({ subjects }: JankReport): Html {
  const kinds = new Set(
    subjects.flatMap(({ runs }) => runs.flatMap(({ stalls }) => stalls.map(({ cause }) => cause.kind))),
  );
  const entries = (Object.keys(KIND_COLOURS) as CauseKind[]).filter((kind) => kinds.has(kind));
  if (entries.length === 0) return html``;
  return html`<ul class="legend">${entries.map((kind) => html`<li><span class="dot ${KIND_COLOURS[kind]}"></span>${KIND_TITLES[kind]}</li>`)}</ul>`;
}

/** Returns a strip for each run of a subject. */
function strips({ name, role, runs }: Subject, compared: boolean): Strip[] {
  const end = name.length > 24 ? `…${name.slice(-23)}` : name;
  const short = compared ? `${role === "subject" ? "after" : "before"}: ${end}` : end;
  return runs.map(({ figures, stalls }, index) => ({
    title: runs.length === 1 ? short : `${short}, run ${index + 1}`,
    totalMs: Math.max(figures.durationMs, ...stalls.map(({ startMs, lengthMs }) => startMs + lengthMs)),
    longestMs: Math.max(figures.longestMs, figures.machineMs),
    stalls: stalls.map(({ startMs, lengthMs, cause }) => ({
      at: startMs,
      ms: lengthMs,
      color: `var(--${KIND_COLOURS[cause.kind]})`,
    })),
  }));
}

function subjectSection(subject: Subject): Html {
  const runs = countedRuns(subject.runs);
  return html`<h2>${subject.name}</h2>
${table(`figures of ${subject.name}`, ["figure", runs.length > 1 ? `median of ${runs.length} runs` : "value"], figureRows(subject))}
<h3>Causes${subject.there === undefined ? html`` : html` (times here)`}</h3>${subject.causes.length === 0 ? html`<p>No stall was found.</p>` : html``}
${withSteps(subject.causes).map(
  ({ group, step }) => html`<h4>${unbroken(ms(group.totalMs))}: ${causeTitle(group.cause)}</h4>
<p>${unbroken(`${plural(group.stalls, "stall")}, the longest ${ms(group.longestMs)}: ${group.cause.because}.`)}</p>
${step === undefined ? html`` : html`<p class="next">${step}</p>`}
${causeDetails(group).length > 0 ? html`<dl>${causeDetails(group).map(detail)}</dl>` : html``}`,
)}
${subject.runs.map((run, index) => stallTable(subject.name, run, subject.runs.length === 1 ? "" : ` of run ${index + 1}`))}`;
}

/** Renders a detail such as `code: work()`. */
function detail(line: string): Html {
  const at = line.indexOf(": ");
  const value = line.slice(at + 2);
  return html`<dt>${line.slice(0, at)}</dt><dd>${line.startsWith("code: ") ? html`<code>${value}</code>` : unbroken(value)}</dd>`;
}

function stallTable(name: string, { stalls }: Run, whose: string): Html {
  if (stalls.length === 0) return html``;
  const rows = stalls
    .slice(0, STALLS_MAX)
    .map((stall) => [
      ms(stall.startMs),
      ms(stall.lengthMs),
      stall.during,
      stall.cause.kind,
      stall.cause.place === undefined ? stall.cause.because : placeOf(stall),
    ]);
  const more =
    stalls.length > STALLS_MAX
      ? html`<p class="hint">${stalls.length - STALLS_MAX} more are in jank.json.</p>`
      : html``;
  return html`<details><summary>All stalls${whose} (${stalls.length})</summary>${table(`all stalls${whose} of ${name}`, ["at", "length", "during", "kind", "where"], rows)}${more}</details>`;
}

function placeOf({ cause: { place, original } }: FoundStall): string {
  const name = original?.functionName || place!.functionName || "(anonymous)";
  return `${name} (${original === undefined ? placeText(place!) : `${original.source}:${original.line}`})`;
}

function table(label: string, heads: readonly string[], rows: readonly (readonly string[])[]): Html {
  const whole = html`<table><thead><tr>${heads.map((head) => html`<th class="text" scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map(([first, ...rest]) => html`<tr><th scope="row">${unbroken(first!)}</th>${rest.map((cell) => html`<td class="text">${unbroken(cell)}</td>`)}</tr>`)}</tbody></table>`;
  return scrolling(label, whole);
}

// Draws a stall timeline: one strip for each run, as long as the run. The coloured parts are stalls of the main thread.

export interface Strip {
  title: string;
  totalMs: number;
  longestMs: number;
  /** The stalls, with their colours in CSS. */
  stalls: { at: number; ms: number; color: string }[];
}

/** Units of the drawing's width. The page stretches it. */
const WIDTH = 1000;
const HEIGHT = 22;
/** A stall of a millisecond would be thinner than a pixel. */
const STALL_WIDTH_MIN = 1.5;

/** Draws a strip per row, all on one time axis. `noStall` is the text of a strip without a stall. */
function timelineChart(label: string, strips: readonly Strip[], timeLabel: string, noStall: string): Html {
  const end = Math.max(1, ...strips.map(({ totalMs }) => totalMs));
  const x = (ms: number): string => ((ms / end) * WIDTH).toFixed(1);
  const width = (ms: number): string => Math.max(STALL_WIDTH_MIN, (ms / end) * WIDTH).toFixed(1);
  const lane = ({ title, totalMs, longestMs, stalls }: Strip): Html => {
    const longest = longestMs === 0 ? noStall : `longest ${shown(longestMs)} ms`;
    const bars = stalls.map(
      ({ at, ms, color }) => html`<rect x="${x(at)}" width="${width(ms)}" height="${HEIGHT}" fill="${color}"/>`,
    );
    return html`<div class="lane"><p>${unbroken(`${title}: ${longest}`)}</p><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}: ${title}"><rect width="${x(totalMs)}" height="${HEIGHT}" fill="var(--track)"/>${bars}</svg></div>`;
  };
  return html`<div class="chart timeline">${strips.map(lane)}<p class="time"><span>0</span><span>${timeLabel}</span><span>${shown(end)}</span></p></div>`;
}
