// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway jank URL|FILE`: stalls, dropped frames and their causes, of a page in a browser or of a Node script.
import path from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { onInterruption } from "../../../../scripts/interruption.mjs";
import { writeFiles } from "../../../../scripts/write-files.mjs";
import { BROWSER_NAMES, type BrowserName } from "../browser/open.js";
import { BUDGET_FIGURES, type Limit, parseBudget } from "../jank/figures.js";
import { exitStatus, type MeasureOnce, measureAll } from "../jank/measure.js";
import type { JankReport } from "../jank/record.js";
import { parseClick, parseScroll, parseType, parseWait, type Step, stepText } from "../jank/steps.js";
import { CannotMeasure, parseTarget, type Target } from "../jank/target.js";
import { otherCores } from "../machine/cores.js";
import { machineFacts } from "../machine/facts.js";
import { type DeviceTime, deviceNotes, floorFor } from "../ratio/device-time.js";
import { WIDTH_MAX } from "../report/html.js";
import { keepRun, type OutFolder, openOut } from "./out-folder.js";
import { columnsOf, print, printError } from "./print.js";
import { DEVICE_HELP, parseDeviceOption, UsageError } from "./select.js";

interface JankOptions {
  readonly against?: Target;
  readonly budget?: Limit[];
  readonly device?: DeviceTime;
  readonly repeat: number;
  readonly timeout: number;
  readonly tail: number;
  readonly browser?: BrowserName;
  readonly bypassCsp?: boolean;
  readonly json?: boolean;
  readonly out?: string;
}

const FIGURES = Object.keys(BUDGET_FIGURES).join(", ");
const HELP = `
Steps run in the order given:
  clearway jank page.html --click '#go' --wait .done --scroll 2000

Exit status: 0 measured, 1 over budget or not completed, 2 wrong usage, 130 interrupted`;

/** Adds the command to the program. */
export function addJank(program: Command): void {
  // Commander calls a parser for each option in the order of the command line.
  const steps: Step[] = [];
  const step = (parse: (text: string) => Step) =>
    checked((text) => {
      steps.push(parse(text));
      return true;
    });
  program
    .command("jank")
    .description(
      "find what makes a page or a Node script stall: stalls, dropped frames, and the functions that cause them",
    )
    .argument("<url|file>", "an http(s) address, an HTML file, or a Node script (.js, .mjs, .ts)")
    .argument("[args...]", "arguments for a Node script, after --")
    .option("--click <selector>", "click an element", step(parseClick))
    .option("--type <selector=text>", "click an element and type a text", step(parseType))
    .option("--scroll <pixels>", "turn the mouse wheel; negative pixels scroll up", step(parseScroll))
    .option(
      "--wait <ms|selector>",
      "wait, or wait until an element is there; for a script: end it after this time",
      step(parseWait),
    )
    .option(
      "--against <url|file>",
      "measure this baseline too, interleaved, and print the ratios",
      checked(parseTarget),
    )
    .option(
      "--budget <limits>",
      `fail above a limit: 50 (the longest stall, in ms) or figure=limit with commas; figures: ${FIGURES}`,
      checked(parseBudget),
    )
    .option("--repeat <number>", "runs of each target; figures are medians", whole("runs", 1, 1000), 1)
    .option("--timeout <seconds>", "limit of one run", seconds, 30)
    .option(
      "--tail <ms>",
      "time that a page is observed after its last step",
      whole("milliseconds", 0, 3_600_000),
      1000,
    )
    .addOption(
      new Option(
        "--browser <name>",
        "the page's browser; default: chromium. The others show stalls and frames, and hardly a cause",
      ).choices(BROWSER_NAMES),
    )
    .option("--bypass-csp", "ignore the page's Content Security Policy, which may forbid the meter's worker")
    .option("--device <file|ratio>", DEVICE_HELP, parseDeviceOption)
    .option("--json", "print everything as JSON")
    .option("--out <dir>", "write report.html and jank.json into this folder")
    .addHelpText("after", HELP)
    .action(async (name: string, args: string[], options: JankOptions) => {
      process.exitCode = await jank(targetOf(name), args, steps, options);
    });
}

async function jank(
  target: Target,
  args: readonly string[],
  steps: readonly Step[],
  options: JankOptions,
): Promise<number> {
  const targets = options.against === undefined ? [target] : [target, options.against];
  checkUsage(targets, args, steps, options);
  // Fails before minutes of measuring, not after.
  const out = options.out === undefined ? undefined : openJankFolder(options.out);
  const interruption = new AbortController();
  const stop = onInterruption((isFirst) => {
    if (!isFirst) process.exit(130);
    printError("\ninterrupted: keeping what was measured (press Ctrl-C again to exit at once)\n");
    interruption.abort();
  });
  try {
    const measureOnce = await measurer(targets[0]!.kind, args, steps, options, interruption.signal);
    const report = await measureAll(
      {
        targets,
        repeat: options.repeat,
        steps: steps.map(stepText),
        budget: options.budget ?? [],
        ...(options.device && { device: options.device, deviceNotes: notesOn(options.device, targets[0]!.kind) }),
        signal: interruption.signal,
      },
      besideOthers(measureOnce),
      (name, run, runs) => printError(`measuring ${name}${runs > 1 ? ` (run ${run} of ${runs})` : ""}\n`),
    );
    await write(report, options, out);
    return exitStatus(report);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    if (!(error instanceof CannotMeasure)) throw error;
    printError(`error: ${error.message}\n`);
    return 1;
  } finally {
    stop();
    out?.close();
  }
}

