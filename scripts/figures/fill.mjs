// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the answers of a kept run of the lab (results.json, version 2) into Markdown. Two comments in a page enclose a table:
//
//   <!-- figures: calls -->
//   <!-- end of figures -->
//
// The lines between the comments are generated. The name is `summary`, `browsers`, `machine`, `runs` or a name in tables.mjs.
import { tableOf } from "../lab-runs.mjs";
import { browsers, summary, tables } from "./tables.mjs";

const begin = /^<!-- figures: ([\w-]+) -->$/;
const end = "<!-- end of figures -->";
const hosts = { node: "Node", chromium: "Chromium", firefox: "Firefox", webkit: "WebKitGTK", jvm: "JVM" };

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
      // The blank line ends the HTML comment. Without it, Markdown does not recognise the table.
      out.push("", ...block(name, results), "");
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
  if (name === "runs") return tableOf(results);
  if (results.version !== 2) throw new Error(`results.json must have version 2: version=${results.version}`);
  if (name === "machine") return machine(results);
  if (name === "summary") return summaryTable(results);
  if (name === "browsers") return browsersTable(results);
  const names = tables[name];
  if (names === undefined)
    throw new Error(`no table is called ${name}; there are: machine, summary, ${Object.keys(tables).join(", ")}`);
  return [
    line("question", "Clearway", "the other", "result", "limit"),
    line("---", "---:", "---:", "---", "---"),
    ...names.map((each) => row(answerOf(each, results))),
  ];
}

/** Returns a cell with both times of a question. */
function bothTimes(name, results) {
  const { interval, subjectNs, peerNs, peer } = answerOf(name, results);
  // Without an interval, too few pairs were measured for a figure.
  return interval === undefined ? "open in this run" : `**${time(subjectNs)}**; ${peer}: ${time(peerNs)}`;
}

/** What each browser costs: a column for each. */
function browsersTable(results) {
  const columns = ["chromium", "firefox", "webkit"];
  return [
    line("", ...columns.map((host) => hosts[host])),
    line("---", ...columns.map(() => "---")),
    ...browsers.map(({ title, question }) =>
      line(title, ...columns.map((host) => bothTimes(`${question}-${host}`, results))),
    ),
  ];
}

function summaryTable(results) {
  const cell = (name) => bothTimes(name, results);
  const { machine, run } = results;
  const answers = summary.flatMap(({ node, chromium }) => [node, chromium]).map((name) => answerOf(name, results));
  return [
    line("", "Node", "Chromium"),
    line("---", "---", "---"),
    ...summary.map(({ title, node, chromium }) => line(title, cell(node), cell(chromium))),
    "",
    `${run.startedAt.slice(0, 10)}, ${machine.cpu}, ${machine.cores} cores, ${machine.virtual}.${busy({ answers }, " ")}`,
  ];
}

function machine(results) {
  const { machine, run, build, controls } = results;
  const { os, arch, cpu, cores, memoryGb, virtual, stealPercent } = machine;
  const twice = controls
    .filter(({ interval }) => interval !== undefined)
    .map(
      ({ host, interval: { ratio, low, high } }) =>
        `${hosts[host]} ${number(ratio)} (${number(low)} to ${number(high)})`,
    );
  const other = busy(results);
  return [
    `- machine: ${cpu}, ${cores} cores, ${Math.round(memoryGb)} GB, ${virtual}, ${os} (${arch})${stealPercent > 1 ? `, ${stealPercent} % stolen` : ""}`,
    `- runtimes: Node ${build.node}${["chromium", "firefox", "webkit"].map((name) => (build[name] ? `, ${hosts[name]} ${build[name]}` : "")).join("")}`,
    `- run: ${run.startedAt.slice(0, 10)}, commit ${build.commit}, ${Math.round(run.durationMs / 1000)} s, \`${run.command}\`${run.interrupted ? ", interrupted" : ""}`,
    `- compared with: ${Object.entries(build.peers)
      .map(([peer, version]) => `${peer} ${version}`)
      .join(", ")}`,
    ...(twice.length === 0 ? [] : [`- the same mechanism twice, which should give 1: ${twice.join(", ")}`]),
    ...(other === "" ? [] : [`- ${other}`]),
  ];
}

/** Share of the cores from which other programs count, as in the lab's report. */
const OTHERS_MIN = 0.25;
const isBusy = ({ otherShare = 0 }) => otherShare >= OTHERS_MIN;

/** Says during how many answers other programs used the machine. Empty if they did not. */
function busy({ answers }, before = "") {
  const beside = answers.filter(isBusy);
  if (beside.length === 0) return "";
  const most = Math.round(100 * Math.max(...beside.map(({ otherShare }) => otherShare)));
  return `${before}**The machine was busy**: other programs used up to ${most} % of the cores during ${beside.length} of ${answers.length} answers. The ratios hold better than the times.`;
}

const line = (...cells) => `| ${cells.join(" | ")} |`;

/** Returns the answer to a question. Throws if the run has none. */
export function answerOf(name, { answers, missing }) {
  const found = answers.find((answer) => answer.name === name);
  const why = missing.find(({ names }) => names.includes(name))?.why;
  if (found === undefined) throw new Error(`the run has no answer for ${name}${why === undefined ? "" : `: ${why}`}`);
  return found;
}

function row(answer) {
  const { thing, peer, interval, subjectNs, peerNs } = answer;
  const [ours, theirs] = interval === undefined ? ["", peer] : [time(subjectNs), `${peer}: ${time(peerNs)}`];
  return line(thing, ours, theirs, `${result(answer)}${isBusy(answer) ? ", machine busy" : ""}`, limit(answer));
}

const isStall = ({ verb }) => verb === "block" || verb === "blocks";

/** Returns the ratio with its interval, in the words of the lab's report. */
function result(answer) {
  const { interval, verdict, failed } = answer;
  if (failed !== undefined) return `not measured: ${failed}`;
  if (interval === undefined) return "open: the time ended";
  const { ratio, low, high } = interval;
  if (verdict === "no difference") return `no difference (${number(low)} to ${number(high)})`;
  if (verdict === "open") return `open: ${number(low)} to ${number(high)} times as long`;
  if (ratio >= 1) return `**${number(ratio)} times as long** (${number(low)} to ${number(high)})`;
  return `${number(1 / ratio)} times ${isStall(answer) ? "shorter" : "as fast"} (${number(1 / high)} to ${number(1 / low)})`;
}

function limit(answer) {
  if (answer.limit === undefined) return "";
  const { ratio, verdict } = answer.limit;
  const words =
    ratio < 1
      ? `at least ${number(1 / ratio)} times ${isStall(answer) ? "shorter" : "as fast"}`
      : ratio === 1
        ? "at most as long"
        : `at most ${number(ratio)} times as long`;
  return `${words}: ${{ held: "held", missed: "**missed**", open: "not clear" }[verdict]}`;
}

/** Formats a time with its unit. */
export function time(ns) {
  const [unit, scale] = ns < 1e3 ? ["ns", 1] : ns < 1e6 ? ["µs", 1e3] : ns < 1e9 ? ["ms", 1e6] : ["s", 1e9];
  return `${number(ns / scale)} ${unit}`;
}

const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3 });
