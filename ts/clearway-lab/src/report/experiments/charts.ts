// SPDX-License-Identifier: MIT OR Apache-2.0
// The charts of the experiments' pages, as SVG files: one distribution a row, and one line a row. Both have logarithmic axes.
import { type Histogram, QUANTILES, significant } from "../../statistics/distribution.js";
import { type Html, html } from "../html.js";
import { bytes, shown } from "../number.js";

export const WIDTH = 860;
/** The plot is between these two places; the titles of the rows are left of it. */
const [LEFT, RIGHT] = [270, WIDTH - 20];
const INK = "#1f2328";
export const GREY = "#6e7781";
export const OWN = "#0969da";
const LINES = [
  ...["#1f2328", "#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989"],
  ...["#9a6700", "#00838f", "#cf222e"],
];

export function svg(height: number, label: string, content: readonly Html[]): string {
  return html`<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${label}" font-family="sans-serif" font-size="12" fill="${INK}">
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
${content.map(
  (each) => html`${each}
`,
)}</svg>
`.text;
}

/** A logarithmic axis from the power of ten below `low` to the one above `high`. */
function decades(low: number, high: number): { from: number; to: number; powers: number[] } {
  const from = Math.floor(Math.log10(low));
  const to = Math.max(from + 1, Math.ceil(Math.log10(high)));
  return { from, to, powers: Array.from({ length: to - from + 1 }, (_, at) => from + at) };
}

const placed = (value: number, { from, to }: { from: number; to: number }, begin: number, end: number): number =>
  Math.round(begin + ((Math.log10(value) - from) / (to - from)) * (end - begin));

export interface DistributionRow {
  title: string;
  clearway: boolean;
  /** Nanoseconds. */
  histogram: Histogram;
  /** The step of the clock, in microseconds. Shorter times are drawn there. */
  stepUs: number;
}

/** Number of equal parts into which a distribution is divided to draw it. A bar is at least one of them high. */
const PARTS = 400;
const BARS_A_DECADE = 20;
const ROW = 36;

/** Draws a distribution a row in the given order, on a common axis. Marks p50 and p99. */
export function distributionsSvg(label: string, axis: string, rows: readonly DistributionRow[]): string {
  const us = ({ histogram, stepUs }: DistributionRow, q: number) =>
    Math.max(stepUs, significant(histogram.getValueAtPercentile(q * 100) / 1000));
  const text = (value: number, { stepUs }: DistributionRow) => (value > stepUs ? shown(value) : `≤ ${shown(stepUs)}`);
  const scale = decades(
    Math.min(...rows.map((row) => us(row, QUANTILES.p1))),
    Math.max(...rows.map((row) => us(row, QUANTILES.p999))),
  );
  const at = (value: number) => placed(Math.max(10 ** scale.from, value), scale, LEFT, RIGHT);
  const bottom = 16 + rows.length * ROW;
  const count = (scale.to - scale.from) * BARS_A_DECADE;
  const drawn = rows.map((row, index) => {
    const heights = new Array<number>(count).fill(0);
    for (let part = 0; part < PARTS; part++) {
      const bar = Math.floor((Math.log10(us(row, (part + 0.5) / PARTS)) - scale.from) * BARS_A_DECADE);
      heights[Math.min(count - 1, Math.max(0, bar))]!++;
    }
    const most = Math.max(...heights);
    const floor = 12 + (index + 1) * ROW;
    const bars = heights.flatMap((height, bar) => {
      if (height === 0) return [];
      const [begin, end] = [bar, bar + 1].map((edge) => at(10 ** (scale.from + edge / BARS_A_DECADE)));
      const tall = Math.max(1, Math.round((height / most) * (ROW - 12)));
      return [`M${begin} ${floor}v-${tall}H${end}v${tall}z`];
    });
    const [p50, p99] = [us(row, QUANTILES.p50), us(row, QUANTILES.p99)];
    return html`<text x="${LEFT - 10}" y="${floor - 10}" text-anchor="end">${row.title}</text><text x="${LEFT - 10}" y="${floor + 2}" text-anchor="end" font-size="10" fill="${GREY}">p50 ${text(p50, row)} · p99 ${text(p99, row)} µs</text><path d="${bars.join("")}" fill="${row.clearway ? OWN : GREY}"/><path d="M${LEFT} ${floor}H${RIGHT}M${at(p50)} ${floor}v-${ROW - 8}M${at(p99)} ${floor}v-${ROW - 8}" stroke="${INK}" stroke-width=".6" fill="none"/>`;
  });
  return svg(bottom + 44, label, [...grid(scale, bottom, axis), ...drawn]);
}

