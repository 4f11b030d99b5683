// SPDX-License-Identifier: MIT OR Apache-2.0
// The charts with a range or a point per mechanism.
import type { RecordedCell, RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";
import type { Distribution } from "../statistics/distribution.js";
import { ROLE_COLOR } from "./chart/draw.js";
import { type Range, rangeChart } from "./chart/ranges.js";
import { type Html, html } from "./html.js";
import { loadText } from "./load-text.js";
import { byLoad, metricsFor, sameRow } from "./table.js";

export function roleLegend(text: string): Html {
  return html`<ul class="legend"><li><span class="dot clearway"></span>Clearway</li><li><span class="dot peer"></span>peer library</li><li><span class="dot reference"></span>hand-written</li><li>${text}</li></ul>`;
}

function rangeOf(cell: RecordedCell, found: Distribution): Range {
  return {
    mechanism: cell.mechanism,
    title: cell.title,
    color: ROLE_COLOR[cell.role],
    low: found.p10,
    middle: found.p50,
    high: found.p90,
  };
}

export function poolChart(results: Results, record: RunRecord, title: string, cells: RecordedCell[]): Html {
  const plain = cells.filter(({ params }) => params["connection"] === "none");
  const ranges = plain.flatMap((cell) => {
    const found = metricsFor(results, record, cell)["warmTask"];
    return found !== undefined && "p50" in found ? [rangeOf(cell, found)] : [];
  });
  const caption = `${title}: round trip of one trivial task on a warm pool`;
  return html`<h4>${caption}</h4>${rangeChart(caption, "µs, logarithmic; dot: median, bar: p10 to p90", ranges, "µs")}`;
}

/** Draws a chart for a single size, where a line chart against sizes would have only one point per line. */
export function fillChart(results: Results, record: RunRecord, caption: string, cells: RecordedCell[]): Html {
  const ranges = cells.flatMap((cell) => {
    const found = metricsFor(results, record, cell)["fill"];
    return found !== undefined && "p50" in found ? [rangeOf(cell, found)] : [];
  });
  ranges.sort((a, b) => a.middle - b.middle);
  return html`<h4>${caption}</h4>${rangeChart(caption, "µs, logarithmic; dot: median, bar: p10 to p90", ranges, "µs")}${roleLegend("One at a time.")}`;
}

export function codecChart(results: Results, record: RunRecord, title: string, cells: RecordedCell[]): Html {
  const ranges = byLoad(cells)[0]!.flatMap((cell): Range[] => {
    const found = metricsFor(results, record, cell)["both"];
    if (found === undefined || !("value" in found)) return [];
    const { mechanism, role, title: name } = cell;
    const { value } = found;
    return [{ mechanism, title: name, color: ROLE_COLOR[role], low: value, middle: value, high: value }];
  });
  ranges.sort((a, b) => a.middle - b.middle);
  const caption = `${title}: encoding and decoding one message of ${loadText(cells[0]!.params)}`;
  return html`<h4>${caption}</h4>${rangeChart(caption, "µs, logarithmic", ranges, "µs")}`;
}

/**
 * Draws the row of 2 KB, which every mechanism can send and which mixes types. If there is no such row, draws the first row.
 */
export function channelChart(results: Results, record: RunRecord, title: string, cells: RecordedCell[]): Html {
  const row = sameRow(cells).find(([first]) => first!.params["payload"] === "2 KB") ?? sameRow(cells)[0]!;
  const group = byLoad(row)[0]!;
  const ranges = group.flatMap((cell) => {
    const found = metricsFor(results, record, cell)["roundTrip"];
    return found !== undefined && "p50" in found ? [rangeOf(cell, found)] : [];
  });
  ranges.sort((a, b) => a.middle - b.middle);
  const { direction, payload, reply = "the same" } = group[0]!.params;
  const caption = `${title}, ${direction}: a message of ${payload} and its ${reply === "the same" ? "echo" : "answer"}`;
  return html`<h4>${caption}</h4>${rangeChart(caption, "µs, logarithmic; dot: median, bar: p10 to p90", ranges, "µs")}${roleLegend("One at a time.")}`;
}

export function firehoseChart(results: Results, record: RunRecord, title: string, cells: RecordedCell[]): Html {
  const ranges = cells.flatMap((cell): Range[] => {
    const found = metricsFor(results, record, cell)["throughput"];
    if (found === undefined || !("value" in found)) return [];
    return [
      {
        mechanism: cell.mechanism,
        title: cell.title,
        color: ROLE_COLOR[cell.role],
        low: found.value,
        middle: found.value,
        high: found.value,
      },
    ];
  });
  ranges.sort((a, b) => b.middle - a.middle);
  const caption = `${title}: events per second, back to back`;
  return html`<h4>${caption}</h4>${rangeChart(caption, "events per second (logarithmic)", ranges, "/s")}`;
}

/** Draws the round trips of the smallest calls with one worker process. */
export function remoteChart(results: Results, record: RunRecord, title: string, cells: RecordedCell[]): Html {
  const group = byLoad(cells)[0]!;
  const ranges = group.flatMap((cell) => {
    const found = metricsFor(results, record, cell)["roundTrip"];
    return found !== undefined && "p50" in found ? [rangeOf(cell, found)] : [];
  });
  ranges.sort((a, b) => a.middle - b.middle);
  const caption = `${title}: round trip of one call, ${loadText(group[0]!.params).replace(/, [^,]* in flight$/, "")}`;
  return html`<h4>${caption}</h4>${rangeChart(caption, "µs, logarithmic; dot: median, bar: p10 to p90", ranges, "µs")}${roleLegend("One at a time.")}`;
}
