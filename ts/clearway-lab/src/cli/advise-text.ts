// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints advice as text. Each line names the cells that it rests on.

import { type DeviceTime, printable, ratioText } from "../ratio/device-time.js";
import type { Advice, Unmeasured } from "../report/advise/advise.js";
import { type BudgetLine, type BudgetTable, FRAMES_MS } from "../report/advise/budgets.js";
import { sizeText } from "../report/advise/topics.js";
import { colours as pc } from "../report/colours.js";
import { doubtLines } from "../report/doubts.js";
import { hostTitle, inHost } from "../report/host-titles.js";
import { crossoverText, durationText } from "../report/offload/crossover-text.js";
import { fitted } from "./width.js";

/** Returns the advice as lines of at most `width` columns. `elsewhere` says whether the run is of another machine. */
export function adviceLines(advice: Advice, elsewhere: boolean, width: number | undefined): string[] {
  const lines: string[] = [];
  const say = (text: string, indent = 2) => lines.push(...fitted(ascii(text), width, indent));
  const { run, machine } = advice;
  say(
    `A run of ${run.startedAt.slice(0, 10)}, profile ${run.profile}, on ${machine.cpu}, ${machine.cores} cores: ${Object.values(run.runtimes).join(", ")}.`,
  );
  if (elsewhere) say("This machine is another one: ratios carry over, times do not.");

  lines.push("", pc.bold("What fits a frame"));
  say("A frame is 16.7 ms at 60 Hz and 8.3 ms at 120 Hz. The sizes say up to which payload the time fits.", 0);
  if (advice.device !== undefined) for (const text of deviceLines(advice.device, machine.cpu)) say(text, 0);
  if (advice.budgets.length === 0) say("  not measured");
  for (const table of advice.budgets) lines.push("", ...tableLines(table, width));

  lines.push("", pc.bold("When another thread pays off"));
  if (advice.crossovers.length === 0) say("  not measured");
  for (const { host, strategy, at, cells } of advice.crossovers)
    say(`- ${strategy} ${inHost(host)}: faster than the calling thread ${crossoverText(at)}. ${restsOn(cells)}`);

  lines.push("", pc.bold("Which executor for which work"));
  if (advice.executors.length === 0) say("  not measured");
  for (const { host, work, sentence, cells } of advice.executors)
    say(`- ${work} ${inHost(host)}: ${sentence} ${restsOn(cells)}`);
  for (const { sentence, cells } of advice.notes) say(`- ${sentence} ${restsOn(cells)}`);

  if (advice.notMeasured.length > 0) {
    lines.push("", pc.bold("Not measured"));
    for (const text of unmeasuredTexts(advice.notMeasured)) say(`- ${text}`);
  }
  const doubts = doubtLines(advice.warnings);
  if (doubts.length > 0) {
    lines.push("", pc.bold("Doubts"));
    for (const text of doubts) say(`- ${text}`);
  }
  return lines;
}

/** Says which frames of the run's machine are those of another device. */
function deviceLines(device: DeviceTime, cpu: string): string[] {
  const frames = FRAMES_MS.map((ms) => `${ratioText(ms / device.ratio)} ms`).join(" and ");
  const of = "the machine of this run";
  const { name, ratio } = device;
  return [
    `The frames are those of ${name}, which takes ${ratioText(ratio)} times as long: ${frames} of ${of}. Measured times are of ${of}.`,
    ...(device.here !== undefined && device.here.cpu !== "" && device.here.cpu !== printable(cpu)
      ? [`The device was compared with another machine than that of this run: ${device.here.cpu}.`]
      : []),
  ];
}

const MEANING = { blocked: "the thread is blocked", answered: "the answer is there" } as const;

