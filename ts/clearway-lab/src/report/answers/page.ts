// SPDX-License-Identifier: MIT OR Apache-2.0
// The report of a run: one file that fetches nothing and needs no script. It opens with what to do on this machine.
import type { Answer, LabResults } from "../../engine/answer.js";
import { EQUAL_WITHIN, quantile } from "../../engine/estimate.js";
import { hostTitle } from "../host-titles.js";
import { Html, html, STYLE, scrolling } from "../html.js";
import { duration, withMicroSign } from "../number.js";
import { openingOf, withoutAdvice } from "./advice.js";
import {
  controlText,
  doubtsOf,
  GROUPS,
  ratioText,
  sentenceOf,
  shownAnswers,
  timeText,
  unansweredOf,
  unansweredText,
} from "./words.js";

export function answersHtml(results: LabResults): string {
  const { run, machine } = results;
  const unanswered = unansweredOf(results);
  const answers = shownAnswers(results).filter((each) => !unanswered.includes(each));
  const { title, lines } = openingOf(results);
  const advice = lines.map(withMicroSign);
  const control = controlText(results);
  const doubts = doubtsOf(results);
  const when = new Date(run.startedAt).toISOString().replace("T", " ").slice(0, 16);
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Clearway lab report</title><link rel="icon" href="data:,"><style>${new Html(STYLE + OWN_STYLE)}</style></head>
<body><main>
<header><p class="kicker">Clearway ${run.kind}</p><h1>${title}</h1>
${advice.length === 0 ? html`<p>${withoutAdvice(results)}</p>` : html`<ul class="advice">${advice.map((line) => html`<li>${line}</li>`)}</ul>`}
<p class="meta">Measured ${when} UTC in ${duration(run.durationMs)}${run.interrupted ? ", interrupted" : ""}, on ${machine.cpu}, ${machine.cores} cores.</p></header>
${run.kind === "bench" ? pictureOfWays(results) : picture(answers)}
<h2>The answers</h2>
${answers.every(({ interval }) => interval === undefined) ? html`` : html`<p class="hint">Each bar says how many times as long it takes as the other, from the least to the most. The line in the middle is “as long”. Left of it, ${run.kind === "lab" ? "Clearway is faster" : "the first of the sentence is faster"}.</p>`}
${GROUPS.map(({ verdict, title }) =>
  group(
    title,
    answers.filter((answer) => answer.verdict === verdict),
    results,
    verdict === "open" ? unansweredText(results) : undefined,
  ),
)}
${control === undefined ? html`` : html`<h2>The control</h2><p>${control}</p>`}
${doubts.length === 0 ? html`` : html`<aside class="doubt"><h2>Doubts</h2><ul>${doubts.map(({ text, next }) => html`<li>${text} <span class="next">${next}.</span></li>`)}</ul></aside>`}
${figures(results)}${facts(results)}
</main></body></html>
`.text;
}

const OWN_STYLE = `
.stall { margin: 8px 0 2px; } .stall b { font-variant-numeric: tabular-nums; } .stall i { display: block; height: 22px; min-width: 2px; border-radius: 3px; background: var(--reference); } .stall.clearway i { background: var(--clearway); }
.strip { display: grid; grid-template-columns: 1fr minmax(200px, 34%); gap: 4px 24px; align-items: center; padding: 9px 0; border-top: 1px solid var(--line); } .strip p { margin: 0; max-width: none; }
.axis { position: relative; height: 26px; background: var(--track); border-radius: 4px; } .axis i { position: absolute; top: 0; bottom: 0; width: 1px; background: var(--faint); } .axis s { position: absolute; top: 9px; height: 8px; min-width: 6px; border-radius: 4px; background: var(--reference); }
.axis.faster s { background: var(--clearway); } .axis.slower s { background: var(--warm); } .axis.open s { background: none; border: 1px dashed var(--faint); }
.ends { display: flex; justify-content: space-between; font-size: .74rem; color: var(--faint); } .ends span { flex: 1; } .ends span:nth-child(2) { text-align: center; } .ends span:last-child { text-align: right; }
@media (max-width: 720px) { .strip { grid-template-columns: 1fr; } .figures { font-size: .78rem; } .figures th, .figures td { white-space: normal; min-width: 0 !important; padding: 5px 6px; } .figures tbody th { overflow-wrap: anywhere; } }
@media print { .stall i, .axis, .axis s { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
`;

/** Draws the stalls of a million rows to scale. */
function picture(answers: readonly Answer[]): Html {
  const answer = answers.find(({ name, verdict }) => name.startsWith("records-") && verdict !== "open");
  if (answer?.subjectNs === undefined || answer.peerNs === undefined) return html``;
  const { subjectNs, peerNs, host } = answer;
  const sliced = answers.find(({ name, verdict }) => name === `slices-${host}` && verdict !== "open")?.subjectNs;
  const longest = Math.max(subjectNs, peerNs, sliced ?? 0);
  const bar = (kind: string, label: string, ns: number) =>
    html`<div class="stall ${kind}"><b>${timeText(ns)}</b> ${label}<i style="width:${((ns / longest) * 100).toFixed(2)}%"></i></div>`;
  return html`<figure class="chart"><figcaption>How long ${hostTitle(host)}'s main thread is blocked while a million rows arrive, to scale</figcaption>
${bar("peer", "as objects in one message", peerNs)}${sliced === undefined ? "" : bar("clearway", "as the same objects in pieces, with Clearway", sliced)}${bar("clearway", "as a table of Clearway", subjectNs)}</figure>`;
}

/** Colours of the ways, in the order of the scenario. The way that the others are compared with has the first. */
const COLOURS = ["reference", "clearway", "peer", "warm", "sky", "rose", "lime", "gold", "teal", "brick"];

/** Draws the time of a call by each way, to scale, one picture for each input. */
function pictureOfWays({ answers }: LabResults): Html {
  const calls = answers.filter(({ verb, subjectNs }) => verb === undefined && subjectNs !== undefined);
  const ways = [...new Set(calls.flatMap(({ peer, way = "" }) => [peer, way]))];
  const inputs = [...new Set(calls.map(({ input = "" }) => input))];
  return html`${inputs.map((input) => {
    const own = calls.filter((each) => (each.input ?? "") === input);
    const bars = [
      {
        way: own[0]!.peer,
        ns: quantile(
          own.map(({ peerNs }) => peerNs!),
          0.5,
        ),
      },
      ...own.map(({ way = "", subjectNs }) => ({ way, ns: subjectNs! })),
    ];
    const longest = Math.max(...bars.map(({ ns }) => ns));
    const caption = `Time of a call${input === "" ? "" : ` with input ${input}`}, to scale`;
    return html`<figure class="chart"><figcaption>${caption}</figcaption>${bars.map(
      ({ way, ns }) =>
        html`<div class="stall"><b>${withMicroSign(timeText(ns))}</b> ${way}<i style="width:${((ns / longest) * 100).toFixed(2)}%;background:var(--${COLOURS[ways.indexOf(way) % COLOURS.length]!})"></i></div>`,
    )}</figure>`;
  })}`;
}

/** The axis of a strip ends at these ratios. Longer bars end at its border. */
const AXIS = 4;

function group(title: string, answers: readonly Answer[], results: LabResults, rest?: string): Html {
  const sentence = rest === undefined ? html`` : html`<p>${withCommand(rest)}</p>`;
  if (answers.length === 0) return rest === undefined ? html`` : html`<section><h3>${title}</h3>${sentence}</section>`;
  return html`<section><h3>${title}</h3>${sentence}${answers.map((answer) => strip(answer, results))}
<div class="strip ends-row"><span></span><div class="ends"><span>${AXIS} times shorter</span><span>equal</span><span>${AXIS} times longer</span></div></div></section>`;
}

function strip(answer: Answer, results: LabResults): Html {
  const { interval, verdict } = answer;
  const at = (ratio: number) => Math.min(100, Math.max(0, 50 + (50 * Math.log(ratio)) / Math.log(AXIS)));
  const bar =
    interval === undefined
      ? html`<span></span>`
      : html`<div class="axis ${verdict}" role="img" aria-label="${ratioText(interval.low)} to ${ratioText(interval.high)} times"><i style="left:50%"></i><s style="left:${Math.min(98, at(interval.low)).toFixed(1)}%;width:${(at(interval.high) - at(interval.low)).toFixed(1)}%"></s></div>`;
  return html`<div class="strip" id="${answer.name}"><p>${withCommand(withMicroSign(sentenceOf(answer, results)))}</p>${bar}</div>`;
}

/** Marks the command at the end of an open answer. */
function withCommand(sentence: string): Html {
  const [text = "", command] = sentence.split(/(?<=would (?:decide|answer them|do): )/);
  return command === undefined ? html`${text}` : html`${text}<code>${command}</code>`;
}

/** The figures, for readers who want all of them. In narrow pages, cells have several lines, so that nothing needs sideways scrolling. */
function figures({ answers, controls }: LabResults): Html {
  const rows = [...answers, ...controls].filter(({ pairs }) => pairs.length > 0);
  if (rows.length === 0) return html``;
  const times = ({ subjectNs, peerNs }: Answer) =>
    subjectNs === undefined || peerNs === undefined ? "–" : `${timeText(subjectNs)} / ${timeText(peerNs)}`;
  const range = ({ interval }: Answer) =>
    interval === undefined
      ? "–"
      : `${ratioText(interval.ratio)} (${ratioText(interval.low)} to ${ratioText(interval.high)})`;
  return html`<h2>All figures</h2><p class="hint">A ratio below 1 is in favour of the first one. “No difference” means: within a factor of ${EQUAL_WITHIN}. A range is an interval of 99 % over pairs of processes.</p>
${scrolling(
  "all figures",
  html`<table class="figures"><thead><tr><th class="text" scope="col">question</th><th scope="col">ratio</th><th scope="col">times</th><th scope="col">pairs</th></tr></thead><tbody>${rows.map(
    (row) =>
      html`<tr><th scope="row">${row.name}</th><td>${range(row)}</td><td>${withMicroSign(times(row))}</td><td>${row.pairs.length}</td></tr>`,
  )}</tbody></table>`,
)}
<details><summary>How each side is set up</summary><dl>${rows.map((row) => html`<dt>${row.name}</dt><dd>${row.setUp}.</dd>`)}</dl></details>`;
}

function facts({ run, machine, build }: LabResults): Html {
  const steal = machine.stealPercent === null ? "not available" : `${machine.stealPercent} %`;
  const rows: [string, string][] = [
    ["CPU", `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB`],
    ["System", `${machine.os}, ${machine.arch} (${machine.virtual}), governor ${machine.governor}`],
    ["Load before, steal", `${machine.loadBefore}, ${steal}`],
    ["Node", `${build.node}, V8 ${build.v8}`],
    ["Clearway, lab", `${build.clearway}, ${build.lab}${build.commit === null ? "" : `, commit ${build.commit}`}`],
    ["Run it again", `${run.command} --seed ${run.seed}`],
  ];
  return html`<h2>The machine and the build</h2><dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}
