// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws a range and a median per row, on a logarithmic axis: for pools, fills, codecs, channels and the firehose.
import * as Plot from "@observablehq/plot";
import type { Html } from "../html.js";
import { logTicks, shown } from "../number.js";
import { chart } from "./draw.js";

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
  return chart(label, ({ narrow }) => {
    const name = (range: Range) => (narrow ? range.mechanism : range.title);
    return {
      height: ranges.length * (narrow ? 26 : 28) + 60,
      marginLeft: narrow ? 132 : 236,
      marginRight: narrow ? 20 : 130,
      marginTop: 8,
      marginBottom: 44,
      x: {
        type: "log",
        label: xLabel,
        labelAnchor: "center",
        labelArrow: "none",
        grid: true,
        ticks: logTicks(least, most),
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
