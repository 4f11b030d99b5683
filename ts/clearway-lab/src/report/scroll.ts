// SPDX-License-Identifier: MIT OR Apache-2.0
// A table that scrolls sideways where the page is narrow. It can be focused, so that a keyboard scrolls it, and it has a name.
import { type Html, html } from "./html.js";

/** From this number of columns on, the figures of a table are smaller on paper: an upright A4 page has no room for them otherwise. */
const MANY_COLUMNS = 12;

/** Wraps a table. A screen reader says `label` when the table gets the focus. `columns` is its number of columns. */
export function scrolling(label: string, table: Html, columns = 0): Html {
  return html`<div class="${columns < MANY_COLUMNS ? "scroll" : "scroll many"}" role="group" aria-label="${`Table: ${label}`}" tabindex="0">${table}</div>`;
}
