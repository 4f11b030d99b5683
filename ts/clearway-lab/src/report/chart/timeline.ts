// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws the stall timeline: one bar per mechanism, as long as the run. The dark parts are stalls of the main thread.
import * as Plot from "@observablehq/plot";
import type { RecordedCell } from "../../run/record.js";
import type { Html } from "../html.js";
import { shown } from "../number.js";
import { chart, ROLE_COLOR } from "./draw.js";

export interface Strip {
  mechanism: string;
  title: string;
  color: string;
  totalMs: number;
  longestMs: number;
  /** A stall without a colour of its own has the strip's. */
  stalls: { at: number; ms: number; color?: string }[];
}

/** Returns the timeline of a cell. It is that of the round with the median longest stall. */
export function stripOf(cell: RecordedCell): Strip | undefined {
  const rounds = cell.rounds.flatMap(({ measurement }) => measurement.timeline ?? []);
  const longest = (stalls: { ms: number }[]) => Math.max(0, ...stalls.map(({ ms }) => ms));
  rounds.sort((a, b) => longest(a.stalls) - longest(b.stalls));
  const round = rounds[rounds.length >> 1];
  if (round === undefined) return undefined;
  return {
    mechanism: cell.mechanism,
    title: cell.title,
    color: ROLE_COLOR[cell.role],
    totalMs: round.totalMs,
    longestMs: longest(round.stalls),
    stalls: round.stalls,
  };
}

/** Draws a strip per row. `noStall` is the text of a strip without a stall, for wide and for narrow pages. */
export function timelineChart(
  label: string,
  strips: Strip[],
  timeLabel = "time since the call began (ms)",
  noStall: readonly [string, string] = UNDER_A_MS,
): Html {
  return chart(label, ({ narrow }) => {
    const name = (strip: Strip) => (narrow ? strip.mechanism : strip.title);
    const stalls = strips.flatMap((strip) => strip.stalls.map((stall) => ({ strip, ...stall })));
    const end = Math.max(...strips.map(({ totalMs }) => totalMs));
    return {
      height: strips.length * (narrow ? 30 : 34) + 56,
      marginLeft: narrow ? 116 : 284,
      marginRight: narrow ? 56 : 110,
      marginTop: 8,
      marginBottom: 44,
      x: {
        domain: [0, end],
        label: timeLabel,
        labelAnchor: narrow ? "right" : "center",
        labelArrow: "none",
        ticks: narrow ? 3 : 8,
        tickFormat: (value: number) => shown(value),
        grid: true,
      },
      y: { domain: strips.map(name), label: null, padding: 0.32, tickSize: 0 },
      marks: [
        Plot.barX(strips, { x1: 0, x2: "totalMs", y: name, fill: "var(--track)" }),
        // A stall of a millisecond would be thinner than a pixel. The stroke keeps it visible.
        Plot.barX(stalls, {
          x1: "at",
          x2: (stall) => stall.at + stall.ms,
          y: (stall) => name(stall.strip),
          fill: (stall) => stall.color ?? stall.strip.color,
          stroke: (stall) => stall.color ?? stall.strip.color,
          strokeWidth: 0.8,
        }),
        Plot.text(strips, {
          x: end,
          y: name,
          text: ({ longestMs }) => longestText(longestMs, narrow, noStall),
          textAnchor: "start",
          dx: 8,
          fill: "currentColor",
        }),
      ],
    };
  });
}

/** Stalls under 1 ms are not recorded, so the longest stall of a strip without any is not 0 ms. */
const UNDER_A_MS = ["under 1 ms", "<1 ms"] as const;

function longestText(longestMs: number, narrow: boolean, [wide, short]: readonly [string, string]): string {
  if (longestMs === 0) return narrow ? short : wide;
  return narrow ? `${shown(longestMs)} ms` : `longest ${shown(longestMs)} ms`;
}
