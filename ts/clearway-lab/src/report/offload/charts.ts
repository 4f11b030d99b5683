// SPDX-License-Identifier: MIT OR Apache-2.0
// Renders the report's part about the family `offload`: heat maps and advice, the sweep over sizes, and the call site that changes.
import type { HostName } from "../../protocol/message.js";
import { PUBLISHED_EXECUTORS } from "../../published/executors.js";
import type { RecordedScenario, RunRecord } from "../../run/record.js";
import type { Results } from "../../run/results.js";
import { durationChart } from "../chart/durations.js";
import { heatMap } from "../chart/heat-map.js";
import { hostTitle } from "../host-titles.js";
import { type Html, html } from "../html.js";
import { withMicroSign } from "../number.js";
import { executorSection } from "../published/executor-page.js";
import { scrolling } from "../scroll.js";
import { tableHtml } from "../table-html.js";
import { adviceOf } from "./advice.js";
import { changingSentence } from "./changing-text.js";
import { regretGrid, type Temperature } from "./columns.js";
import { crossoverSentence, crossoverText, durationText, type SizeLine, sizeLines } from "./crossover-text.js";
import { regretTable, regretText, shortRegret } from "./regret-table.js";
import { worstSentence } from "./worst.js";

/** The regret below which a choice is marked as good. A regret is a time as a multiple of the best strategy's. */
const MARKED_BELOW = 1.1;

export function offloadCharts(results: Results, record: RunRecord, scenario: RecordedScenario, host: HostName): Html {
  if (scenario.name === "works") return worksCharts(results, record, host);
  if (scenario.name === PUBLISHED_EXECUTORS) return executorSection(record);
  if (scenario.name === "sizes") return sizesChart(record, host, scenario.reference);
  return html`<h4>${hostTitle(host)}</h4><p>${changingSentence(record, host) ?? ""}</p>`;
}

function worksCharts(results: Results, record: RunRecord, host: HostName): Html {
  const advice = adviceOf(results, record, host);
  return html`<h4>${hostTitle(host)}: recommended strategies</h4>
<dl class="advice">${advice.map(({ work, sentence }) => html`<dt>${work}</dt><dd>${capital(sentence)}</dd>`)}</dl>
${(["warm", "cold"] as const).map((temperature) => regretMap(record, host, temperature))}`;
}

function regretMap(record: RunRecord, host: HostName, temperature: Temperature): Html {
  const { columns, rows } = regretGrid(record, host, temperature);
  if (columns.length === 0) return html``;
  // A run for questions measures other strategies for each work, which no grid can compare.
  if (record.questions !== undefined && rows.some(({ regrets }) => regrets.includes(undefined))) return html``;
  const cells = rows.flatMap(({ cell, regrets }) =>
    regrets.flatMap((regret, at) => {
      if (regret === undefined) return [];
      const { ratio } = regret;
      const column = columns[at]?.label ?? "";
      const marked = ratio < MARKED_BELOW;
      return [{ row: cell.title, column, value: ratio, text: regretText(ratio), short: shortRegret(ratio), marked }];
    }),
  );
  const caption = `${hostTitle(host)}, ${temperature} pool: time as a multiple of the best strategy's for each kind of work`;
  const names = columns.map(({ label }) => label);
  const titles = rows.map(({ cell }) => cell.title);
  const table = regretTable(record, host, temperature);
  const [said] = worstSentence(record, host, temperature);
  return html`<h4>${caption}</h4>${heatMap(caption, titles, names, cells)}
<ul class="legend"><li>Framed: within 10 % of the best strategy, which is chosen from the other rounds. A figure under 1 was faster than that by chance. Stronger colour: slower. Blank: not measured. Strategies are sorted by their worst figure.</li></ul>
${said === undefined ? html`` : html`<p>${said}</p>`}
${table === undefined ? html`` : html`<details><summary>The same as a table, with each strategy's worst figure</summary>${tableHtml(table)}</details>`}`;
}

function sizesChart(record: RunRecord, host: HostName, reference: string): Html {
  const lines = sizeLines(record, host, reference);
  const sentence = crossoverSentence(lines, host);
  const caption = `${hostTitle(host)}: time per task in a batch, by the size of the task`;
  const series = lines.map(({ cell, points }) => ({ name: cell.title, own: cell.role === "clearway", points }));
  return html`<h4>${caption}</h4>${durationChart(caption, series, (ns) => withMicroSign(durationText(ns)))}
${sentence === undefined ? html`` : html`<p>${withMicroSign(sentence)}</p>`}${crossoverTable(caption, lines)}`;
}

function crossoverTable(caption: string, lines: readonly SizeLine[]): Html {
  const rows = lines.filter(({ crossover }) => crossover !== undefined);
  if (rows.length === 0) return html``;
  const table = html`<table><thead><tr><th class="text" scope="col">strategy</th><th class="text" scope="col">faster than on the calling thread</th></tr></thead><tbody>${rows.map(
    ({ cell, crossover }) =>
      html`<tr class="${cell.role}"><th scope="row"><span class="dot ${cell.role}"></span>${cell.title}</th><td class="text">${withMicroSign(crossoverText(crossover))}</td></tr>`,
  )}</tbody></table>`;
  return scrolling(caption, table);
}

function capital(sentence: string): string {
  return withMicroSign(sentence.charAt(0).toUpperCase() + sentence.slice(1));
}
