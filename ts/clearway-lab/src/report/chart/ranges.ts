// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws a range and a median per row, on a logarithmic axis: for pools, fills, codecs, channels and the firehose.
import * as Plot from "@observablehq/plot";
import type { Html } from "../html.js";
import { logTicks, shown, spaced } from "../number.js";
import { chart } from "./draw.js";

/** The room that the label of a tick needs. */
const LABEL_PX = 46;

export interface Range {
  mechanism: string;
  title: string;
  color: string;
  low: number;
  middle: number;
  high: number;
}

export function rangeChart(label: string, xLabel: string, ranges: Range[], unit: string): Html {
  const least = Math.min(...ranges.map(({ low }) => low));
  const most = Math.max(...ranges.map(({ high }) => high));
  return chart(label, ({ narrow, width }) => {
    const [marginLeft, marginRight] = narrow ? [narrowMargin(ranges), 20] : [236, 130];
    const name = (range: Range) => (narrow ? range.mechanism : range.title);
    return {
      height: ranges.length * (narrow ? 26 : 28) + 60,
      marginLeft,
      marginRight,
      marginTop: 8,
      marginBottom: 44,
      x: {
        type: "log",
        label: xLabel,
        labelAnchor: narrow ? "right" : "center",
        labelArrow: "none",
        grid: true,
        ticks: spaced(logTicks(least, most), LABEL_PX / (width - marginLeft - marginRight), least, most),
        tickFormat: (value: number) => shown(value),
      },
      y: { domain: ranges.map(name), label: null, tickSize: 0, type: "point" },
      marks: [
        Plot.ruleY(ranges, { y: name, stroke: "var(--track)" }),
        Plot.ruleY(ranges, {
          x1: "low",
          x2: "high",
          y: name,
          stroke: "color",
          strokeWidth: 5,
          strokeOpacity: 0.45,
          strokeLinecap: "round",
        } as Plot.RuleYOptions),
        Plot.dot(ranges, { x: "middle", y: name, fill: "color", r: 5.5, stroke: "var(--page)", strokeWidth: 1.5 }),
        ...(narrow
          ? []
          : [
              Plot.text(ranges, {
                y: name,
                frameAnchor: "right",
                textAnchor: "start",
                dx: 12,
                text: (range) => `${shown(range.middle)} ${unit}`,
                fill: "currentColor",
              }),
            ]),
      ],
    };
  });
}

/** Returns the room for the names on a narrow page, where the mechanisms' short names stand. */
function narrowMargin(ranges: readonly Range[]): number {
  return 16 + 6.8 * Math.max(...ranges.map(({ mechanism }) => mechanism.length));
}
