// SPDX-License-Identifier: MIT OR Apache-2.0
// The pages of the published experiments, docs/experiments, from a kept run.

import { cellKey } from "../../run/kept.js";
import { type RecordedCell, type RunRecord, resultsOf, runLetter, withoutImpossibleParts } from "../../run/record.js";
import { type Experiment, includes, loadExperiments } from "../../scenario/experiment.js";
import { loadScenarios, type Scenario } from "../../scenario/scenario.js";
import { duration, withMicroSign } from "../number.js";
import { findingGroups, outcomeCounts } from "./findings-text.js";

export { readKept } from "../../run/kept.js";

import type { TableView } from "./table.js";
import { experimentViews, tableView } from "./view.js";

/**
 * Returns the record with the experiments of this version, whose claims, bounds and tables may have been corrected since the run. What the run
 * measured stays, but for the cells with which older versions measured a mechanism twice, or one that is gone. A mechanism has its present
 * title, and a cell the parameters that its scenario still has.
 */
export function withPresentExperiments(record: RunRecord): RunRecord {
  const scenarios = loadScenarios();
  const experiments = loadExperiments(scenarios);
  return { ...record, experiments, cells: presentCells(record.cells, scenarios, experiments) };
}

/**
 * Returns the cells as this version names them, and with its reasons why one could not be measured. If two of them then measure the same, the
 * later one that has figures is kept.
 */
function presentCells(
  recorded: readonly RecordedCell[],
  scenarios: readonly Scenario[],
  experiments: readonly Experiment[],
): RecordedCell[] {
  const titles = new Map(
    scenarios.flatMap(({ name, mechanisms }) =>
      mechanisms.map((each): [string, string] => [`${name}/${each.name}`, each.title]),
    ),
  );
  const measures = experiments.flatMap((each) => each.measures);
  const namesOf = (scenario: string) =>
    measures
      .filter((each) => each.scenario === scenario)
      .flatMap(({ sets }) => sets.flatMap(({ params }) => Object.keys(params)));
  const known = new Map(measures.map(({ scenario }) => [scenario, new Set(namesOf(scenario))]));
  const cells = new Map<string, RecordedCell>();
  for (const cell of recorded) {
    const title = titles.get(`${cell.scenario}/${cell.mechanism}`);
    if (title === undefined || cell.params["control"] !== undefined) continue;
    const names = known.get(cell.scenario);
    const entries = Object.entries(cell.params).filter(([name]) => names?.has(name) ?? true);
    const params = Object.fromEntries(entries);
    const set = measures
      .filter(({ scenario }) => scenario === cell.scenario)
      .flatMap(({ sets }) => sets)
      .find((each) => includes(each.params, params) && each.unavailable?.[cell.mechanism] !== undefined);
    const unavailable =
      cell.unavailable === undefined ? undefined : (set?.unavailable?.[cell.mechanism] ?? cell.unavailable);
    const present = { ...cell, title, params, ...(unavailable !== undefined && { unavailable }) };
    const key = cellKey(present);
    if (present.rounds.length > 0 || !cells.has(key)) cells.set(key, present);
  }
  return [...cells.values()];
}

/** Returns the charts of the pages: each file's name, and its SVG. */
export function experimentCharts(whole: RunRecord): { file: string; svg: string }[] {
  const record = withoutImpossibleParts(whole);
  const views = experimentViews(resultsOf(record), record);
  return views.flatMap(({ tables }) => tables.flatMap(({ chart }) => chart ?? []));
}

/** Returns the line of a run: when, how much, on what, in which runtimes that measured something. */
function runLine({ startedAt, durationMs, done, planned, interrupted, machine, hosts, cells }: RunRecord): string {
  const amount = `${done} of ${planned} measurements in ${duration(durationMs)}${interrupted ? ", interrupted" : ""}`;
  const { cpu, cores, memoryGb, os } = machine;
  // A host that runs in another one names both.
  const used = new Set<string>(cells.filter(({ rounds }) => rounds.length > 0).map(({ host }) => host));
  const measuring = Object.entries(hosts).filter(([name]) => used.has(name));
  const runtimes = [...new Set(measuring.flatMap(([, { runtime }]) => runtime.split("; ")))];
  return `${new Date(startedAt).toISOString().slice(0, 10)}: ${amount}. ${cpu}, ${cores} cores, ${memoryGb} GB, ${os}; ${runtimes.join("; ")}.`;
}

