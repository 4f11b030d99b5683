// SPDX-License-Identifier: MIT OR Apache-2.0
// Renders the report's section of each scenario: its question, its charts and its tables.
import type { HostName } from "../protocol/message.js";
import type { RecordedCell, RecordedScenario, RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";
import type { Distribution } from "../statistics/distribution.js";
import { histogramChart } from "./chart/histograms.js";
import { stripOf, timelineChart } from "./chart/timeline.js";
import { figuresOf } from "./columns.js";
import { hostTitle } from "./host-titles.js";
import { type Html, html } from "./html.js";
import { coresText, loadText } from "./load-text.js";
import { offloadCharts } from "./offload/charts.js";
import { channelChart, codecChart, firehoseChart, poolChart, remoteChart, roleLegend } from "./range-charts.js";
import { crossingCharts, memoryCharts, uploadCharts } from "./size-charts.js";
import { byLoad, metricsFor, type Table } from "./table.js";
import { tableHtml } from "./table-html.js";
import { ordered, sortQuantile } from "./tables.js";
import { zoomable } from "./zoom.js";

/** The loads whose tables are open. They are the best-known loads of their scenarios. */
const PRIMARY_LOADS = ["1\u202f000 events/s", "8 MB, warm memory"];

export function scenarioSection(
  results: Results,
  record: RunRecord,
  scenario: RecordedScenario,
  tables: Table[],
): Html {
  const own = record.cells.filter((cell) => cell.scenario === scenario.name && !cell.control && cell.rounds.length > 0);
  const hosts = [...new Set(own.map((cell) => cell.host))];
  return html`<section id="${scenario.name}"><h3>${scenario.question}</h3>
<p>${scenario.shows}</p><p class="topology">${scenario.topology.replaceAll("->", "→")}</p>
${hosts.map((host) => {
  const cells = own.filter((cell) => cell.host === host);
  return html`${hostCharts(results, record, scenario, host, cells)}${hostTables(tables, scenario.name, host)}`;
})}${missing(record, scenario.name)}</section>`;
}

/** Renders a scenario's tables of one host. One load is open; the others are collapsed. */
function hostTables(tables: Table[], scenario: string, host: HostName): Html {
  const own = tables.filter((table) => table.scenario === scenario && table.host === host);
  // A channel has one open table for each direction, and several collapsed tables.
  const open = own.filter(({ lead, folded }) => lead !== undefined && !folded);
  const primary = own.find(({ load }) => PRIMARY_LOADS.includes(load)) ?? own[0];
  if (primary === undefined) return html``;
  const first = open.length > 0 ? open : primary.folded ? [] : [primary];
  const rest = own.filter((table) => !first.includes(table));
  const folded = rest.map((table) => html`<h4>${hostTitle(host)}: ${table.load}</h4>${tableHtml(table)}`);
  const shown = first.map(
    (table) =>
      html`${table.lead === undefined ? html`` : html`<h4>${hostTitle(host)}, ${table.load}</h4>`}${tableHtml(table)}`,
  );
  const kind = open.length > 0 ? "table" : "load";
  // A figure that occurs in each direction is named only once.
  const names = [...new Set(rest.map(({ load }) => (open.length > 0 ? load.replace(/^[^:]*: /, "") : load)))];
  const listed = names.join("") === "" ? "" : ` (${names.join("; ")})`;
  const much = first.length === 0 ? "all figures" : `${rest.length} more ${kind}${rest.length === 1 ? "" : "s"}`;
  return html`${shown}${rest.length > 0 ? html`<details><summary>${hostTitle(host)}: ${much}${listed}</summary>${folded}</details>` : html``}`;
}

function hostCharts(
  results: Results,
  record: RunRecord,
  scenario: RecordedScenario,
  host: HostName,
  cells: RecordedCell[],
  title: string = hostTitle(host),
): Html {
  const states = [...new Set(cells.map(({ params }) => coresText(params)))];
  // Threads on one core and threads on two cores have charts of their own.
  if (states.length > 1)
    return html`${states.map((state) => {
      const own = cells.filter(({ params }) => coresText(params) === state);
      return hostCharts(results, record, scenario, host, own, state === "" ? title : `${title}, ${state}`);
    })}`;
  if (["students", "fetch-image"].includes(figuresOf(scenario.name))) {
    const strips = byLoad(cells)[0]!
      .map(stripOf)
      .filter((strip) => strip !== undefined);
    // A runner of the user's may have figures and no timeline.
    if (strips.length === 0) return html`<h4>${title}</h4>`;
    const caption = `${title}: stalls of the main thread`;
    return html`<h4>${caption}</h4>${timelineChart(caption, strips)}${roleLegend("Coloured: the main thread is blocked. Pale: the main thread is free. The chart shows the median round.")}${zoomable(title, strips)}`;
  }
  if (scenario.name === "crossing") return crossingCharts(results, record, title, cells);
  if (scenario.name === "upload") return uploadCharts(results, record, title, cells);
  if (figuresOf(scenario.name) === "memset") return memoryCharts(results, record, title, cells);
  if (scenario.name === "pool") return poolChart(results, record, title, cells);
  if (figuresOf(scenario.name) === "firehose") return firehoseChart(results, record, title, cells);
  if (scenario.name.startsWith("channel-")) return channelChart(results, record, title, cells);
  if (figuresOf(scenario.name) === "codec") return codecChart(results, record, title, cells);
  if (scenario.family === "offload") return offloadCharts(results, record, scenario, host);
  if (scenario.family === "remote") return remoteChart(results, record, title, cells);
  if (figuresOf(scenario.name) === "stream") return streamChart(results, record, scenario, title, cells);
  return html`<h4>${title}</h4>`;
}

function streamChart(
  results: Results,
  record: RunRecord,
  scenario: RecordedScenario,
  title: string,
  cells: RecordedCell[],
): Html {
  const calm = cells.filter(({ params }) => params["receiver"] === "idle" && params["payloadBytes"] === 8);
  const groups = byLoad(calm);
  const group = groups.find(([first]) => first!.params["perSecond"] === 1000) ?? groups[0];
  if (group === undefined) return html``;
  const rows = ordered(results, record, scenario, group).map((cell) => ({
    cell,
    latency: metricsFor(results, record, cell)["latency"] as Distribution,
  }));
  const clockStepUs = record.hosts[group[0]!.host]?.clockStepUs ?? 0.1;
  const tail = sortQuantile(rows.map(({ latency }) => latency));
  const caption = `${title}: delay of events at ${loadText(group[0]!.params)}, smallest ${tail} first`;
  return html`<h4>${caption}</h4>${histogramChart(caption, rows, clockStepUs, tail)}${roleLegend(`Line: median.${tail === "p50" ? "" : ` Dashed: ${tail}; the rows are sorted by it.`}`)}`;
}

/** Lists the cells that could not run. Each reason appears once. */
function missing(record: RunRecord, scenario: string): Html {
  const lines = new Set<string>();
  for (const cell of record.cells) {
    const why = cell.failure === undefined ? cell.unavailable : "failed: " + cell.failure;
    if (cell.scenario === scenario && why !== undefined)
      lines.add(`${cell.mechanism} on ${hostTitle(cell.host)}: ${why}`);
  }
  if (lines.size === 0) return html``;
  return html`<details><summary>Not measured here (${lines.size})</summary><ul>${[...lines].map((line) => html`<li>${line}</li>`)}</ul></details>`;
}
