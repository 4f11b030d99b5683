// SPDX-License-Identifier: MIT OR Apache-2.0
// A heat map of the experiments' pages: a column a kind of work, its ways ordered by time, and a colour that says how far each is from the fastest.
import { type Html, html } from "../html.js";
import { shown } from "../number.js";
import { GREY, OWN, svg, WIDTH } from "./charts.js";

export interface HeatCell {
  title: string;
  clearway: boolean;
  /** The figure that orders and colours the cell. */
  number: number;
  /** The figure as a text, with its unit. */
  text: string;
}

export interface HeatColumn {
  title: string;
  cells: HeatCell[];
}

const [LEFT, TOP, ROW, GAP] = [10, 30, 30, 4];
/** The colours of the fastest and of the slowest, as red, green and blue. Dark text is readable on both. */
const [FASTEST, SLOWEST] = [
  [255, 255, 255],
  [244, 165, 130],
] as const;
/** The steps of the legend. */
const STEPS = [0, 0.25, 0.5, 0.75, 1];

/** Draws the columns. The fastest of each is white, and the colour grows with the logarithm of the ratio to it. All columns have one scale. */
export function heatSvg(label: string, axis: string, columns: readonly HeatColumn[]): string {
  const sorted = columns.map(({ title, cells }) => ({ title, cells: [...cells].sort((a, b) => a.number - b.number) }));
  const least = ({ cells: [first] }: HeatColumn) => first?.number ?? 1;
  const ratios = sorted.flatMap((column) => column.cells.map(({ number }) => number / least(column)));
  const most = Math.max(2, ...ratios);
  const height = TOP + Math.max(0, ...sorted.map(({ cells }) => cells.length)) * ROW;
  const wide = Math.floor((WIDTH - 2 * LEFT) / Math.max(1, sorted.length));
  const drawn = sorted.flatMap((column, at) => {
    const x = LEFT + at * wide;
    return [
      html`<text x="${x}" y="${TOP - 10}" font-weight="bold">${column.title}</text>`,
      ...column.cells.map(({ title, clearway, number, text }, row) => {
        const y = TOP + row * ROW;
        const share = Math.log(number / least(column)) / Math.log(most);
        return html`<rect x="${x}" y="${y}" width="${wide - GAP}" height="${ROW - 2}" fill="${colour(share)}" stroke="#d0d7de" stroke-width=".6"/><text x="${x + 4}" y="${y + 12}" font-size="10"${clearway ? html` fill="${OWN}"` : ""}>${title}</text><text x="${x + 4}" y="${y + 24}" font-size="10">${text}</text>`;
      }),
    ];
  });
  return svg(height + 50, label, [...drawn, ...legend(most, height + 14, axis)]);
}

function colour(share: number): string {
  const mixed = FASTEST.map((from, at) => Math.round(from + (SLOWEST[at]! - from) * share));
  return `rgb(${mixed.join(",")})`;
}

function legend(most: number, top: number, axis: string): Html[] {
  return [
    ...STEPS.map((share, at) => {
      const x = LEFT + at * 70;
      return html`<rect x="${x}" y="${top}" width="14" height="14" fill="${colour(share)}" stroke="#d0d7de" stroke-width=".6"/><text x="${x + 20}" y="${top + 11}" font-size="10">${shown(most ** share)} ×</text>`;
    }),
    html`<text x="${LEFT + STEPS.length * 70 + 10}" y="${top + 11}" font-size="10" fill="${GREY}">${axis}</text>`,
  ];
}
