// SPDX-License-Identifier: MIT OR Apache-2.0
// Renders report.html: one file that fetches nothing and is readable without scripts.

import { answersOf } from "../run/answer.js";
import type { RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";
import { loadNote, NOISE_NOTE, REST } from "./answer-text.js";
import { answersHtml } from "./answers-html.js";
import { doubtLines } from "./doubts.js";
import { duration } from "./duration.js";
import { experimentsHtml } from "./experiments/html.js";
import { factsSection } from "./facts.js";
import { Html, html } from "./html.js";
import { withMicroSign } from "./number.js";
import { scenarioSection } from "./sections.js";
import { STYLE } from "./style.js";
import { tablesOf } from "./tables.js";
import { verdictOf } from "./verdict.js";
import { waysHtml } from "./ways/html.js";
import { zoomAssets } from "./zoom.js";

const FAMILY_TITLES: Record<string, string> = {
  isolate: "Isolate: work that leaves the main thread",
  memory: "Memory: native code fills an app's buffer",
  channel: "Channel: the cost of a platform channel",
  push: "Push: a live stream to the main thread",
  offload: "Offload: the best executor for each kind of work",
  bench: "Your scenario",
};

const RATIO =
  "A ratio is Clearway's figure divided by the other one. For times, below 1 is faster; for events per second, above 1 is faster.";
const BENCH_RATIO = "A ratio is the way's figure divided by the other one: below 1 is faster.";

export function reportHtml(results: Results, record: RunRecord): string {
  const answers = record.questions === undefined ? [] : answersOf(record, record.questions);
  const [first, ...others] = verdictOf(results, record).map(withMicroSign);
  const tables = tablesOf(results, record);
  const isBench = record.profile === "bench";
  const { style, script } = zoomAssets();
  const { run, machine } = results;
  const load = loadNote(machine);
  const families = [...new Set(record.scenarios.map(({ family }) => family))];
  const when = new Date(run.startedAt).toISOString().replace("T", " ").slice(0, 16);
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Clearway lab report</title><link rel="icon" href="data:,"><style>${style}${new Html(STYLE)}</style></head>
<body><main>
<header><p class="kicker">${isBench ? "Clearway bench" : "Clearway lab"}</p><h1>${first!}</h1>${load === undefined ? html`` : html`<p>${load}</p>`}
${answers.length > 0 ? answersHtml(answers, isBench ? "the way" : "Clearway") : others.length > 0 && record.experiments === undefined ? html`<ul class="verdicts">${others.map((sentence) => html`<li>${sentence}</li>`)}</ul>` : html``}
${answers.length > 0 ? html`<p class="meta">${isBench ? `${BENCH_RATIO} ${NOISE_NOTE}` : `${RATIO} ${NOISE_NOTE} ${REST}`}</p>` : html``}
<p class="meta">${when} UTC, profile ${run.profile}, ${run.measurementsDone} of ${run.measurementsPlanned} measurements in ${duration(run.durationMs)}${run.interrupted ? ", interrupted" : ""}; ${machine.cpu}, ${machine.cores} cores; ${Object.values(run.runtimes).join(", ")}.</p></header>
${experimentsHtml(results, record)}
${doubts(results)}
${families.map(
  (family) =>
    html`<h2 id="${family}">${FAMILY_TITLES[family] ?? family}</h2>${family === "push" ? waysHtml(results, record) : html``}${record.scenarios
      .filter((scenario) => scenario.family === family)
      .map((scenario) => scenarioSection(results, record, scenario, tables))}`,
)}
${factsSection(results, record)}
</main><script>${script}</script></body></html>
`;
  return page.text;
}

/** Lists the warnings: a few short lines, and the whole text with the next step of each in a collapsed list. */
function doubts({ warnings }: Results): Html {
  if (warnings.length === 0) return html``;
  const item = ({ message, next }: Results["warnings"][number]) =>
    html`<li>${message} <span class="next">${next}.</span></li>`;
  return html`<aside class="doubt"><h2>Doubts</h2><ul>${doubtLines(warnings, "listed below").map((line) => html`<li>${line}</li>`)}</ul>
<details><summary>All doubts, and what to do about each</summary><ul>${warnings.map(item)}</ul></details></aside>`;
}