/** Draws the vertical lines of the powers of ten with their times, and the title of the axis. */
function grid(scale: ReturnType<typeof decades>, bottom: number, axis: string): Html[] {
  return [
    ...scale.powers.map((power) => {
      const x = placed(10 ** power, scale, LEFT, RIGHT);
      const text = power >= 3 ? `${shown(10 ** (power - 3))} ms` : `${shown(10 ** power)} µs`;
      return html`<path d="M${x} 8V${bottom}" stroke="#d0d7de"/><text x="${x}" y="${bottom + 16}" text-anchor="middle">${text}</text>`;
    }),
    html`<text x="${(LEFT + RIGHT) / 2}" y="${bottom + 36}" text-anchor="middle">${axis}</text>`,
  ];
}

export interface LineRow {
  title: string;
  points: { bytes: number; us: number }[];
  /** The number of its colour. Default: its place. */
  colour?: number;
  isDashed?: boolean;
}

/** A vertical line at a size, such as that of a cache. */
export interface SizeMark {
  title: string;
  bytes: number;
}

/** Draws the time of a KB by size, a line a row: a straight level line takes as long for each byte of any size. */
export function linesSvg(label: string, axis: string, rows: readonly LineRow[], marks: readonly SizeMark[]): string {
  const [top, bottom, begin] = [24, 344, 70];
  const all = rows.flatMap(({ points }) => points);
  const sizes = [...new Set(all.map((point) => point.bytes))].sort((a, b) => a - b);
  const perKb = ({ bytes: size, us }: { bytes: number; us: number }) => (us * 1000 * 1024) / size;
  const scale = decades(Math.min(...all.map(perKb)), Math.max(...all.map(perKb)));
  const [least, most] = [sizes[0]!, sizes.at(-1)!].map(Math.log2) as [number, number];
  const x = (size: number) => Math.round(begin + ((Math.log2(size) - least) / (most - least)) * (RIGHT - begin));
  const y = (ns: number) => placed(ns, scale, bottom, top);
  const shownMarks = marks.filter((mark) => Math.log2(mark.bytes) >= least && Math.log2(mark.bytes) <= most);
  return svg(bottom + 60 + rows.length * 16, label, [
    ...scale.powers.map(
      (power) =>
        html`<path d="M${begin} ${y(10 ** power)}H${RIGHT}" stroke="#d0d7de"/><text x="${begin - 8}" y="${y(10 ** power) + 4}" text-anchor="end" font-size="11">${shown(10 ** power)} ns</text>`,
    ),
    ...sizes.map(
      (size) => html`<text x="${x(size)}" y="${bottom + 16}" text-anchor="middle" font-size="10">${bytes(size)}</text>`,
    ),
    ...shownMarks.map(
      (mark) =>
        html`<path d="M${x(mark.bytes)} ${top}V${bottom}" stroke="${GREY}" stroke-dasharray="3 3"/><text x="${x(mark.bytes)}" y="${top - 8}" text-anchor="middle" font-size="10">${mark.title}</text>`,
    ),
    ...rows.map(({ title, points, colour, isDashed }, at) => {
      const line = points.map((point, index) => `${index === 0 ? "M" : "L"}${x(point.bytes)} ${y(perKb(point))}`);
      const low = bottom + 50 + at * 16;
      const stroke = LINES[(colour ?? at) % LINES.length]!;
      const dashes = isDashed === true ? html` stroke-dasharray="5 3"` : "";
      return html`<path d="${line.join("")}" stroke="${stroke}" stroke-width="2" fill="none"${dashes}/><path d="M${begin} ${low - 4}h24" stroke="${stroke}" stroke-width="2"${dashes}/><text x="${begin + 32}" y="${low}">${title}</text>`;
    }),
    html`<text x="${(begin + RIGHT) / 2}" y="${bottom + 32}" text-anchor="middle">${axis}</text>`,
  ]);
}
