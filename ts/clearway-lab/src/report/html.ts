// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes HTML from templates. A template escapes all its values, except the results of other templates.
import { visible } from "../../../../scripts/terminal-text.mjs";

export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | readonly Part[];

/** Makes HTML from a template. Escapes the template's values. Joins the elements of arrays without a separator. */
export function html(strings: TemplateStringsArray, ...values: Part[]): Html {
  return new Html(strings.reduce((text, string, i) => text + (i === 0 ? "" : rendered(values[i - 1]!)) + string, ""));
}

function rendered(part: Part): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return (part as readonly Part[]).map(rendered).join("");
  return escaped(String(part));
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes a text. Characters that a terminal or a browser would obey or hide become visible, so that no text reorders the page. */
export function escaped(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

// A table that scrolls sideways where the page is narrow. It can be focused, so that a keyboard scrolls it, and it has a name.

/** From this number of columns on, the figures of a table are smaller on paper: an upright A4 page has no room for them otherwise. */
const MANY_COLUMNS = 12;

/** Wraps a table. A screen reader says `label` when the table gets the focus. `columns` is its number of columns. */
export function scrolling(label: string, table: Html, columns = 0): Html {
  return html`<div class="${columns < MANY_COLUMNS ? "scroll" : "scroll many"}" role="group" aria-label="${`Table: ${label}`}" tabindex="0">${table}</div>`;
}

// Breaks texts into lines for terminals.

/** Maximum width of a text in a terminal, in characters. */
export const WIDTH_MAX = 100;

/** Joins the digits of a number, and a number and its unit, with spaces at which no line breaks. */
export function unbroken(text: string): string {
  return text.replace(/(?<=\d) (?=\d{3}(?!\d)|%|(?:[mnuµ]?s(?:\/s)?|Hz|[KMG]?B|frames?|times)\b)/g, "\u00a0");
}

/** Breaks a text at spaces, but not within a number or before its unit. The lines after the first begin with `indent`. */
export function folded(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  const begin = /^ */.exec(text)![0];
  const [first = "", ...words] = unbroken(text.slice(begin.length)).split(" ");
  let line = begin + first;
  for (const word of words) {
    if (line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else line += ` ${word}`;
  }
  return [...lines, line].map((each) => each.replaceAll("\u00a0", " "));
}