function tableLines(
  { title, host, load, meaning, topic, scenario, lines }: BudgetTable,
  width: number | undefined,
): string[] {
  const where = `${title} ${inHost(host)}${load === "" ? "" : ` (${load})`}: ${MEANING[meaning]} after`;
  const head = fitted(where, width).map((line) => pc.bold(line));
  const rows = lines.map((line) => rowOf(line, topic, scenario));
  const [nameWidth, , slowWidth, fastWidth] = [0, 1, 2, 3].map((at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  ) as [number, number, number, number];
  const columns = (row: readonly string[]) =>
    `  ${(row[0] ?? "").padEnd(nameWidth)}  ${(row[2] ?? "").padEnd(Math.max(7, slowWidth))}  ${(row[3] ?? "").padEnd(Math.max(6, fastWidth))}`;
  const wide = width === undefined || columns(rows[0] ?? []).length + WIDE_ROOM <= width;
  const body = rows.flatMap((row, at) => {
    const own = wide
      ? fitted(`${columns(row)}  ${row[1]}`, width, columns(row).length + 2)
      : [`  ${row[0]}`, ...fitted(`    16.7 ms: ${row[2]}, 8.3 ms: ${row[3]}; measured: ${row[1]}`, width, 4)];
    return lines[at]?.role === "clearway" ? own.map(pc.green) : own;
  });
  return [...head, ...(wide ? [pc.dim(columns(["cell", "", "16.7 ms", "8.3 ms"]) + "  measured")] : []), ...body].map(
    ascii,
  );
}

/** Room for the last column of a table, in characters. With less, a row has several lines. */
const WIDE_ROOM = 36;

/** Returns the cell, its measured times, and its budget for each frame. */
function rowOf(line: BudgetLine, topic: string, scenario: string): string[] {
  const size = sizeText(topic);
  const times = line.points.map((point) => `${size(point.size)} ${durationText(point.ms * 1e6)}`).join(", ");
  const figures = [...new Set(line.points.map(({ figure }) => figure))].join(" and ");
  const faster =
    line.crossover === undefined ? "" : `; against ${line.crossover.reference}: ${fasterText(line.crossover.at, size)}`;
  const budgets = line.budgets.map((budget) => `${SIGN[budget.kind]} ${size(budget.size)}`);
  return [`${scenario}/${line.mechanism}`, `${times} (${figures})${faster}`, ...budgets];
}

const SIGN = { about: "~", "at least": ">=", "less than": "<" } as const;

function fasterText(at: NonNullable<BudgetLine["crossover"]>["at"], size: (size: number) => string): string {
  if (at.kind === "from") return `faster from ${size(at.size)} on`;
  return at.kind === "everywhere" ? "faster at every size" : "not faster at the largest size";
}

/** Names cells: `Cells: works/{direct, piscina}`. */
function restsOn(cells: readonly string[]): string {
  const byScenario = new Map<string, string[]>();
  for (const cell of new Set(cells)) {
    const [scenario = "", mechanism = ""] = cell.split("/");
    byScenario.set(scenario, [...(byScenario.get(scenario) ?? []), mechanism]);
  }
  const names = [...byScenario].map(([scenario, all]) =>
    all.length === 1 ? `${scenario}/${all[0]}` : `${scenario}/{${all.join(", ")}}`,
  );
  return `[${names.join(", ")}]`;
}

/** Groups what is missing by its reason and host. */
function unmeasuredTexts(all: readonly Unmeasured[]): string[] {
  const groups = new Map<string, Unmeasured[]>();
  for (const each of all) {
    const options = each.command.replace(/^clearway lab \S+/, "");
    const key = JSON.stringify([each.why, options]);
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].map((group) => {
    const [first] = group as [Unmeasured, ...Unmeasured[]];
    const names = group.map(({ scenario }) => scenario);
    const command = first.command.replace(first.scenario, names.join(" "));
    return `${names.join(", ")} on ${hostTitle(first.host)}: ${first.why}. ${command}`;
  });
}

/** Terminals may lack the thin space of large numbers. */
function ascii(text: string): string {
  return text.replaceAll("\u202f", " ");
}