/** How the command's files begin. */
const BEGINNINGS = {
  "report.html": /^\s*<!doctype html>[\s\S]*<title>Jank of /i,
  "jank.json": /^\s*\{\s*"kind":\s*"clearway-jank"/,
};

const openJankFolder = (folder: string): OutFolder =>
  openOut(folder, Object.keys(BEGINNINGS), { beginnings: BEGINNINGS, writer: "clearway jank", parents: true });

function notesOn(device: DeviceTime, kind: Target["kind"]): string[] {
  return deviceNotes(device, kind === "script" ? "script" : "page", machineFacts().cpu);
}

/** Rests before each run, and adds to it how many cores other programs used meanwhile. */
function besideOthers(measureOnce: MeasureOnce): MeasureOnce {
  return async (target) => {
    const cores = await otherCores();
    const { run, runtime } = await measureOnce(target);
    return { run: { ...run, others: { cores, of: machineFacts().cores } }, runtime };
  };
}

/** Loads the part that measures pages or scripts. Both take a while to load, so that other commands do without. */
async function measurer(
  kind: Target["kind"],
  args: readonly string[],
  steps: readonly Step[],
  options: JankOptions,
  signal: AbortSignal,
): Promise<MeasureOnce> {
  const common = { timeoutMs: options.timeout * 1000, floorMs: floorFor(options.device), signal };
  if (kind === "script") {
    const { measureScript } = await import("../jank/script-run.js");
    const waits = steps.flatMap((each) => (each.kind === "wait" ? [each.ms] : []));
    const forMs = waits.length === 0 ? undefined : waits.reduce((sum, ms) => sum + ms);
    return (target) => measureScript({ ...common, target: target as Extract<Target, { kind: "script" }>, args, forMs });
  }
  const { measurePage } = await import("../jank/page-run.js");
  const { browser = "chromium", bypassCsp = false } = options;
  const page = { ...common, browser, steps, tailMs: options.tail, bypassCsp };
  return (target) => measurePage({ ...page, target: target as Extract<Target, { kind: "url" | "page" }> });
}

/** Commander's own message about an argument would hide what is wrong behind the argument's name. */
function targetOf(name: string): Target {
  try {
    return parseTarget(name);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
}

function checkUsage(
  targets: readonly Target[],
  args: readonly string[],
  steps: readonly Step[],
  { browser, bypassCsp }: JankOptions,
): void {
  const scripts = targets.filter(({ kind }) => kind === "script").length;
  if (scripts === 1 && targets.length === 2)
    throw new UsageError(`a page and a script cannot be compared: ${targets.map(({ name }) => name).join(" and ")}`);
  if (scripts === 0 && args.length > 0)
    throw new UsageError(
      `only a Node script takes arguments: ${args.join(" ")}. One page or script is measured at a time; --against names a second`,
    );
  if (scripts > 0 && browser !== undefined)
    throw new UsageError(`--browser is for pages: ${targets[0]!.name} is a Node script`);
  if (bypassCsp === true && browser !== undefined && browser !== "chromium")
    throw new UsageError(`only Chromium can ignore a page's policy: --bypass-csp with --browser ${browser}`);
  const wrong = steps.find(({ kind }) => kind !== "wait");
  if (scripts > 0 && wrong !== undefined)
    throw new UsageError(
      `a Node script has no "${stepText(wrong)}": the only step for a script is --wait MS, which ends it after that time`,
    );
}

async function write(report: JankReport, { json, out }: JankOptions, folder: OutFolder | undefined): Promise<void> {
  const text = `${JSON.stringify(report, null, 2)}\n`;
  if (folder !== undefined) {
    const { jankHtml } = await import("../report/jank/page.js");
    await keepRun(folder.path, async (to) =>
      writeFiles({ [path.join(to, "report.html")]: jankHtml(report), [path.join(to, "jank.json")]: text }),
    );
  }
  if (json) print(text);
  else {
    const { jankText } = await import("../report/jank/text.js");
    print(jankText(report, columnsOf() ?? WIDTH_MAX));
  }
  if (out !== undefined) printError(`${path.join(out, "report.html")} and ${path.join(out, "jank.json")} written\n`);
}

/** Turns a parser's RangeError into one that commander prints with the option's name. */
function checked<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      if (error instanceof RangeError) throw new InvalidArgumentError(error.message);
      throw error;
    }
  };
}

function whole(what: string, min: number, max: number): (text: string) => number {
  return checked((text) => {
    const value = Number(text);
    if (text.trim() === "" || !Number.isInteger(value) || value < min || value > max)
      throw new RangeError(`${what} are an integer from ${min} to ${max}`);
    return value;
  });
}

const seconds = checked((text: string) => {
  const value = Number(text);
  if (text.trim() === "" || !(value > 0 && value <= 86_400))
    throw new RangeError("seconds are a number over 0, at most 86400");
  return value;
});
