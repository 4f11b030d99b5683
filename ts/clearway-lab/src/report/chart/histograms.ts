// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws latency histograms on one logarithmic axis, with one row per mechanism in the given order.
import * as Plot from "@observablehq/plot";
import type { JsHistogram } from "hdr-histogram-js";
import type { RecordedCell } from "../../run/record.js";
import type { Distribution } from "../../statistics/distribution.js";
import { decodeHistogram, mergeHistograms } from "../../statistics/histogram.js";
import type { Html } from "../html.js";
import { logTicks, shown, shownTime, spaced } from "../number.js";
import { chart, ROLE_COLOR } from "./draw.js";

const BINS_PER_DECADE = 16;
/** The room that the label of a tick needs. */
const LABEL_PX = 38;

interface Row {
  cell: RecordedCell;
  latency: Distribution;
}

interface Bin {
  row: Row;
  from: number;
  to: number;
  /** The bin's share of the fullest bin in its row. */
  share: number;
}

/** Returns the bins of a row. Times shorter than a clock step are indistinguishable, so they share the bin of half a step. */
function binsOf(row: Row, clockStepUs: number): Bin[] {
  const sets = row.cell.rounds.flatMap(({ measurement }) => measurement.samples["latency"] ?? []);
  const whole = mergeHistograms(sets.map(({ hdr }) => decodeHistogram(hdr))) as JsHistogram;
  const counts = new Map<number, number>();
  const iterator = whole.recordedValuesIterator;
  iterator.reset();
  while (iterator.hasNext()) {
    const { valueIteratedTo, countAtValueIteratedTo } = iterator.next();
    const bin = Math.floor(Math.log10(Math.max(clockStepUs / 2, valueIteratedTo / 1000)) * BINS_PER_DECADE);
    counts.set(bin, (counts.get(bin) ?? 0) + countAtValueIteratedTo);
  }
  const most = Math.max(...counts.values());
  return [...counts].map(([bin, count]) => ({
    row,
    from: 10 ** (bin / BINS_PER_DECADE),
    to: 10 ** ((bin + 1) / BINS_PER_DECADE),
    share: count / most,
  }));
}

/** Draws the histograms. `tail` is the quantile that orders the rows; the chart marks it unless it is p50. */
export function histogramChart(label: string, rows: Row[], clockStepUs: number, tail: "p99" | "p90" | "p50"): Html {
  const bins = rows.flatMap((row) => binsOf(row, clockStepUs));
  const least = Math.min(...bins.map((bin) => bin.from));
  const most = Math.max(...bins.map((bin) => bin.to));
  return chart(label, ({ narrow, width }) => {
    const [marginLeft, marginRight] = narrow ? [140, 18] : [220, 130];
    const name = (row: Row) => (narrow ? row.cell.mechanism : row.cell.title);
    return {
      height: rows.length * (narrow ? 38 : 42) + 60,
      marginLeft,
      marginRight,
      marginTop: 8,
      marginBottom: 44,
      x: {
        type: "log",
        domain: [least, most],
        label: "delay from the intended time (µs, logarithmic)",
        labelAnchor: narrow ? "right" : "center",
        labelArrow: "none",
        grid: true,
        ticks: spaced(logTicks(least, most), LABEL_PX / (width - marginLeft - marginRight), least, most),
        tickFormat: (value: number) => shown(value),
      },
      y: { axis: null, domain: [0, 1.05] },
      fy: { domain: rows.map(name), axis: "left", label: null, padding: 0.16, tickSize: 0 },
      marks: [
        Plot.ruleY(rows, { fy: name, y: 0, stroke: "var(--track)" }),
        Plot.rect(bins, {
          fy: (bin) => name(bin.row),
          x1: "from",
          x2: "to",
          y1: 0,
          y2: "share",
          fill: (bin) => ROLE_COLOR[(bin as Bin).row.cell.role],
          insetLeft: 0.3,
          insetRight: 0.3,
        }),
        Plot.tickX(rows, { fy: name, x: (row) => row.latency.p50, stroke: "currentColor", strokeWidth: 1.6 }),
        Plot.tickX(rows, { fy: name, x: (row) => row.latency[tail], stroke: "currentColor", strokeDasharray: "2,2" }),
        ...(narrow
          ? []
          : [
              Plot.text(rows, {
                fy: name,
                frameAnchor: "right",
                textAnchor: "start",
                dx: 12,
                text: (row) =>
                  `p50 ${shownTime(row.latency.p50, clockStepUs)}  ${tail} ${shownTime(row.latency[tail], clockStepUs)}`,
                fill: "currentColor",
              }),
            ]),
      ],
    };
  });
}
