// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws a stall timeline: one strip for each run, as long as the run. The coloured parts are stalls of the main thread.
import { type Html, html, unbroken } from "../html.js";
import { shown } from "../number.js";

export interface Strip {
  title: string;
  totalMs: number;
  longestMs: number;
  /** The stalls, with their colours in CSS. */
  stalls: { at: number; ms: number; color: string }[];
}

/** Units of the drawing's width. The page stretches it. */
const WIDTH = 1000;
const HEIGHT = 22;
/** A stall of a millisecond would be thinner than a pixel. */
const STALL_WIDTH_MIN = 1.5;

/** Draws a strip per row, all on one time axis. `noStall` is the text of a strip without a stall. */
export function timelineChart(label: string, strips: readonly Strip[], timeLabel: string, noStall: string): Html {
  const end = Math.max(1, ...strips.map(({ totalMs }) => totalMs));
  const x = (ms: number): string => ((ms / end) * WIDTH).toFixed(1);
  const width = (ms: number): string => Math.max(STALL_WIDTH_MIN, (ms / end) * WIDTH).toFixed(1);
  const lane = ({ title, totalMs, longestMs, stalls }: Strip): Html => {
    const longest = longestMs === 0 ? noStall : `longest ${shown(longestMs)} ms`;
    const bars = stalls.map(
      ({ at, ms, color }) => html`<rect x="${x(at)}" width="${width(ms)}" height="${HEIGHT}" fill="${color}"/>`,
    );
    return html`<div class="lane"><p>${unbroken(`${title}: ${longest}`)}</p><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}: ${title}"><rect width="${x(totalMs)}" height="${HEIGHT}" fill="var(--track)"/>${bars}</svg></div>`;
  };
  return html`<div class="chart timeline">${strips.map(lane)}<p class="time"><span>0</span><span>${timeLabel}</span><span>${shown(end)}</span></p></div>`;
}
