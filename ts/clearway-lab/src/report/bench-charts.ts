// SPDX-License-Identifier: MIT OR Apache-2.0
// The charts of a user's scenario, for each input: the time of a call, and the stalls of the main thread during one call.
import type { RecordedCell, RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";
import { ROLE_COLOR } from "./chart/draw.js";
import { type Range, rangeChart } from "./chart/ranges.js";
import { stripOf, timelineChart } from "./chart/timeline.js";
import { type Html, html } from "./html.js";
import { loadText } from "./load-text.js";
import { unitText } from "./number.js";
import { byLoad, metricsFor } from "./table.js";
import { zoomable } from "./zoom.js";

export function benchCharts(results: Results, record: RunRecord, cells: RecordedCell[]): Html {
  return html`${byLoad(cells).map((group) => {
    const load = loadText(group[0]!.params);
    const where = load === "" ? "" : `, ${load}`;
    const unit = unitText(metricsFor(results, record, group[0]!)["call"]?.unit ?? "ms");
    const calls = `Time of a call${where}`;
    const stalls = `Stalls of the main thread in one call${where}`;
    const strips = group.map(stripOf).filter((strip) => strip !== undefined);
    const axis = `${unit}, logarithmic; dot: median, bar: p10 to p90`;
    return html`<h4>${calls}</h4>${rangeChart(calls, axis, ranges(results, record, group), unit)}
<h4>${stalls}</h4>${timelineChart(stalls, strips)}<p class="hint">Coloured: the main thread is blocked. Pale: it is free. The chart shows the median round.</p>${zoomable(load, strips)}`;
  })}`;
}

function ranges(results: Results, record: RunRecord, group: RecordedCell[]): Range[] {
  return group.flatMap((cell): Range[] => {
    const found = metricsFor(results, record, cell)["call"];
    if (found === undefined || !("p50" in found)) return [];
    const { mechanism, role, title } = cell;
    return [{ mechanism, title, color: ROLE_COLOR[role], low: found.p10, middle: found.p50, high: found.p90 }];
  });
}
