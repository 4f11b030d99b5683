// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws one comparison over time: a dot with its interval for each run, on a logarithmic axis. All drawings of a machine have the same runs
// at the same places.
import type { TrendPoint, TrendRun, TrendSeries } from "../../records/trend-data.js";
import { type Html, html } from "../html.js";
import { logTicks, shown } from "../number.js";
import { dayOf, lineText, minuteOf, pointText } from "./words.js";

const WIDTH = 320;
const HEIGHT = 140;
const PLOT = { left: 46, right: 308, top: 18, bottom: 116 };

/** The least span of the axis, as a factor: a smaller one would make noise look like a trend. */
const SPAN_MIN = 1.5;
/** The axis shows the ratio 1 if the data lie within this factor of it. */
const ONE_NEAR = 2;
const TICKS_MAX = 5;
/** The width of the words at a mark. Words at two marks may extend towards each other. */
const MARK_TEXT_PX = 250;

export function multiple(name: string, series: TrendSeries, runs: readonly TrendRun[]): Html {
  const { points, changes } = series;
  const [low, high] = domainOf(points);
  const y = (ratio: number) => PLOT.bottom - (Math.log(ratio / low) / Math.log(high / low)) * (PLOT.bottom - PLOT.top);
  const step = (PLOT.right - PLOT.left) / runs.length;
  const x = (run: number) => PLOT.left + (run + 0.5) * step;
  const radius = Math.max(1.5, Math.min(4, step / 3));
  const last = runs.length - 1;
  const days = [...new Set([0, last])];
  const marks = changes.map(({ run }) => x(run) - step / 2);
  return html`<svg class="multiple" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${lineText(name, series, runs)}">
${ticksOf(low, high).map((tick) => html`<line class="${tick === 1 ? "one" : "grid"}" x1="${PLOT.left}" x2="${PLOT.right}" y1="${px(y(tick))}" y2="${px(y(tick))}"/><text class="tick" x="${PLOT.left - 6}" y="${px(y(tick) + 4)}" text-anchor="end">${ratioText(tick)}</text>`)}
${days.map((run, at) => html`<text class="tick" x="${px(at === 0 && last > 0 ? PLOT.left : at === 0 ? x(0) : PLOT.right)}" y="${HEIGHT - 6}" text-anchor="${last === 0 ? "middle" : at === 0 ? "start" : "end"}">${dayOf(runs[run]!.startedAt)}</text>`)}
${changes.map(({ verdict, factor }, index) => {
  const at = marks[index]!;
  const isRight = at > (PLOT.left + PLOT.right) / 2;
  // Two marks near each other have room for their symbols only; the list of changes has the words.
  const hasRoom = marks.every((other, each) => each === index || Math.abs(other - at) > MARK_TEXT_PX);
  return html`<line class="change ${verdict}" x1="${px(at)}" x2="${px(at)}" y1="${PLOT.top - 6}" y2="${PLOT.bottom}"/><text class="change ${verdict}" x="${px(at + (isRight ? -4 : 4))}" y="${PLOT.top - 6}" text-anchor="${isRight ? "end" : "start"}">${factor > 1 ? "▲" : "▼"}${hasRoom ? ` ${verdict}, ${shown(Math.max(factor, 1 / factor))} times` : ""}</text>`;
})}
<polyline class="path" points="${points.map(({ run, ratio }) => `${px(x(run))},${px(y(ratio))}`).join(" ")}"/>
${points.map((point) => {
  const run = runs[point.run]!;
  const title = `${minuteOf(run.startedAt)}${run.commit === null ? "" : `, ${run.commit}`}: ${pointText(point)}, ${point.verdict}`;
  return html`<g><title>${title}</title><line class="interval" x1="${px(x(point.run))}" x2="${px(x(point.run))}" y1="${px(y(point.low))}" y2="${px(y(point.high))}"/><circle class="${point.verdict === "decided" ? "dot-decided" : "dot-open"}" cx="${px(x(point.run))}" cy="${px(y(point.ratio))}" r="${px(radius)}"/></g>`;
})}</svg>`;
}

function px(value: number): string {
  return String(Number(value.toFixed(1)));
}

function domainOf(points: readonly TrendPoint[]): [low: number, high: number] {
  let low = Math.min(...points.map((point) => point.low));
  let high = Math.max(...points.map((point) => point.high));
  if (low > 1 && low < ONE_NEAR) low = 1;
  if (high < 1 && high > 1 / ONE_NEAR) high = 1;
  const missing = Math.max(1, SPAN_MIN / (high / low));
  // The dots of the ends stay inside.
  const margin = Math.sqrt(missing) * (high / low) ** 0.04;
  return [low / margin, high * margin];
}

/** Returns ticks of which each is a number or 1 divided by one, as ratios are written. */
function ticksOf(low: number, high: number): number[] {
  const above = high > 1 ? logTicks(Math.max(1, low), high) : [];
  const below = low < 1 ? logTicks(Math.max(1, 1 / high), 1 / low).map((tick) => 1 / tick) : [];
  const all = [...new Set([...below, ...above])].sort((a, b) => a - b);
  const one = low <= 1 && high >= 1 ? [1] : [];
  const inside = [...new Set([...all, ...one])].filter((tick) => tick >= low && tick <= high).sort((a, b) => a - b);
  return spread(inside, Math.log(high / low));
}

/** Leaves out the ticks that are too near to the one before, but never the ratio 1. */
function spread(ticks: readonly number[], span: number): number[] {
  const kept: number[] = [];
  for (const tick of ticks) {
    const near = kept.length > 0 && Math.log(tick / kept.at(-1)!) < span / TICKS_MAX;
    if (near && tick !== 1) continue;
    if (near) kept.pop();
    kept.push(tick);
  }
  return kept;
}

function ratioText(ratio: number): string {
  return ratio < 1 ? `1/${shown(1 / ratio)}` : shown(ratio);
}
