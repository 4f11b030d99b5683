// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway ratio`: how much longer the same work takes on another device, such as a phone that opens a page of the lab.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Command, InvalidArgumentError, Option } from "commander";
import { onInterruption } from "../../../../scripts/interruption.mjs";
import { writeFiles } from "../../../../scripts/write-files.mjs";
import { WORKS } from "../ratio/device/works.js";
import { ratioText } from "../ratio/device-time.js";
import {
  AMOUNTS,
  CannotMeasureDevice,
  measureRatio,
  type RatioEvent,
  type RatioOptions,
} from "../ratio/measure-ratio.js";
import { networkAddress, PageEnded } from "../ratio/page-server.js";
import { type Device, extremes, RatioError, type RatioFile, SLOWER_MIN, slowdown } from "../ratio/ratio-file.js";
import { colours as pc } from "../report/colours.js";
import { keepRun } from "./out-folder.js";
import { columnsOf, fitted, print, printError, printJson } from "./print.js";
import { parseDuration, UsageError } from "./select.js";

interface GivenOptions {
  readonly here: RatioOptions["here"];
  /** True without an address. */
  readonly network?: string | true;
  readonly timeout: number;
  readonly rounds: number;
  readonly name?: string;
  readonly out: string;
  readonly json?: boolean;
}

const HELP = `
Another device opens the page whose address is printed. Without --network, only this machine can open it.

Exit status: 0 measured, 1 no result came, 2 wrong usage, 130 interrupted`;

/** Adds the command to the program. */
export function addRatio(program: Command): void {
  program
    .command("ratio")
    .description(
      "measure how much longer the same work takes on another device, such as a phone: 5 ms here is 12 ms there",
    )
    .addOption(
      new Option("--here <host>", "what is measured on this machine: a page compares best with a page")
        .choices(["node", "chromium"])
        .default("node"),
    )
    .option("--network [address]", "serve the page on the local network, at this address of this machine")
    .addOption(
      new Option("--timeout <duration>", "how long the other device is waited for")
        .argParser(parseDuration)
        .default(300_000, "300s"),
    )
    .addOption(
      new Option("--rounds <number>", "how often each piece of work is measured")
        .argParser(parseRounds)
        .default(AMOUNTS.rounds),
    )
    .option("--name <text>", "the other device's name; default: its browser and system", parseName)
    .option("--out <file>", "the file for the result", "out/device-ratio.json")
    .option("--json", "print the content of the file")
    .addHelpText("after", HELP)
    .action(async (options: GivenOptions) => {
      process.exitCode = await ratio(options);
    });
}

async function ratio({ here, network, timeout, rounds, name, out, json }: GivenOptions): Promise<number> {
  // Fails before the measurement, not after.
  makeRoom(out);
  const interruption = new AbortController();
  const stop = onInterruption((isFirst) => {
    if (!isFirst) process.exit(130);
    interruption.abort();
  });
  try {
    const options: RatioOptions = {
      here,
      address: network === undefined ? "127.0.0.1" : networkAddress(network === true ? undefined : network),
      timeoutMs: timeout,
      name,
      signal: interruption.signal,
      script: fileURLToPath(new URL("./page/ratio-device.js", import.meta.url)),
      amounts: { ...AMOUNTS, rounds },
    };
    const file = await measureRatio(options, await teller(network !== undefined));
    await writeRatio(out, file);
    if (json === true) printJson(file);
    else print(`${ratioLines(file, out, columnsOf()).join("\n")}\n`);
    return 0;
  } catch (error) {
    if (interruption.signal.aborted) {
      printError("interrupted: nothing was written\n");
      return 130;
    }
    if (error instanceof RatioError) throw new UsageError(error.message);
    if (!(error instanceof PageEnded || error instanceof CannotMeasureDevice)) throw error;
    printError(`error: ${error.message}\n`);
    return 1;
  } finally {
    stop();
  }
}

/** Writes the file whole, or leaves the old one and throws a FailedError that names another place of the result. */
export async function writeRatio(out: string, file: RatioFile): Promise<void> {
  const { dir, base } = path.parse(path.resolve(out));
  await keepRun(dir, async (folder) => writeFiles({ [path.join(folder, base)]: `${JSON.stringify(file, null, 2)}\n` }));
}

/** Returns a function that prints what happens. */
async function teller(onNetwork: boolean): Promise<(event: RatioEvent) => void> {
  const { isTTY } = process.stderr;
  const codeOf = isTTY && onNetwork ? (await import("uqr")).renderUnicodeCompact : undefined;
  const columns = columnsOf(process.stderr);
  const say = (text: string) => printError(`${fitted(text, columns).join("\n")}\n`);
  return (event) => {
    if (event.kind === "measuring")
      say(`measuring ${event.here === "node" ? "Node" : "Chromium"} on this machine: leave it alone for some seconds`);
    if (event.kind !== "waiting") return;
    if (onNetwork) say("Open this page on the other device, which must be in the same network:");
    else say("Open this page in another browser of this machine (for a phone: --network):");
    // The address stays on one line, so that it can be copied.
    printError(`\n  ${event.url}\n\n`);
    if (codeOf !== undefined) printError(`${codeOf(event.url, { border: 2 })}\n\n`);
    say("Waiting for its result. Ctrl-C ends the page.");
  };
}

function parseRounds(text: string): number {
  const rounds = Number(text);
  if (!/^\d+$/.test(text) || rounds < 3 || rounds > 1000)
    throw new InvalidArgumentError("rounds are an integer from 3 to 1000");
  return rounds;
}

function parseName(text: string): string {
  if (!/^[^\p{C}]{1,100}$/u.test(text.trim()))
    throw new InvalidArgumentError("a name has 1 to 100 letters, and no control characters");
  return text.trim();
}

/** Makes the folder of the file. Throws a UsageError if the file cannot be written, or is not one of this command. */
function makeRoom(out: string): void {
  try {
    const folder = path.dirname(path.resolve(out));
    // Only the last folder: a parent that does not exist is probably a mistake.
    if (!existsSync(folder)) mkdirSync(folder);
    if (!existsSync(out)) return;
    const { kind } = JSON.parse(readFileSync(out, "utf8")) as { kind?: unknown };
    if (kind === "clearway-device-ratio") return;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError))
      throw new UsageError(`--out ${out} cannot be written: ${(error as Error).message}`);
  }
  throw new UsageError(`--out ${out} exists and is not a file of clearway ratio: name another file`);
}

// Prints a measured ratio.

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