/** Returns the generated part of the page. Throws an Error if the run is not of the profile `published`. */
export function experimentsMarkdown(whole: RunRecord): string {
  const record = withoutImpossibleParts(whole);
  const results = resultsOf(record);
  const views = experimentViews(results, record);
  if (views.length === 0)
    throw new Error(`the run has no experiments: profile=${record.profile}. Run clearway lab --profile published`);
  const lines = [
    `Run ${runLetter(0)}, ${runLine(record)}`,
    "",
    ...(record.added ?? []).flatMap((added, at) => {
      const measured = added.cells.flatMap(({ scenario, rounds }) => (rounds.length > 0 ? [scenario] : []));
      return [
        `Run ${runLetter(at + 1)}, added on ${runLine(added)} Of the scenarios ${[...new Set(measured)].join(", ")}.`,
        "",
      ];
    }),
    outcomeCounts(
      views.length,
      views.flatMap(({ findings }) => findings),
    ),
  ];
  for (const { experiment, tables, findings, leftOut } of views) {
    lines.push("", `## ${experiment.number}. ${experiment.title}`, "");
    lines.push(`**${experiment.question}**`, "", `The authors measured ${experiment.origin}.`, "");
    for (const { lead, sentences } of findingGroups(findings))
      lines.push(...(lead === "" ? [] : [`**${lead}:**`, ""]), ...sentences.map((each) => `- ${each}`), "");
    lines.pop();
    for (const table of tables) {
      const { title, text, chart } = table;
      lines.push("", `### ${title}`, "", ...(text === undefined ? [] : [text, ""]));
      if (chart !== undefined) lines.push(`![${chart.label}](${chart.file})`, "");
      lines.push(...tableLines(table));
    }
    if (leftOut.length > 0) lines.push("", "Left out:", "", ...leftOut.map((each) => `- ${each}`));
  }
  return lines.map(oneLine).join("\n");
}

const us = (figure: string) => ({ label: figure, metric: `latency.${figure}`, unit: "us" });
const events = (metric: string) => ({ label: metric, metric, unit: "events" });

/** Returns the generated part of docs/lab/swift.md: the published stream in Swift, 60 messages a second and 2000 of them. */
export function swiftStreamMarkdown(record: RunRecord): string {
  const results = resultsOf(record);
  const scenario = "stream-published-swift";
  const table = tableView(results, record, {
    title: "60 messages a second, 2000 of them",
    scenario,
    host: "swift",
    params: { perSecond: 60, count: 2000 },
    columns: [...["p50", "p90", "p99", "max"].map(us), ...["reordered", "lost"].map(events)],
    order: "latency.p99",
  });
  const runtime = results.run.runtimes["swift"] ?? "Swift";
  const own = record.cells.filter((cell) => cell.scenario === scenario && cell.params["count"] === 2000);
  const letters = new Set(own.flatMap(({ rounds, added = runLetter(0) }) => (rounds.length > 0 ? [added] : [])));
  const named = [record, ...(record.added ?? [])].flatMap(({ startedAt, machine: { cpu, cores, os } }, at) =>
    letters.has(runLetter(at))
      ? [`Run ${runLetter(at)}, ${startedAt.slice(0, 10)}: ${cpu}, ${cores} cores, ${os}; ${runtime}.`]
      : [],
  );
  return [...named.flatMap((each) => [each, ""]), `${table.title}, smallest p99 first:`, "", ...tableLines(table)]
    .map(oneLine)
    .join("\n");
}

function tableLines({ head, rows, notes }: TableView): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(" | ")} |`;
  return [
    line(head),
    `|${head.map((label, at) => (at === 0 || label === "verdict" ? "---" : "---:")).join("|")}|`,
    ...rows.map(({ title, authors, cells }) => line([authors ? `*${title}*` : title, ...cells])),
    ...(notes.length === 0 ? [] : ["", ...notes.map((note) => `- ${note}`)]),
  ];
}

/** A bar would end a cell of a table. */
function escaped(text: string): string {
  return text.replaceAll("|", "\\|");
}

function oneLine(text: string): string {
  return withMicroSign(text.replace(/[\r\n]+/g, " "));
}
