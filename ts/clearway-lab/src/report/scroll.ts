// SPDX-License-Identifier: MIT OR Apache-2.0
// A table that scrolls sideways where the page is narrow. It can be focused, so that a keyboard scrolls it, and it has a name.
import { type Html, html } from "./html.js";

/** Wraps a table. A screen reader says `label` when the table gets the focus. */
export function scrolling(label: string, table: Html): Html {
  return html`<div class="scroll" role="group" aria-label="${`Table: ${label}`}" tabindex="0">${table}</div>`;
}
