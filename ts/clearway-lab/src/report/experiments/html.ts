// SPDX-License-Identifier: MIT OR Apache-2.0
// The published experiments of a run as sections of report.html.
import type { RunRecord } from "../../run/record.js";
import type { Results } from "../../run/results.js";
import { Html, html } from "../html.js";
import { scrolling } from "../scroll.js";
import { findingGroups } from "./findings-text.js";
import { experimentViews, type TableView } from "./view.js";

/** Returns one section per experiment, or nothing if the run repeats none. */
export function experimentsHtml(results: Results, record: RunRecord): Html {
  const views = experimentViews(results, record);
  if (views.length === 0) return new Html("");
  return html`${views.map(
    ({ experiment, tables, findings, leftOut }) => html`<section id="experiment-${experiment.number}">
<h2>${experiment.number}. ${experiment.title}</h2><h3>${experiment.question}</h3>
<p>The authors measured ${experiment.origin}.</p>
${findingGroups(findings).map(groupHtml)}
${tables.map(tableHtml)}
${leftOut.length === 0 ? html`` : html`<details><summary>Left out (${leftOut.length})</summary><ul>${leftOut.map((each) => html`<li>${each}</li>`)}</ul></details>`}
</section>`,
  )}`;
}

function groupHtml({ lead, sentences }: { lead: string; sentences: string[] }): Html {
  return html`${lead === "" ? "" : html`<h4>${lead}</h4>`}<ul>${sentences.map((each) => html`<li>${each}</li>`)}</ul>`;
}

function tableHtml({ title, head, rows, notes }: TableView): Html {
  const [first = "", ...columns] = head;
  const table = html`<table><thead><tr><th class="text" scope="col">${first}</th>${columns.map((label) => html`<th scope="col">${label}</th>`)}</tr></thead><tbody>${rows.map(
    (row) =>
      html`<tr class="${row.clearway ? "clearway" : row.authors ? "reference" : "peer"}"><th scope="row">${row.authors ? html`<em>${row.title}</em>` : row.title}</th>${row.cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
  )}</tbody></table>`;
  return html`<h4>${title}</h4>${scrolling(title, table, head.length)}${notes.length === 0 ? html`` : html`<ul class="meta">${notes.map((note) => html`<li>${note}</li>`)}</ul>`}`;
}
