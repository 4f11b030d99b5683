// SPDX-License-Identifier: MIT OR Apache-2.0
// The published experiment "Which executor" on the report's page: heat map, findings, and the full table.
import { executorFindings } from "../../published/executor-findings.js";
import {
  EXECUTOR_WORKS,
  type ExecutorFigures,
  type ExecutorRow,
  type ExecutorWork,
  executorTable,
  executorTimes,
  type MeasuredRun,
} from "../../published/executors.js";
import { regretsOf } from "../../statistics/regret.js";
import { type HeatCell, heatMap } from "../chart/heat-map.js";
import { type Html, html } from "../html.js";
import { shown } from "../number.js";
import { regretText, shortRegret } from "../offload/regret-table.js";
import { scrolling } from "../scroll.js";
import { executorFindingLines } from "./executor-text.js";

/** The regret below which a way is marked as good. A regret is a time as a multiple of the fastest way's. */
const MARKED_BELOW = 1.1;

/** Renders the heat map with its caption as inline SVG: each way's time as a multiple of the fastest way's, by work. */
export function executorHeatMap(record: MeasuredRun): Html {
  const rows = executorTable(record);
  const works = measuredWorks(rows);
  const titles = new Map(rows.map((row) => [row.mechanism, titleOf(row)]));
  const cells = works.flatMap((work) =>
    [...regretsOf(executorTimes(record, work)).of].map(([mechanism, { ratio }]): HeatCell => {
      const marked = ratio < MARKED_BELOW;
      const row = titles.get(mechanism) ?? mechanism;
      return { row, column: work, value: ratio, text: regretText(ratio), short: shortRegret(ratio), marked };
    }),
  );
  const caption = "A list of 100 actions: time as a multiple of the fastest way's for each work";
  return html`<h4>${caption}</h4>${heatMap(caption, [...titles.values()], works, cells)}
<ul class="legend"><li>Framed: within 10 % of the fastest way, which is chosen from the other rounds. Stronger colour: slower. Blank: not measured. An asterisk marks the sixteen ways that run the published code.</li></ul>`;
}

/** Renders the experiment's part of the page: the heat map, the authors' findings beside ours, and the full table. */
export function executorSection(record: MeasuredRun): Html {
  const findings = executorFindingLines(record);
  return html`${executorHeatMap(record)}
<h4>What the authors found, and what this run shows</h4>
<ul>${findings.map((line) => html`<li>${line}</li>`)}</ul>
${findingsTable(record)}
<details><summary>All times: median, with the smallest and the largest of all runs</summary>${fullTable(executorTable(record))}</details>`;
}

function findingsTable(record: MeasuredRun): Html {
  const rows = executorFindings(record).flatMap(({ claim, parts }) =>
    parts.map(
      ({ label, ratio, low, high, rounds, verdict }) =>
        html`<tr><th scope="row">${claim}</th><td class="text">${label}</td><td>${numberText(ratio)}</td><td>${ratio === undefined ? "–" : `${numberText(low)} to ${numberText(high)}`}</td><td>${String(rounds)}</td><td class="text">${verdict}</td></tr>`,
    ),
  );
  const table = html`<table><thead><tr><th class="text" scope="col">finding</th><th class="text" scope="col">part</th><th scope="col">ratio</th><th scope="col">interval</th><th scope="col">rounds</th><th class="text" scope="col">verdict</th></tr></thead><tbody>${rows}</tbody></table>`;
  return html`<details><summary>Each comparison with its ratio and interval</summary>${scrolling("each comparison with its ratio and interval", table)}</details>`;
}

function fullTable(rows: readonly ExecutorRow[]): Html {
  const works = measuredWorks(rows);
  const table = html`<table><thead><tr><th class="text" scope="col">way</th>${works.map((work) => html`<th scope="col">${work}, ms</th>`)}<th scope="col">objects, ${works[0] ?? ""}</th><th scope="col">threads</th></tr></thead><tbody>${rows.map(
    (row) =>
      html`<tr><th scope="row">${titleOf(row)}</th>${works.map((work) => html`<td>${rangeText(row.figures[work])}</td>`)}<td>${numberText(works[0] && row.figures[works[0]]?.allocations)}</td><td>${numberText(threadsOf(row))}</td></tr>`,
  )}</tbody></table>`;
  return scrolling("all times", table);
}

/** Returns the largest number of threads in any work. */
function threadsOf({ figures }: ExecutorRow): number | undefined {
  const counts = Object.values(figures).flatMap(({ threads }) => threads ?? []);
  return counts.length === 0 ? undefined : Math.max(...counts);
}

function rangeText(figures: ExecutorFigures | undefined): string {
  if (figures === undefined) return "–";
  return `${shown(figures.medianMs)} (${shown(figures.minimumMs)} to ${shown(figures.maximumMs)}, ${figures.runs} runs)`;
}

function numberText(number: number | undefined): string {
  return number === undefined ? "–" : shown(number);
}

function titleOf({ title, isPublished }: ExecutorRow): string {
  return isPublished ? `* ${title}` : title;
}

function measuredWorks(rows: readonly ExecutorRow[]): ExecutorWork[] {
  return EXECUTOR_WORKS.filter((work) => rows.some(({ figures }) => figures[work] !== undefined));
}
