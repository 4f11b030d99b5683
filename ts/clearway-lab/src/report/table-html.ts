// SPDX-License-Identifier: MIT OR Apache-2.0
// Renders a table of the run as HTML.

import type { Role } from "../scenario/scenario.js";
import { hostTitle } from "./host-titles.js";
import { type Html, html } from "./html.js";
import { unitText } from "./number.js";
import { scrolling } from "./scroll.js";
import type { Table, TableRow } from "./table.js";

export function tableHtml(table: Table): Html {
  const lead = table.lead ?? [table.rowNoun ?? "mechanism"];
  const name = [`${table.scenario} on ${hostTitle(table.host)}`, table.load].filter((part) => part !== "").join(", ");
  const own = html`<table><thead><tr>${lead.map((name) => html`<th class="text" scope="col">${name}</th>`)}${table.columns.map(
    ({ label, title, role, unit }) =>
      html`<th scope="col" title="${title ?? label}"${role === undefined ? html`` : html` class="way"`}>${role === undefined ? html`${label}` : wayHead(role, label)}<small>${unitText(unit)}</small></th>`,
  )}</tr></thead><tbody>${table.rows.map(
    (row) =>
      html`<tr class="${row.role}">${rowHead(row)}${row.cells.map((cell, at) => {
        // Marks the cells of a Clearway column as those of a Clearway row.
        const mark = table.columns[at]?.role === "clearway" ? " clearway" : "";
        return cell.doubtful
          ? html`<td class="doubtful${mark}" title="fewer than 20 samples are expected beyond this quantile">${cell.text}</td>`
          : html`<td class="${mark.trim()}">${cell.text}</td>`;
      })}</tr>`,
  )}</tbody></table>`;
  return scrolling(name, own, lead.length + table.columns.length);
}

/** Renders the head of a mechanism's column. A long name may break at its hyphens, but not between its dot and its first word. */
function wayHead(role: Role, label: string): Html {
  const [first = "", ...rest] = label.split("-");
  const tail = rest.length === 0 ? "" : `-${rest.join("-")}`;
  return html`<span class="first"><span class="dot ${role}"></span>${first}</span>${tail}`;
}

function rowHead({ lead, role, title }: TableRow): Html {
  if (lead === undefined) return html`<th scope="row"><span class="dot ${role}"></span>${title}</th>`;
  return html`${lead.map((text) => html`<td class="text lead">${text}</td>`)}`;
}
