// SPDX-License-Identifier: MIT OR Apache-2.0
// A figure against chunk size, one line a mechanism, both axes logarithmic.
import * as Plot from "@observablehq/plot";
import type { Html } from "../html.js";
import { bytes, logTicks, shown } from "../number.js";
import { chart } from "./draw.js";

export interface Point {
  mechanism: string;
  chunkBytes: number;
  value: number;
}

/** The lines of one chart need colours of their own: here two references stand side by side. */
export const LINE_COLOR: Record<string, string> = {
  "main-thread": "var(--warm)",
  "worker-postmessage": "var(--reference)",
  comlink: "var(--peer)",
  clearway: "var(--clearway)",
};

export function chunkChart(
  label: string,
  yLabel: string,
  points: Point[],
  limit?: { value: number; text: string },
): Html {
  const sizes = [...new Set(points.map(({ chunkBytes }) => chunkBytes))].sort((a, b) => a - b);
  const color = (point: Point) => LINE_COLOR[point.mechanism] ?? "var(--reference)";
  const values = [...points.map(({ value }) => value), ...(limit === undefined ? [] : [limit.value])];
  // Room above the highest line for its label, and below the lowest for its dots.
  const domain: [number, number] = [Math.min(...values) * 0.85, Math.max(...values) * 1.5];
  return chart(label, ({ narrow, width }) => {
    return {
      height: narrow ? 250 : 280,
      width,
      marginLeft: 52,
      marginRight: 24,
      marginTop: 26,
      marginBottom: 44,
      x: {
        type: "log",
        base: 2,
        label: "chunk size (logarithmic)",
        labelAnchor: "center",
        labelArrow: "none",
        ticks: narrow && sizes.length > 5 ? sizes.filter((_, i) => i % 3 === 0) : sizes,
        tickFormat: (size: number) => bytes(size),
      },
      y: {
        type: "log",
        domain,
        label: yLabel,
        labelArrow: "none",
        grid: true,
        ticks: logTicks(...domain),
        tickFormat: (value: number) => shown(value),
      },
      marks: [
        ...(limit === undefined
          ? []
          : [
              Plot.ruleY([limit.value], { stroke: "currentColor", strokeDasharray: "4,4", strokeOpacity: 0.6 }),
              Plot.text([limit], {
                y: "value",
                text: "text",
                frameAnchor: "left",
                dx: 6,
                dy: -8,
                textAnchor: "start",
                fill: "currentColor",
              }),
            ]),
        Plot.line(points, { x: "chunkBytes", y: "value", z: "mechanism", stroke: color, strokeWidth: 2 }),
        Plot.dot(points, { x: "chunkBytes", y: "value", fill: color, r: 3.5 }),
      ],
    };
  });
}
