// SPDX-License-Identifier: MIT OR Apache-2.0
// Adds a stall timeline that a reader can zoom. An inlined uPlot draws it if scripts run. The static chart has the same data.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Strip } from "./chart/timeline.js";
import { Html, html, scriptJson } from "./html.js";

export function zoomable(host: string, strips: Strip[]): Html {
  const data = strips.map(({ mechanism, color, totalMs, stalls }) => ({
    mechanism,
    color: /--[a-z]+/.exec(color)![0],
    totalMs,
    stalls: stalls.map(({ at, ms }) => [Number(at.toFixed(2)), Number((at + ms).toFixed(2))]),
  }));
  return html`<details class="zoom" hidden><summary>Zoom into the stalls (${host})</summary>
<p class="hint">Drag to zoom in, double-click to see all. Thick lines are stalls of the main thread.</p>
<div class="zoom-plot" role="img" aria-label="${`Stalls of the main thread (${host}), to zoom into`}"></div><script type="application/json">${scriptJson(data)}</script></details>`;
}

/** Returns uPlot's script and style, and the script that gives uPlot its data. */
export function zoomAssets(): { style: Html; script: Html } {
  const require = createRequire(import.meta.url);
  const read = (name: string) => readFileSync(require.resolve("uplot/dist/" + name), "utf8");
  // A closing tag inside the library's text would end the element. The current uPlot has none; a future version may have one.
  const safe = (text: string) => text.replace(/<\/(script|style)/gi, "<\\/$1");
  return {
    style: new Html(safe(read("uPlot.min.css"))),
    // The licence asks that its text is in every copy.
    script: new Html(`/*!\n${safe(read("../LICENSE"))}*/\n${safe(read("uPlot.iife.min.js"))};${FEED}`),
  };
}

const FEED = `
for (const box of document.querySelectorAll(".zoom")) {
  box.hidden = false;
  box.addEventListener("toggle", () => {
    const target = box.querySelector(".zoom-plot");
    if (!box.open || target.firstChild) return;
    const rows = JSON.parse(box.querySelector("script").textContent);
    const css = getComputedStyle(document.documentElement);
    const color = (name) => css.getPropertyValue(name).trim();
    // A point between two stalls of a row, without a value, keeps the line from joining them.
    const gaps = (row) => row.stalls.slice(1).map(([from], i) => (row.stalls[i][1] + from) / 2);
    const xs = [...new Set(rows.flatMap((row) => [0, row.totalMs, ...row.stalls.flat(), ...gaps(row)]))].sort((a, b) => a - b);
    const ys = rows.map((row, i) => xs.map((x) => (row.stalls.some(([from, to]) => x >= from && x <= to) ? rows.length - i : null)));
    const axis = { stroke: color("--ink"), grid: { stroke: color("--track"), width: 1 }, ticks: { stroke: color("--track") }, font: "12px system-ui" };
    const make = () => new uPlot({
      width: target.clientWidth, height: rows.length * 34 + 70, legend: { show: false },
      cursor: { drag: { x: true, y: false }, points: { show: false } },
      scales: { x: { time: false }, y: { range: [0.4, rows.length + 0.6] } },
      axes: [{ ...axis, space: 80, values: (_, ticks) => ticks.map((tick) => tick + " ms") },
        { ...axis, size: 140, splits: () => rows.map((_, i) => rows.length - i), values: () => rows.map((row) => row.mechanism) }],
      series: [{}, ...rows.map((row) => ({ stroke: color(row.color), width: 14, points: { show: false }, spanGaps: false }))],
    }, [xs, ...ys], target);
    let plot = make();
    addEventListener("resize", () => plot.setSize({ width: target.clientWidth, height: rows.length * 34 + 70 }));
  });
}`;
