// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the figures of a committed run into Markdown. Two comments in a page enclose a table:
//
//   <!-- figures: calls -->
//   <!-- end of figures -->
//
// The lines between the comments are generated. The name is `summary`, `machine`, `runs` or a name in tables.mjs.
import { tableOf } from "../lab-runs.mjs";
import { summary, tables } from "./tables.mjs";

const begin = /^<!-- figures: ([\w-]+) -->$/;
const end = "<!-- end of figures -->";
const hosts = { node: "Node", chromium: "Chromium" };

/** Returns `{ page, problems, count }`. `page` is `text` with every such table generated from `results`. Does not throw. */
export function fill(text, results) {
  const lines = text.split("\n");
  const out = [];
  const problems = [];
  let count = 0;
  for (let at = 0; at < lines.length; at++) {
    out.push(lines[at]);
    const name = begin.exec(lines[at])?.[1];
    if (name === undefined) continue;
    const stop = lines.indexOf(end, at);
    if (stop < 0) {
      problems.push(`line ${at + 1}: "${end}" is missing`);
      continue;
    }
    try {
      out.push(...block(name, results));
      count++;
    } catch (error) {
      problems.push(`line ${at + 1}: ${error.message}`);
      out.push(...lines.slice(at + 1, stop));
    }
    at = stop - 1;
  }
  return { page: out.join("\n"), problems, count };
}

function block(name, results) {
  if (name === "machine") return machine(results);
  if (name === "runs") return ["", ...tableOf(results), ""];
  const rows = name === "summary" ? summary : tables[name];
  if (rows === undefined)
    throw new Error(`no table is called ${name}; there are: machine, summary, ${Object.keys(tables).join(", ")}`);
  // The blank line ends the HTML comment. Without it, Markdown does not recognise the table.
  return ["", ...(name === "summary" ? summaryTable(rows, results) : promiseTable(rows, results)), ""];
}

/** Profiles of kept runs that have other names today. */
const renamed = { full: "promises-full" };

function machine({ machine, run, build }) {
  const { os, arch, cpu, cores, memoryGb, virtual } = machine;
  return [
    "",
    `- machine: ${cpu}, ${cores} cores, ${Math.round(memoryGb)} GB, ${virtual}, ${os} (${arch})`,
    `- runtimes: ${Object.values(run.runtimes).join(", ")}`,
    `- date and commit: ${run.startedAt.slice(0, 10)}, ${build.commit}; ${profileText(run.profile)}`,
    `- compared with: ${Object.entries(build.peers)
      .map(([peer, version]) => `${peer} ${version}`)
      .join(", ")}`,
    "",
  ];
}

function profileText(profile) {
  const today = renamed[profile];
  return today === undefined
    ? `profile \`${profile}\``
    : `profile \`${today}\`, which the record calls by its former name \`${profile}\``;
}

function promiseTable(rows, results) {
  const shown = Object.keys(hosts).filter((host) => rows.some((row) => cellOf(row, host, results)));
  return [
    line("measurement", ...shown.map((host) => hosts[host]), "target"),
    line("---", ...shown.map(() => "---:"), "---:"),
    ...rows.map((row) => {
      const cells = shown.map((host) => cellOf(row, host, results));
      if (cells.every((cell) => cell === undefined)) throw new Error(`the results have no cell for "${row.title}"`);
      return line(row.title, ...cells.map(figure), target(cells.find(Boolean)));
    }),
  ];
}

function summaryTable(rows, results) {
  const shown = Object.keys(hosts);
  return [
    line("", ...shown.map((host) => hosts[host])),
    line("---", ...shown.map(() => "---")),
    ...rows.map((row) => {
      const cells = shown.map((host) => {
        const cell = cellOf(row, host, results);
        if (cell === undefined) throw new Error(`the results have no cell for "${row.title}" on ${host}`);
        return pair(cell);
      });
      return line(row.title, ...cells);
    }),
  ];
}

const line = (...cells) => `| ${cells.join(" | ")} |`;

function cellOf({ promise, of, over, state }, host, { cells }) {
  return cells.find(
    (cell) =>
      cell.family === "promise" &&
      cell.scenario === promise &&
      cell.host === host &&
      (of === undefined || cell.mechanism === of) &&
      (over === undefined || cell.params.over === over) &&
      (state === undefined || cell.params.state === state),
  );
}

/** Returns the median and the middle half, with "missed" if the figure misses its target. */
function figure(cell) {
  if (cell === undefined) return "";
  if (cell.status !== "ok") return cell.status;
  const { figure, p25, p75 } = cell.metrics;
  const middle =
    cell.params.rounds > 1 && p25.value !== p75.value ? ` (${number(p25.value)} to ${number(p75.value)})` : "";
  const missed = cell.params.verdict === "missed" ? ", **missed**" : "";
  return `${number(figure.value)}${unit(figure.unit)}${middle}${missed}`;
}

function target({ params, metrics }) {
  return params.asked === undefined ? "" : `${params.sense} ${params.asked}${unit(metrics.figure?.unit)}`;
}

/** Returns Clearway's figure and the other one, from the detail of a ratio such as "53.3 over 1.0 us". */
function pair(cell) {
  const found = /^([\d.]+)( \S+)? over ([\d.]+)(.*)$/.exec(cell.params.detail ?? "");
  if (!found) return `${number(cell.metrics.figure.value)}${unit(cell.metrics.figure.unit)}`;
  const [, first, firstUnit, second, secondUnit] = found;
  const of = firstUnit ?? secondUnit;
  const [ours, theirs] = isOursFirst(cell) ? [first, second] : [second, first];
  return `**${ours}${of}**, ${cell.params.over.replace(/, \d+$/, "")} ${theirs}${of}`;
}

/** Returns whether Clearway's figure is the first. It is if a low ratio is good, or if both figures are calls per second. */
function isOursFirst({ params, scenario }) {
  return params.sense === "at most" || scenario.startsWith("flight-");
}

const unit = (name) => (name === undefined || name === "ratio" ? "" : ` ${name}`);

function number(value) {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}
