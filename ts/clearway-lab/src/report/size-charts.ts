// SPDX-License-Identifier: MIT OR Apache-2.0
// The charts of a figure against a size.
import type { RecordedCell, RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";
import { LINE_COLOR, type Point, sizeChart } from "./chart/sizes.js";
import { type Html, html } from "./html.js";
import { loadText } from "./load-text.js";
import { fillChart } from "./range-charts.js";
import { metricsFor } from "./table.js";

/** Length of a frame at 60 Hz, in milliseconds. */
const FRAME_MS = 1000 / 60;

/** Returns one point per cell whose parameter `size` is a number. The point is a value, or the median of the samples. */
function pointsOf(results: Results, record: RunRecord, cells: RecordedCell[], metric: string, size: string): Point[] {
  return cells.flatMap((cell) => {
    const found = metricsFor(results, record, cell)[metric];
    const bytes = cell.params[size];
    if (found === undefined || typeof bytes !== "number") return [];
    return [{ mechanism: cell.mechanism, bytes, value: "value" in found ? found.value : found.p50 }];
  });
}

export function uploadCharts(results: Results, record: RunRecord, title: string, cells: RecordedCell[]): Html {
  const points = (metric: string) => pointsOf(results, record, cells, metric, "chunkBytes");
  const x = "chunk size (logarithmic)";
  const time = `${title}: time per megabyte by chunk size`;
  const stall = `${title}: longest stall of the main thread by chunk size`;
  return html`<h4>${time}</h4>${lineLegend(cells, (cell) => cell.mechanism)}${sizeChart(time, { x, y: "ms per MB" }, points("timePerMegabyte"))}
<h4>${stall}</h4>${sizeChart(stall, { x, y: "longest stall (ms)" }, points("longestStall"), { value: FRAME_MS, text: "one frame at 60 Hz" })}`;
}

/** Draws separate charts for warm and fresh memory, because their times are not comparable. */
export function memoryCharts(results: Results, record: RunRecord, title: string, cells: RecordedCell[]): Html {
  const legend = lineLegend(cells, (cell) => cell.title);
  return html`${["warm", "fresh"].map((memory) => {
    const own = cells.filter(({ params }) => params["memory"] === memory);
    if (own.length === 0) return html``;
    const sizes = new Set(own.map(({ params }) => params["bytes"]));
    if (sizes.size === 1) return fillChart(results, record, `${title}: one fill of ${loadText(own[0]!.params)}`, own);
    const caption = `${title}: time of one fill of ${memory} memory by size`;
    const axes = { x: "bytes filled (logarithmic)", y: "median of one fill (µs)" };
    return html`<h4>${caption}</h4>${legend}${sizeChart(caption, axes, pointsOf(results, record, own, "fill", "bytes"))}`;
  })}`;
}

/** Draws the stall of one crossing by the size of the message, one line per mechanism. Each direction has a chart of its own. */
export function crossingCharts(results: Results, record: RunRecord, title: string, cells: RecordedCell[]): Html {
  const directions = [...new Set(cells.map(({ params }) => String(params["direction"])))];
  return html`${directions.map((direction) => {
    const own = cells.filter(({ params }) => params["direction"] === direction);
    const points = pointsOf(results, record, own, "stall", "bytes");
    if (points.length === 0) return html``;
    const caption = `${title}: stall of the main thread by one crossing ${direction}`;
    const axes = { x: "size of the message (logarithmic)", y: "median stall (µs)" };
    const limit = { value: FRAME_MS * 1000, text: "one frame at 60 Hz" };
    return html`<h4>${caption}</h4>${lineLegend(own, (cell) => cell.title)}${sizeChart(caption, axes, points, limit)}`;
  })}`;
}

function lineLegend(cells: RecordedCell[], name: (cell: RecordedCell) => string): Html {
  const lines = [...new Map(cells.map((cell) => [cell.mechanism, name(cell)]))];
  return html`<ul class="legend">${lines.map(([mechanism, text]) => html`<li><span class="dot ${dotClass(mechanism)}"></span>${text}</li>`)}</ul>`;
}

function dotClass(mechanism: string): string {
  return /--([a-z]+)/.exec(LINE_COLOR[mechanism] ?? "--reference")?.[1] ?? "reference";
}
