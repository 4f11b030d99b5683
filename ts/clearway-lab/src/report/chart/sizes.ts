// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws a figure against a size in bytes, with one line per mechanism. Both axes are logarithmic.
import * as Plot from "@observablehq/plot";
import type { Html } from "../html.js";
import { bytes as bytesText, logTicks, shown, spaced } from "../number.js";
import { chart } from "./draw.js";

export interface Point {
  mechanism: string;
  bytes: number;
  value: number;
}

/** The colours of a chart's lines. They differ from the roles' colours, because a chart may have two references. */
export const LINE_COLOR: Record<string, string> = {
  "main-thread": "var(--warm)",
  "worker-postmessage": "var(--reference)",
  comlink: "var(--peer)",
  clearway: "var(--clearway)",
  c: "var(--ink)",
  "clearway-copied": "var(--lime)",
  "clearway-shared": "var(--clearway)",
  "clearway-held": "var(--teal)",
  "node-api": "var(--warm)",
  "koffi-elements": "var(--rose)",
  "koffi-copied": "var(--peer)",
  "koffi-shared": "var(--sky)",
  "koffi-held": "var(--reference)",
  "jni-direct": "var(--warm)",
  "jni-elements": "var(--rose)",
  "jni-critical": "var(--brick)",
  "arrays-fill": "var(--gold)",
  "buffer-put": "var(--faint)",
  "segment-fill": "var(--reference)",
  "bytes-copied": "var(--peer)",
  "bytes-moved": "var(--sky)",
  "objects-cloned": "var(--warm)",
  "clearway-bytes-copied": "var(--lime)",
  "clearway-bytes-moved": "var(--clearway)",
  "clearway-objects": "var(--gold)",
  ffm: "var(--sky)",
  "ffm-copied": "var(--peer)",
};

const MARGIN_RIGHT = 24;
/** The room that the label of a size needs. */
const LABEL_PX = 48;

export interface SizeAxes {
  x: string;
  y: string;
}

export function sizeChart(
  label: string,
  axes: SizeAxes,
  points: Point[],
  limit?: { value: number; text: string },
): Html {
  const sizes = [...new Set(points.map(({ bytes }) => bytes))].sort((a, b) => a - b);
  const color = (point: Point) => LINE_COLOR[point.mechanism] ?? "var(--reference)";
  const values = [...points.map(({ value }) => value), ...(limit === undefined ? [] : [limit.value])];
  // Leaves room above the highest line for its label, and below the lowest line for its dots.
  const domain: [number, number] = [Math.min(...values) * 0.85, Math.max(...values) * 1.5];
  // Leaves room for the longest figure of the axis and its tick.
  const marginLeft = Math.max(52, 12 + 7.5 * Math.max(...logTicks(...domain).map((tick) => shown(tick).length)));
  return chart(label, ({ narrow, width }) => {
    return {
      height: narrow ? 250 : 280,
      width,
      marginLeft,
      marginRight: MARGIN_RIGHT,
      marginTop: 26,
      marginBottom: 44,
      x: {
        type: "log",
        base: 2,
        label: axes.x,
        labelAnchor: "center",
        labelArrow: "none",
        ticks: spaced(sizes, LABEL_PX / (width - marginLeft - MARGIN_RIGHT)),
        tickFormat: (size: number) => bytesText(size),
      },
      y: {
        type: "log",
        domain,
        label: axes.y,
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
        Plot.line(points, { x: "bytes", y: "value", z: "mechanism", stroke: color, strokeWidth: 2 }),
        Plot.dot(points, { x: "bytes", y: "value", fill: color, r: 3.5 }),
      ],
    };
  });
}
