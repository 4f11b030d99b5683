// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws a grid of figures, darker for larger values. Each cell shows its figure, so the grid is readable without colour.
import * as Plot from "@observablehq/plot";
import type { Html } from "../html.js";
import { chart, type Draw } from "./draw.js";

/** The width on a narrow page. A grid may have sixteen columns with a figure each. */
const NARROW = 400;

export interface HeatCell {
  row: string;
  column: string;
  /** The value. It is at least 1, because the colour depends on the value's logarithm. */
  value: number;
  text: string;
  /** The text for a narrow page with many columns: at most four characters. */
  short: string;
  /** Whether the cell has a frame and bold text. */
  marked: boolean;
}

/** The value that gets the darkest colour. With this value, the colours of 2 and 10 are easy to distinguish. */
const DARKEST = 100;
/** Column width in pixels below which only four characters fit. */
const CROWDED_PX = 38;
/** Maximum opacity of a cell's colour. The figure stays readable on it, on a light and on a dark page. */
const OPACITY_MAX = 0.45;

export function heatMap(label: string, rows: readonly string[], columns: readonly string[], cells: HeatCell[]): Html {
  const opacity = ({ value }: HeatCell) => OPACITY_MAX * Math.min(1, Math.max(0, Math.log(value) / Math.log(DARKEST)));
  const draw: Draw = ({ narrow, width }) => {
    const marginLeft = narrow ? 122 : 200;
    const marginTop = 12 + (narrow ? 5.6 : 5.4) * Math.max(...columns.map((column) => lines(column, narrow)));
    const crowded = (width - marginLeft) / Math.max(1, columns.length) < CROWDED_PX;
    const fontSize = crowded ? 9 : narrow ? 10.5 : 12.5;
    const place = { x: "column", y: "row" };
    return {
      width,
      height: marginTop + rows.length * (narrow ? 24 : 27) + 6,
      marginLeft,
      marginTop,
      marginRight: 4,
      marginBottom: 6,
      opacity: { type: "identity" },
      x: {
        type: "band",
        domain: columns,
        axis: "top",
        label: null,
        tickSize: 0,
        padding: 0.04,
        ...(narrow ? { tickRotate: -90 } : { tickFormat: (name: string) => name.replaceAll(", ", "\n") }),
      },
      y: {
        type: "band",
        domain: rows,
        label: null,
        tickSize: 0,
        padding: 0.06,
        tickFormat: (name: string) => shortened(name, narrow ? 17 : 34),
      },
      marks: [
        Plot.cell(cells, { ...place, fill: "var(--track)", fillOpacity: 0.5 }),
        Plot.cell(cells, { ...place, fill: "var(--warm)", fillOpacity: opacity }),
        Plot.cell(
          cells.filter(({ marked }) => marked),
          { ...place, fill: "none", stroke: "currentColor", strokeWidth: 1.4, inset: 1 },
        ),
        ...[true, false].map((bold) =>
          Plot.text(
            cells.filter(({ marked }) => marked === bold),
            {
              ...place,
              text: crowded ? "short" : "text",
              fill: "currentColor",
              fontWeight: bold ? 700 : 400,
              fontSize,
            },
          ),
        ),
      ],
    };
  };
  return chart(label, draw, NARROW);
}

/** Returns a heading's height, in units of about 5.5 px. A wide page has a line per part; a narrow page rotates the heading. */
function lines(column: string, narrow: boolean): number {
  return narrow ? column.length : column.split(", ").length * 2.8;
}

/** Shortens a name in its middle, because similar names differ at their ends. */
function shortened(name: string, most: number): string {
  if (name.length <= most) return name;
  const half = (most - 1) >> 1;
  return `${name.slice(0, half).trimEnd()}…${name.slice(-half).trimStart()}`;
}
