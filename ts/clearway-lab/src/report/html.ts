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

// The report's only style sheet. It covers light and dark pages, wide and narrow ones, and paper.

export const STYLE = `
:root { color-scheme: light dark; --page: #fcfcfa; --card: #fff; --ink: #1d2329; --soft: #5d6872; --faint: #626c75; --line: #e3e6e8; --track: #e6e9eb;
  --clearway: #0a7f66; --clearway-soft: #0a7f661c; --peer: #6d5bd0; --reference: #7d8790; --warm: #d9742b; --rose: #c2447e; --sky: #2f86c9; --lime: #6f9a1e; --teal: #075e6b; --gold: #b08f00; --brick: #8c3a2b; --doubt: #a15c07; --doubt-soft: #fdf4e3; --shade: #1d232940; }
@media screen and (prefers-color-scheme: dark) { :root { --page: #14181b; --card: #1a1f23; --ink: #e4e8ea; --soft: #a3adb5; --faint: #9aa4ad; --line: #2c3338; --track: #2a3136;
  --clearway: #35c9a5; --clearway-soft: #35c9a526; --peer: #a79bff; --reference: #98a3ac; --warm: #f0995a; --rose: #ef7fb0; --sky: #6bb6ee; --lime: #b3d465; --teal: #8fe3ee; --gold: #e6cf5c; --brick: #d98a78; --doubt: #f0b860; --doubt-soft: #2c2415; --shade: #000000b0; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
a { color: var(--clearway); } :focus-visible { outline: 2px solid var(--peer); outline-offset: 2px; }
main { max-width: 1080px; margin: 0 auto; padding: 40px 40px 80px; }
.kicker { color: var(--clearway); font-weight: 650; letter-spacing: .01em; margin: 0 0 10px; }
h1 { font-size: clamp(1.35rem, 2.6vw, 1.9rem); line-height: 1.28; letter-spacing: -.012em; margin: 0 0 20px; font-weight: 680; text-wrap: pretty; }
h2 { font-size: 1.5rem; letter-spacing: -.01em; margin: 72px 0 4px; padding-top: 20px; border-top: 2px solid var(--ink); }
h1, h2, h3, h4, p, li, dt, figcaption, .stall { overflow-wrap: anywhere; }
h3 { font-size: 1.16rem; line-height: 1.35; margin: 52px 0 6px; text-wrap: pretty; }
h4 { font-size: .98rem; margin: 30px 0 6px; font-weight: 620; }
p { margin: 0 0 12px; max-width: 74ch; }
.advice { margin: 0 0 22px; padding: 0 0 0 1.1em; } .advice li { margin: 0 0 6px; max-width: 80ch; }
.answers li { max-width: none; } .answers .scroll { margin: 6px 0 14px; } .answers table { font-size: .86rem; } .answers th, .answers td { padding: 4px 11px; }
tr.decided td:nth-of-type(1), tr.decided td:nth-of-type(2) { font-weight: 640; } tr.open td { color: var(--soft); }
.meta, .hint, .topology { color: var(--soft); font-size: .9rem; }
.topology { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .82rem; overflow-wrap: anywhere; max-width: none; }
.doubt { background: var(--doubt-soft); border-radius: 10px; padding: 18px 22px 14px; margin: 26px 0; }
.doubt h2 { all: unset; display: block; font-weight: 680; color: var(--doubt); margin: 0 0 8px; }
.doubt ul { margin: 0; padding: 0 0 0 1.1em; font-size: .93rem; } .doubt li { overflow-wrap: anywhere; margin: 0 0 7px; max-width: 88ch; }
.next { color: var(--soft); } .next::before { content: "Next: "; }
.chart { margin: 10px 0 6px; } .lane p { margin: 10px 0 2px; max-width: none; font-size: .9rem; overflow-wrap: anywhere; } .lane svg { display: block; width: 100%; height: 22px; }
.time { display: flex; justify-content: space-between; gap: 12px; max-width: none; margin: 4px 0; font-size: .82rem; color: var(--soft); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; font-size: .86rem; color: var(--soft); margin: 2px 0 8px; padding: 0; list-style: none; }
.dot { display: inline-block; width: .68em; height: .68em; border-radius: 50%; margin-right: .5em; vertical-align: baseline; flex: none; }
.dot.clearway { background: var(--clearway); } .dot.peer { background: var(--peer); } .dot.reference { background: var(--reference); } .dot.warm { background: var(--warm); } .dot.ink { background: var(--ink); } .dot.rose { background: var(--rose); } .dot.sky { background: var(--sky); } .dot.lime { background: var(--lime); } .dot.teal { background: var(--teal); } .dot.gold { background: var(--gold); } .dot.brick { background: var(--brick); } .dot.faint { background: var(--faint); }
.scroll { overflow-x: auto; margin: 10px 0 20px; border: 1px solid var(--line); border-radius: 10px; background-color: var(--card);
  background-image: linear-gradient(to right, var(--card), var(--card)), linear-gradient(to left, var(--card), var(--card)), linear-gradient(to right, var(--shade), transparent), linear-gradient(to left, var(--shade), transparent);
  background-position: 0 0, 100% 0, 0 0, 100% 0; background-size: 26px 100%, 26px 100%, 13px 100%, 13px 100%; background-repeat: no-repeat; background-attachment: local, local, scroll, scroll; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: 7px 11px; text-align: right; white-space: nowrap; border-top: 1px solid var(--line); }
thead th { white-space: normal; border-top: 0; color: var(--soft); font-weight: 560; font-size: .82rem; line-height: 1.3; vertical-align: bottom; }
thead small { display: block; color: var(--faint); font-weight: 400; font-size: .95em; }
tbody th, td.text, th.text { text-align: left; font-weight: 480; } td.text { white-space: normal; } .answers td { white-space: nowrap; } .answers tbody th { white-space: normal; min-width: 11em; } .answers td.reason { white-space: normal; min-width: 16em; }
td.lead, thead th .first { white-space: nowrap; } td.clearway { background: var(--clearway-soft); font-weight: 560; }
tr.clearway { background: var(--clearway-soft); } tr.clearway th { font-weight: 640; }
.doubtful { color: var(--faint); font-style: italic; }
details { margin: 10px 0 20px; } summary { cursor: pointer; color: var(--soft); font-size: .92rem; padding: 4px 0; } summary:hover { color: var(--ink); }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .88em; background: var(--track); padding: .1em .35em; border-radius: 4px; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 22px; font-size: .92rem; margin: 12px 0; } dl.advice dt { color: var(--ink); font-weight: 560; } .key { vertical-align: -1px; margin-right: .3em; } dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 720px) { main { padding: 22px 16px 60px; } h2 { margin-top: 52px; } .doubt { padding: 14px 16px; }
  th, td { padding: 7px 10px; } dl { grid-template-columns: 1fr; gap: 0; } dd { margin: 0 0 8px; } tbody th { white-space: normal; min-width: 9.5em; } }
@media print { body { background: none; font-size: 11pt; } main { max-width: none; padding: 0; } h2, h3, h4 { break-after: avoid; } h2 { margin-top: 32px; } h3 { margin-top: 26px; }
  .lane svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; } .chart, tr, .doubt li, dd { break-inside: avoid; } thead { display: table-header-group; }
  .scroll { overflow: visible; border: 0; background: none; } table { font-size: 8.5pt; } th, td, .answers td, td.lead { padding: 3px 6px; white-space: normal; } tbody th { min-width: 0; } thead th { font-size: 7.5pt; } td.lead, th.way, th.way .first { overflow-wrap: anywhere; white-space: normal; } .many table { font-size: 6pt; line-height: 1.25; } .many thead th { font-size: 5.5pt; } .many th, .many td { padding: 2px 3px; } tr.clearway, td.clearway, .doubt, .dot, code { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
`;
