// SPDX-License-Identifier: MIT OR Apache-2.0
// Renders the trend of kept runs as a page: one file that fetches nothing and has no script.
import type { Trend, TrendMachine, TrendRun, TrendSeries } from "../../records/trend-data.js";
import { rangeText } from "../answer-text.js";
import { Html, html } from "../html.js";
import { shown, times } from "../number.js";
import { scrolling } from "../scroll.js";
import { STYLE } from "../style.js";
import { multiple } from "./multiple.js";
import {
  byQuestion,
  CHANGE_RULE,
  changeText,
  headline,
  machineTitle,
  minuteOf,
  names,
  nextSteps,
  RATIOS_ONLY,
  runsText,
  TREND_TITLE,
} from "./words.js";

const TREND_STYLE = `
.multiples { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 270px), 1fr)); gap: 22px 28px; margin: 14px 0 22px; }
figure { margin: 0; min-width: 0; break-inside: avoid; } figcaption { font-size: .92rem; font-weight: 560; overflow-wrap: anywhere; } figure details { margin: 2px 0 0; }
.multiple { display: block; width: 100%; max-width: 440px; height: auto; font-size: 11.5px; color: var(--ink); } .multiple .tick { fill: var(--soft); }
.multiple .grid { stroke: var(--track); } .multiple .one { stroke: var(--faint); stroke-dasharray: 3 3; } .multiple .path { fill: none; stroke: var(--clearway); stroke-width: 1.2; stroke-opacity: .55; }
.multiple .interval { stroke: var(--clearway); stroke-width: 4; stroke-opacity: .4; stroke-linecap: round; } .multiple .dot-decided { fill: var(--clearway); stroke: var(--page); } .multiple .dot-open { fill: var(--page); stroke: var(--clearway); stroke-width: 1.6; }
.multiple line.change { stroke-width: 1.4; stroke-dasharray: 4 3; } .multiple line.worse { stroke: var(--doubt); } .multiple line.better { stroke: var(--clearway); } .multiple text.worse { fill: var(--doubt); font-weight: 640; } .multiple text.better { fill: var(--clearway); font-weight: 640; }
.worse-text { color: var(--doubt); font-weight: 640; } .better-text { color: var(--clearway); font-weight: 640; } .changes li { margin: 0 0 8px; overflow-wrap: anywhere; }
`;

export function trendHtml(trend: Trend): string {
  const steps = nextSteps(trend);
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${TREND_TITLE}</title><link rel="icon" href="data:,"><style>${new Html(STYLE + TREND_STYLE)}</style></head>
<body><main>
<header><p class="kicker">${TREND_TITLE}</p><h1>${headline(trend)}</h1>
${steps.length === 0 ? html`` : html`<ul class="verdicts">${steps.map((step) => html`<li>${step}</li>`)}</ul>`}
${trend.machines.length === 0 ? html`` : html`<p class="meta">${RATIOS_ONLY}</p><p class="meta">${CHANGE_RULE} A filled dot is a decided comparison; an open one is not decided, or shows no difference. The bar is the interval.</p>`}</header>
${problems(trend)}
${trend.machines.map((machine) => machineSection(machine))}
</main></body></html>
`;
  return page.text;
}

function problems({ problems: all }: Trend): Html {
  if (all.length === 0) return html``;
  return html`<aside class="doubt"><h2>Left out</h2><ul>${all.map(({ folder, problem }) => html`<li>${problem.startsWith(folder) ? problem : `${folder}: ${problem}`}</li>`)}</ul></aside>`;
}

function machineSection(machine: TrendMachine): Html {
  return html`<section><h2>${machineTitle(machine)}</h2><p class="meta">${runsText(machine)}</p>
${changes(machine)}
${byQuestion(machine).map(([question, own]) => {
  const named = names(own);
  return html`<h3>${question}</h3><div class="multiples">${own.map((series) => figure(named.get(series)!, series, machine.runs))}</div>`;
})}
${runsTable(machine)}</section>`;
}

/** Lists the changes of a machine, the newest first. */
function changes(machine: TrendMachine): Html {
  const all = byQuestion(machine).flatMap(([question, own]) => {
    const named = names(own);
    return own.flatMap((series) =>
      series.changes.map((change) => ({ question, name: named.get(series)!, series, change })),
    );
  });
  if (machine.runs.length < 2) return html``;
  if (all.length === 0) return html`<p>No comparison changed with evidence.</p>`;
  all.sort((a, b) => b.change.run - a.change.run);
  return html`<h3>What changed</h3><ul class="changes">${all.map(({ question, name, series, change }) => {
    const { what, differs } = changeText(change, series, machine.runs);
    const { verdict } = change;
    return html`<li>${question} <b>${name}</b>: <span class="${verdict}-text">${verdict}</span>${what.slice(verdict.length)}. <span class="meta">${differs}.</span></li>`;
  })}</ul>`;
}

function figure(name: string, series: TrendSeries, runs: readonly TrendRun[]): Html {
  const { points, changes: own, better, subject, reference } = series;
  const table = html`<table><thead><tr><th class="text" scope="col">run</th><th scope="col">ratio</th><th scope="col">interval</th><th class="text" scope="col">verdict</th><th scope="col">rounds</th><th scope="col">noise</th><th class="text" scope="col">commit</th><th class="text" scope="col">change</th></tr></thead><tbody>${points.map(
    (point) => {
      const run = runs[point.run]!;
      const change = own.find((each) => each.run === point.run);
      return html`<tr><th scope="row">${minuteOf(run.startedAt)}</th><td>${times(point.ratio)}</td><td>${rangeText(point)}</td><td class="text">${point.why === undefined ? point.verdict : `${point.verdict}: ${point.why}`}</td><td>${point.rounds}</td><td>${point.floor === undefined ? "unknown" : times(point.floor)}</td><td class="text">${run.commit ?? ""}</td><td class="text">${change === undefined ? "" : `${change.verdict}, ${shown(change.factor)} times`}</td></tr>`;
    },
  )}</tbody></table>`;
  return html`<figure><figcaption>${name}</figcaption>${multiple(name, series, runs)}
<details><summary>Figures</summary><p class="hint">${subject} / ${reference}, ${series.metric}; ${better} is better for ${subject}.</p>${scrolling(name, table)}</details></figure>`;
}

/** Returns the last part of a folder's path. The rest is of no use to the readers of a page. */
function nameOf(folder: string): string {
  return folder.split(/[\\/]/).findLast((part) => part !== "") ?? folder;
}

function runsTable(machine: TrendMachine): Html {
  const versions = [...new Set(machine.runs.flatMap((run) => Object.keys(run.versions)))];
  const heads = ["run", "profile", "Clearway", "lab", "commit", "folder", ...versions];
  const table = html`<table><thead><tr>${heads.map((head) => html`<th class="text" scope="col">${head}</th>`)}</tr></thead><tbody>${machine.runs.map(
    ({ startedAt, profile, clearway, lab, commit, folder, versions: own }) =>
      html`<tr><th scope="row">${minuteOf(startedAt)}</th>${[profile, clearway, lab, commit ?? "", nameOf(folder), ...versions.map((name) => own[name] ?? "")].map((text) => html`<td class="text lead">${text}</td>`)}</tr>`,
  )}</tbody></table>`;
  return html`<h3>The runs</h3>${scrolling(`the runs of ${machineTitle(machine)}`, table)}`;
}
