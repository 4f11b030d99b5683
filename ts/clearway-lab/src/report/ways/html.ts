// SPDX-License-Identifier: MIT OR Apache-2.0
// The picture "which way, in which language", and its figures as a table.
import * as Plot from "@observablehq/plot";
import type { HostName } from "../../protocol/message.js";
import type { RunRecord } from "../../run/record.js";
import type { Results } from "../../run/results.js";
import { chart } from "../chart/draw.js";
import { hostTitle } from "../host-titles.js";
import { Html, html } from "../html.js";
import { logTicks, shown, shownTime, spaced } from "../number.js";
import { scrolling } from "../scroll.js";
import { type WaysView, waysView } from "./view.js";

/** The colours of the hosts. They are not those of the roles: every row has one mechanism of each host. */
const COLORS: Record<string, string> = { node: "lime", chromium: "sky", jvm: "warm", swift: "rose", flutter: "gold" };
const OTHER_COLOR = "teal";

/** The room that the label of a tick needs. */
const LABEL_PX = 46;

/** The distance between the marks of two hosts in one row, in pixels. */
const BETWEEN_HOSTS = 8;

const colorOf = (host: HostName): string => COLORS[host] ?? OTHER_COLOR;

export function waysHtml(results: Results, record: RunRecord): Html {
  const view = waysView(results, record);
  if (view === undefined) return new Html("");
  const caption = `Which way, in which language: delay of an event at ${view.load}`;
  const legend = html`<ul class="legend">${view.hosts.map((host) => html`<li><span class="dot ${colorOf(host)}"></span>${hostTitle(host)}</li>`)}<li>Dot: median. Bar: p10 to p90. Line: up to p99.</li></ul>`;
  return html`<section id="ways"><h3>${caption}</h3>
<p>Each row is one way to hand an event over, in the languages that have it. In Node and Chromium, the rows without a worker stay on one thread; on the JVM and in Swift, a queue, a stream with a buffer and an actor wake another one.</p>
${waysChart(caption, view)}${legend}${table(caption, view)}</section>`;
}

interface Mark {
  way: string;
  low: number;
  middle: number;
  high: number;
  tail: number;
}

function waysChart(caption: string, { hosts, rows }: WaysView): Html {
  const marksOf = (host: HostName): Mark[] =>
    rows.flatMap(({ title, points }) =>
      points
        .filter((point) => point.host === host)
        .map(({ latency: { p10, p50, p90, p99, unsupported }, clockStepUs }) => ({
          way: title,
          low: Math.max(clockStepUs, p10),
          middle: Math.max(clockStepUs, p50),
          high: Math.max(clockStepUs, p90),
          tail: Math.max(clockStepUs, unsupported?.includes("p99") ? p90 : p99),
        })),
    );
  const marks = hosts.flatMap(marksOf);
  const [least, most] = [Math.min(...marks.map(({ low }) => low)), Math.max(...marks.map(({ tail }) => tail))];
  return chart(caption, ({ narrow, width }) => {
    const [marginLeft, marginRight] = narrow ? [132, 16] : [190, 30];
    return {
      height: rows.length * (hosts.length * BETWEEN_HOSTS + 14) + 56,
      marginLeft,
      marginRight,
      marginTop: 8,
      marginBottom: 44,
      x: {
        type: "log",
        label: "µs, logarithmic",
        labelAnchor: narrow ? "right" : "center",
        labelArrow: "none",
        grid: true,
        ticks: spaced(logTicks(least, most), LABEL_PX / (width - marginLeft - marginRight), least, most),
        tickFormat: (value: number) => shown(value),
      },
      y: { domain: rows.map(({ title }) => title), label: null, tickSize: 0, type: "point", padding: 0.6 },
      marks: hosts.flatMap((host, at) => {
        const own = marksOf(host);
        const dy = (at - (hosts.length - 1) / 2) * BETWEEN_HOSTS;
        const stroke = `var(--${colorOf(host)})`;
        return [
          Plot.ruleY(own, { x1: "high", x2: "tail", y: "way", dy, stroke, strokeWidth: 1.2 }),
          Plot.ruleY(own, { x1: "low", x2: "high", y: "way", dy, stroke, strokeWidth: 4, strokeOpacity: 0.45 }),
          Plot.dot(own, { x: "middle", y: "way", dy, fill: stroke, r: 4, stroke: "var(--page)", strokeWidth: 1 }),
        ];
      }),
    };
  });
}

function table(caption: string, { hosts, rows }: WaysView): Html {
  const body = rows.map(
    ({ title, points }) =>
      html`<tr class="${title === "Clearway" ? "clearway" : "peer"}"><th scope="row">${title}</th>${hosts.map(
        (host) => {
          const point = points.find((each) => each.host === host);
          return point === undefined
            ? html`<td>–</td>`
            : html`<td>${shownTime(point.latency.p50, point.clockStepUs)}<br><small>${point.title}</small></td>`;
        },
      )}</tr>`,
  );
  return scrolling(
    caption,
    html`<table><thead><tr><th class="text" scope="col">way</th>${hosts.map((host) => html`<th scope="col">${hostTitle(host)} <small>p50, µs</small></th>`)}</tr></thead><tbody>${body}</tbody></table>`,
    hosts.length + 1,
  );
}
