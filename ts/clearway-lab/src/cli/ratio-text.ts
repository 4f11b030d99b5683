// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints a measured ratio.

import { WORKS } from "../ratio/device/works.js";
import { extremes, SLOWER_MIN, slowdown } from "../ratio/device-ratio.js";
import { ratioText } from "../ratio/device-time.js";
import type { Device, RatioFile } from "../ratio/ratio-file.js";
import { colours as pc } from "../report/colours.js";
import { fitted } from "./print.js";

/** Returns the result as lines of at most `width` columns. `file` is the file that has it. */
export function ratioLines(result: RatioFile, file: string, width: number | undefined): string[] {
  const { here, there, ratio, ratioMin, ratioMax } = result;
  const lines: string[] = [];
  const say = (text: string, indent = 2) => lines.push(...fitted(text, width, indent));
  const spread = `between ${ratioText(ratioMin)} and ${ratioText(ratioMax)}`;
  for (const line of fitted(`5 ms here is ${ratioText(5 * ratio)} ms there.`, width)) lines.push(pc.bold(line));
  say(`${there.name} takes ${ratioText(ratio)} times as long as ${here.name} on this machine (${spread}).`, 0);
  const frame = 1000 / 60;
  say(`A frame at 60 Hz is ${ratioText(frame)} ms there, which is ${ratioText(frame / ratio)} ms of work here.`, 0);
  lines.push("", ...table(result, width), "");
  for (const note of notes(result)) say(`- ${note}`);
  if (lines.at(-1) !== "") lines.push("");
  say(`${file} written. Budgets in that device's time:`);
  say(`  clearway jank page.html --budget stall=50 --device ${file}`, 4);
  return lines;
}

const titleOf = (name: string) => WORKS.find((work) => work.name === name)?.title ?? name;

function table({ here, there, pieces }: RatioFile, width: number | undefined): string[] {
  const rows = pieces.map(({ name, ratio, ratioMin, ratioMax }) => [
    titleOf(name),
    callText(here, name),
    callText(there, name),
    ratioText(ratio),
    `(${ratioText(ratioMin)} to ${ratioText(ratioMax)})`,
  ]);
  const all = [["piece of work", "here", "there", "ratio", ""], ...rows];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...all.map((row) => row[at]!.length)));
  const wide = width === undefined || widths.reduce((sum, each) => sum + each + 2, 2) + 18 <= width;
  return all.map((row, index) => {
    const [title, ...rest] = row as [string, ...string[]];
    const columns = rest.slice(0, 3).map((text, at) => text.padStart(widths[at + 1]!));
    const text = `  ${[title.padEnd(widths[0]!), ...columns, ...(wide ? [rest[3]!] : [])].join("  ")}`.trimEnd();
    return index === 0 ? pc.dim(text) : text;
  });
}

/** Returns the median time of a call. */
function callText({ samples }: Device, name: string): string {
  const sorted = [...samples.pieces.find((piece) => piece.name === name)!.callMs].sort((a, b) => a - b);
  return `${ratioText(sorted[sorted.length >> 1]!)} ms`;
}

function notes({ here, there, pieces }: RatioFile): string[] {
  const all: string[] = [];
  const different = extremes(pieces);
  if (different !== undefined) {
    const { least, most } = different;
    all.push(
      `The pieces differ widely: ${titleOf(least.name)} ${ratioText(least.ratio)}, ${titleOf(most.name)} ${ratioText(most.ratio)}. For work of one kind, give its own ratio: --device ${ratioText(most.ratio)}`,
    );
  }
  if (here.host === "node") all.push("Here is Node. --here chromium compares the device's browser with a browser here");
  for (const [where, { samples }] of [
    ["here", here],
    ["there", there],
  ] as const) {
    const cold = samples.pieces.filter(({ warm }) => !warm).map(({ name }) => titleOf(name));
    if (cold.length > 0) all.push(`Still got faster at the end of the warm-up, ${where}: ${cold.join(", ")}`);
    const slower = slowdown(samples);
    if (slower > SLOWER_MIN)
      all.push(
        `The rounds became ${Math.round((slower - 1) * 100)} % slower ${where}: the device was hot, saved power or had other work`,
      );
    if (samples.repeated > 0)
      all.push(`Rounds measured again ${where}, because the tab was in the background: ${samples.repeated}`);
  }
  return all;
}
