// SPDX-License-Identifier: MIT OR Apache-2.0
// A table of the run as HTML.
import { type Html, html } from "./html.js";
import { unitText } from "./number.js";
import type { Table } from "./tables.js";

export function tableHtml(table: Table): Html {
  return html`<div class="scroll"><table><thead><tr><th class="text" scope="col">mechanism</th>${table.columns.map(
    ({ label, unit }) => html`<th scope="col">${label}<small>${unitText(unit)}</small></th>`,
  )}</tr></thead><tbody>${table.rows.map(
    (row) =>
      html`<tr class="${row.role}"><th scope="row"><span class="dot ${row.role}"></span>${row.title}</th>${row.cells.map(
        (cell) =>
          cell.doubtful
            ? html`<td class="doubtful" title="fewer than 20 samples are expected beyond this quantile">${cell.text}</td>`
            : html`<td>${cell.text}</td>`,
      )}</tr>`,
  )}</tbody></table></div>`;
}
