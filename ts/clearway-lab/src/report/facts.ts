// SPDX-License-Identifier: MIT OR Apache-2.0
// Renders the end of the report: the machine, the build, the noise floor, the settings of every mechanism, and how to repeat the run.
import type { Description } from "../protocol/message.js";
import type { RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";
import { hostTitle } from "./host-titles.js";
import { type Html, html } from "./html.js";
import { loadText } from "./load-text.js";
import { scrolling } from "./scroll.js";

/** Describes the part that is new for each measurement. */
export function freshness(fresh: Description["fresh"]): string {
  return fresh === "JVM for each work"
    ? "a JVM for each work, kept for the run"
    : `a fresh ${fresh} for each measurement`;
}

/** What Linux's setting of transparent huge pages means for fresh memory, which the memory scenarios measure. */
const HUGE_PAGES: Record<string, string> = {
  always: "always: one page fault of fresh memory may clear 2 MB",
  madvise: "madvise: only memory that asks for them, so fresh memory has page faults of 4 KB",
  never: "never: fresh memory has page faults of 4 KB",
};

export function factsSection(results: Results, record: RunRecord): Html {
  const { machine, build } = results;
  const steal = machine.stealPercent === null ? "not available" : `${machine.stealPercent} %`;
  const peers = Object.entries(build.peers)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
  const facts: [string, string][] = [
    ["CPU", `${machine.cpu}, ${machine.cores} cores`],
    ["Memory", `${machine.memoryGb} GB`],
    ["System", `${machine.os}, ${machine.arch} (${machine.virtual})`],
    ["Governor", machine.governor],
    ...(machine.hugePages === undefined ? [] : [["Huge pages", HUGE_PAGES[machine.hugePages]!] as [string, string]]),
    ["Load before, steal", `${machine.loadBefore}, ${steal}`],
    ["Node", `${build.node}, V8 ${build.v8}${build.nodeOptions === "" ? "" : ", options " + build.nodeOptions}`],
    ...Object.entries(record.hosts).map(([host, facts]): [string, string] => [
      "Host " + host,
      `${facts.runtime}, ${freshness(facts.fresh)}, clock steps of ${facts.clockStepUs} µs, ${facts.crossOriginIsolated ? "shared memory" : "no shared memory"}`,
    ]),
    ["Clearway, lab", `${build.clearway}, ${build.lab}${build.commit === null ? "" : ", commit " + build.commit}`],
    ...(Object.keys(build.peers).length === 0 ? [] : [["Peers", peers] as [string, string]]),
  ];
  return html`<h2>The machine and the build</h2><dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
${floors(results)}${settings(record)}
${runAgain(results, record)}`;
}

function runAgain({ run }: Results, { command }: RunRecord): Html {
  const order = `The order of the ${run.measurementsPlanned} measurements follows from the seed.`;
  if (command !== undefined)
    return html`<h2>Run it again</h2><p>${order}</p><p><code>${command} --seed ${run.seed}</code></p>`;
  return html`<h2>Run it again</h2>
<p>${order} One cell can be run alone by its name.</p>
<p><code>clearway lab --profile ${run.profile} --seed ${run.seed}</code></p>
<p><code>clearway lab students/clearway-columns --profile ${run.profile} --host node</code></p>`;
}

function floors({ noiseFloor }: Results): Html {
  if (noiseFloor.length === 0)
    return html`<h2>The noise floor</h2><p>No mechanism was measured twice in this run, so its noise is unknown.</p>`;
  return html`<h2>The noise floor</h2><p>The same mechanism, measured twice as two cells. The report says “no difference seen” for a smaller difference, and for one that not every round confirms.</p>
${scrolling(
  "the noise floor",
  html`<table><thead><tr>${["scenario", "host", "load", "measured twice", "figure"].map((head) => html`<th class="text" scope="col">${head}</th>`)}<th scope="col">rounds</th><th scope="col">factor</th></tr></thead>
<tbody>${noiseFloor.map((floor) => {
    const size = floor.params["chunkBytes"] ?? floor.params["megabytes"];
    return html`<tr><th scope="row">${floor.scenario}</th><td class="text">${hostTitle(floor.host)}</td><td class="text">${loadText(floor.params) || String(size ?? "")}</td><td class="text">${floor.mechanism}</td><td class="text">${floor.metric}</td><td>${floor.rounds}</td><td>${floor.ratio.toFixed(2)}</td></tr>`;
  })}</tbody></table>`,
)}`;
}

function settings(record: RunRecord): Html {
  // A mechanism with the same settings in several scenarios has one row.
  const rows = new Map<string, { cell: RunRecord["cells"][number]; scenarios: Set<string> }>();
  for (const cell of record.cells) {
    const key = `${cell.mechanism}: ${cell.settings}`;
    const row = rows.get(key) ?? { cell, scenarios: new Set() };
    row.scenarios.add(cell.scenario);
    rows.set(key, row);
  }
  return html`<h2>How each mechanism is set up</h2><details><summary>${rows.size} mechanisms and their settings</summary>${scrolling(
    "how each mechanism is set up",
    html`<table><thead><tr>${["mechanism", "scenario", "settings"].map((head) => html`<th class="text" scope="col">${head}</th>`)}</tr></thead>
<tbody>${[...rows.values()].map(
      ({ cell, scenarios }) =>
        html`<tr><th scope="row"><span class="dot ${cell.role}"></span>${cell.mechanism}</th><td class="text">${[...scenarios].join(", ")}</td><td class="text">${cell.settings}</td></tr>`,
    )}</tbody></table>`,
  )}</details>`;
}
