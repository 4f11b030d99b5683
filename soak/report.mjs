// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the soak's report: a verdict for each part, its curves, and how its operations ended.
import * as Plot from "@observablehq/plot";
import { JSDOM } from "jsdom";
import { escaped } from "../scripts/html.mjs";

const { document } = new JSDOM("").window;

const titles = {
  rss: "resident memory, MB",
  heap: "heap after garbage collection, MB",
  buffers: "buffers outside the heap, MB",
  threads: "threads",
  files: "open files",
  children: "child processes",
  handles: "handles that keep the process running",
};

const megabytes = new Set(["rss", "heap", "buffers"]);
const scaled = (name, value) => (megabytes.has(name) ? value / 2 ** 20 : value);
const shown = (name, value) =>
  value === undefined ? "" : Number(scaled(name, value).toPrecision(3)).toLocaleString("en");

function curve(part, name) {
  const points = part.samples.flatMap((each) =>
    each[name] === undefined ? [] : [{ at: each.at / 60, value: scaled(name, each[name]) }],
  );
  if (points.length < 2) return "";
  const svg = Plot.plot({
    document,
    width: 440,
    height: 150,
    marginLeft: 52,
    style: { background: "none", fontFamily: "inherit" },
    x: { label: "minutes", grid: true, ticks: 5 },
    y: { label: null, domain: [0, Math.max(1, ...points.map(({ value }) => value))], grid: true, ticks: 4, nice: true },
    marks: [Plot.ruleY([0]), Plot.line(points, { x: "at", y: "value", stroke: "var(--line)", strokeWidth: 1.5 })],
  });
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${part.name}: ${titles[name]}`);
  return `<figure><figcaption>${escaped(titles[name])}</figcaption>${svg.outerHTML}</figure>`;
}

function trendRows({ trends }) {
  const row = ({ name, median, most, growth, low, high, limit, verdict }) =>
    `<tr><th scope="row">${escaped(titles[name])}</th><td>${shown(name, median)}</td><td>${shown(name, most)}</td><td>${
      growth === undefined ? "" : `${shown(name, growth)} (${shown(name, low)} to ${shown(name, high)})`
    }</td><td>${shown(name, limit)}</td><td class="${verdict === "grows" ? "bad" : ""}">${escaped(verdict)}</td></tr>`;
  return trends.map(row).join("");
}

function outcomeRows({ report }) {
  const rows = new Map();
  for (const [key, count] of Object.entries(report?.outcomes ?? {})) {
    const at = key.lastIndexOf(": ");
    const name = key.slice(0, at);
    rows.set(name, [...(rows.get(name) ?? []), `${key.slice(at + 2)} ${count.toLocaleString("en")}`]);
  }
  return [...rows]
    .map(([name, ends]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(ends.join(", "))}</td></tr>`)
    .join("");
}

function section(part) {
  const title = `<h2>${escaped(part.name)}</h2>`;
  if (part.missing !== undefined) return `<section>${title}<p>Left out: ${escaped(part.missing)}.</p></section>`;
  const { report, faults, samples } = part;
  const counts = `${(report?.settled ?? 0).toLocaleString("en")} of ${(report?.started ?? 0).toLocaleString("en")} operations settled; closed and opened anew ${report?.renewals ?? 0} times; ${samples.length} samples.`;
  const list = faults.map((fault) => `<li><pre>${escaped(fault)}</pre></li>`).join("");
  return `<section>${title}
<p class="${faults.length === 0 ? "good" : "bad"}">${faults.length === 0 ? "Passed." : "Failed."} ${counts}</p>
${faults.length === 0 ? "" : `<ul>${list}</ul>`}
<div class="curves">${Object.keys(titles)
    .map((name) => curve(part, name))
    .join("")}</div>
<div class="scroll" tabindex="0" role="region" aria-label="Trends of ${escaped(part.name)}"><table><thead><tr><th scope="col">quantity</th><th scope="col">median</th><th scope="col">largest</th><th scope="col">growth over the run, with its 95&nbsp;% interval</th><th scope="col">limit</th><th scope="col">verdict</th></tr></thead><tbody>${trendRows(part)}</tbody></table></div>
<details><summary>How the operations ended</summary><div class="scroll" tabindex="0" role="region" aria-label="Ends of ${escaped(part.name)}"><table><thead><tr><th scope="col">operation</th><th scope="col">ends</th></tr></thead><tbody>${outcomeRows(part)}</tbody></table></div></details></section>`;
}

const style = `:root{color-scheme:light dark;--line:#1d6fd1;--good:#176b34;--bad:#b3261e;--rule:#8884}
@media(prefers-color-scheme:dark){:root{--line:#7ab5ff;--good:#7fd49a;--bad:#ff9d94}}
body{font:16px/1.5 system-ui,sans-serif;max-width:960px;margin:0 auto;padding:16px}
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.2rem}.good{color:var(--good)}.bad{color:var(--bad)}
.curves{display:grid;grid-template-columns:repeat(auto-fit,minmax(280px,1fr));gap:8px 16px}
figure{margin:0}figcaption{font-size:.85rem}svg{max-width:100%;height:auto;color:inherit}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;width:100%}th,td{text-align:left;padding:4px 10px 4px 0;border-bottom:1px solid var(--rule);vertical-align:top}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:0}summary{cursor:pointer;margin-top:8px}`;

/** Returns the report of a record as one HTML page, without scripts and without other files. */
export function page({ at, seed, hours, operations, machine, parts }) {
  const failed = parts.filter(({ faults = [] }) => faults.length > 0).map(({ name }) => name);
  const ran = parts.filter(({ missing }) => missing === undefined);
  const length =
    hours === undefined ? `${operations} operations in each part` : `${Number((hours * 60).toPrecision(3))} minutes`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Clearway soak</title><style>${style}</style></head><body><main>
<h1>Clearway soak: ${failed.length === 0 ? `all ${ran.length} parts passed` : `${escaped(failed.join(", "))} failed`}</h1>
<p>${escaped(length)}, from ${escaped(at)}, seed ${seed}. ${escaped(machine.cpu)}, ${machine.cores} cores, Node ${escaped(machine.node)}, load ${machine.load.toFixed(2)} before the run.</p>
<p>Each part is a process of its own. It makes calls of many kinds at random, while workers are ended, hang and run out of memory, connections are cut, and readers are slow or leave. A part passes if every operation settles in an expected way, if nothing grows after the first quarter of the run, and if its process ends by itself.</p>
${parts.map(section).join("\n")}
</main></body></html>
`;
}
