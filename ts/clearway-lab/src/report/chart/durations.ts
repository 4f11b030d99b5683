// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws one time against another, with one line per strategy. Both axes are logarithmic. Every line has a symbol, so the chart is readable
// without colour.
import * as Plot from "@observablehq/plot";
import { Html, html } from "../html.js";
import { chart } from "./draw.js";

export interface DurationLine {
  name: string;
  /** Whether the line belongs to Clearway, which has its own colours. */
  own: boolean;
  points: { ns: number; us: number }[];
}

const COLORS = ["ink", "peer", "warm", "sky", "rose", "lime", "reference"];
const OWN_COLORS = ["clearway", "teal"];
/** SVG shapes of Plot's symbols, for the legend. Each shape lies within 5 units of its centre. */
const SYMBOLS = {
  circle: '<circle r="4"/>',
  square: '<rect x="-4" y="-4" width="8" height="8"/>',
  triangle: '<path d="M0-5 5 4H-5z"/>',
  diamond: '<path d="M0-5 4 0 0 5-4 0z"/>',
  star: '<path d="M0-5 1.3-1.6 5-1.6 2 .6 3.2 4.2 0 2-3.2 4.2-2 .6-5-1.6-1.3-1.6z"/>',
  cross: '<path d="M-1.6-5h3.2v3.4H5v3.2H1.6V5h-3.2V1.6H-5v-3.2h3.4z"/>',
} as const;
const SYMBOL_NAMES = Object.keys(SYMBOLS) as (keyof typeof SYMBOLS)[];

interface Style {
  color: string;
  symbol: keyof typeof SYMBOLS;
}

export function durationChart(label: string, lines: readonly DurationLine[], text: (ns: number) => string): Html {
  const points = lines.flatMap(({ name, points }) => points.map(({ ns, us }) => ({ name, ns, taskNs: us * 1000 })));
  if (points.length === 0) return html``;
  // There are seven colours and six symbols. A pair repeats only after 42 lines, and no host has as many strategies.
  const styles = new Map(
    lines.map(({ name, own }, at): [string, Style] => [
      name,
      {
        color: own ? nextOf(OWN_COLORS, lines, at) : nextOf(COLORS, lines, at),
        symbol: SYMBOL_NAMES[at % SYMBOL_NAMES.length] ?? "circle",
      },
    ]),
  );
  const color = ({ name }: { name: string }) => `var(--${styles.get(name)?.color ?? "ink"})`;
  const symbol = ({ name }: { name: string }) => styles.get(name)?.symbol ?? "circle";
  return html`${legend(styles)}${chart(label, ({ narrow, width }) => ({
    width,
    height: narrow ? 290 : 340,
    marginLeft: 62,
    marginRight: 24,
    marginTop: 26,
    marginBottom: 44,
    x: {
      type: "log",
      label: narrow ? "size of a task" : "size of a task: its computing time",
      labelAnchor: "center",
      labelArrow: "none",
      ticks: decades(points.map(({ ns }) => ns)).filter((_, at) => !narrow || at % 2 === 0),
      tickFormat: text,
    },
    y: {
      type: "log",
      label: "time per task in a batch",
      labelArrow: "none",
      grid: true,
      ticks: decades(points.map(({ taskNs }) => taskNs)),
      tickFormat: text,
    },
    symbol: { type: "identity" },
    marks: [
      Plot.line(points, { x: "ns", y: "taskNs", z: "name", stroke: color, strokeWidth: 1.6 }),
      Plot.dot(points, { x: "ns", y: "taskNs", symbol, fill: color, r: 3.6 }),
    ],
  }))}`;
}

/** Returns the colour of a line. Clearway's lines and the other lines rotate through separate lists of colours. */
function nextOf(colors: readonly string[], lines: readonly DurationLine[], at: number): string {
  const before = lines.slice(0, at).filter(({ own }) => own === lines[at]?.own).length;
  return colors[before % colors.length] ?? "ink";
}

function legend(styles: ReadonlyMap<string, Style>): Html {
  return html`<ul class="legend">${[...styles].map(
    ([name, { color, symbol }]) =>
      html`<li><svg class="key" style="color: var(--${color})" viewBox="-6 -6 12 12" width="12" height="12" fill="currentColor" aria-hidden="true">${new Html(SYMBOLS[symbol])}</svg> ${name}</li>`,
  )}</ul>`;
}

/** Returns the powers of ten within the values. */
function decades(values: readonly number[]): number[] {
  const from = Math.ceil(Math.log10(Math.min(...values)) - 1e-9);
  const to = Math.floor(Math.log10(Math.max(...values)) + 1e-9);
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => Number(`1e${from + at}`));
}
