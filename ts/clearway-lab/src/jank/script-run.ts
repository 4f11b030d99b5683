// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a Node script once, in a process of its own.
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import type { Duplex } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Stall, StallReport } from "clearway/meter";
import { explain, lastCause } from "./cause.js";
import { type Evidence, NO_EVIDENCE } from "./evidence.js";
import { figuresOf } from "./figures.js";
import { locateCause } from "./locate.js";
import {
  ANSWER_EVERY_MS,
  bounded,
  CHANNEL_FD,
  FINISH,
  FLOOR_VARIABLE,
  isReport,
  isStall,
  PARENT_VARIABLE,
  type ProcessMessage,
  type Silence,
} from "./message.js";
import { profileSamples } from "./profile.js";
import type { End, FoundStall, Run } from "./record.js";
import { fileReader, SourceMapper } from "./source-map.js";
import { CannotMeasure, type Target } from "./target.js";
import { compilerMissing } from "./typescript.js";

export interface ScriptOptions {
  readonly target: Extract<Target, { kind: "script" }>;
  readonly args: readonly string[];
  /** The time after which the script is ended without a complaint, in milliseconds. Default: it runs to its end. */
  readonly forMs: number | undefined;
  readonly timeoutMs: number;
  /** The meter's floor, in milliseconds. */
  readonly floorMs: number;
  readonly signal: AbortSignal;
}

/** How long an ended measurement waits for its data, in milliseconds. */
const DATA_MS_MAX = 20_000;
/** A line of the channel may be this long, in characters: the profile of about an hour. */
const LINE_MAX = 256 << 20;

/** What came over the channel. */
interface Told {
  beginUs: number;
  stalls: Stall[];
  report: StallReport | undefined;
  evidence: Evidence;
  problem: string | undefined;
  silent: Silence | undefined;
  ended: boolean;
}

export async function measureScript(options: ScriptOptions): Promise<{ run: Run; runtime: string }> {
  const startedAt = new Date().toISOString();
  const missing = compilerMissing(options.target.file);
  if (missing !== undefined) throw new CannotMeasure(`this Node does not run TypeScript, and ${missing}`);
  const startMs = performance.now();
  const { child, told, begun, closed, heard } = start(options);
  // The script is in a group of its own, so no signal that ends this command reaches it.
  const killScript = () => kill(child);
  process.once("exit", killScript);
  let end: End;
  try {
    end = await waitForEnd(child, begun, options);
    // A script that was stopped from here is asked for its data, even while it blocks.
    const stopped = child.exitCode === null && child.signalCode === null;
    if (stopped) channelOf(child).write(FINISH);
    await bounded(Promise.race([heard, closed]), DATA_MS_MAX);
  } finally {
    process.off("exit", killScript);
    killScript();
  }
  return {
    run: await scriptRun(options, end, told, startedAt, performance.now() - startMs),
    runtime: `Node ${process.versions.node}`,
  };
}

function start({ target, args, floorMs }: ScriptOptions): {
  child: ChildProcess;
  told: Told;
  /** Settles when the script begins. */
  begun: Promise<void>;
  closed: Promise<void>;
  heard: Promise<void>;
} {
  const hook = pathToFileURL(fileURLToPath(new URL("./jank-process.js", import.meta.url))).href;
  const child = spawn(process.execPath, ["--import", hook, target.file, ...args], {
    env: { ...process.env, [PARENT_VARIABLE]: String(process.pid), [FLOOR_VARIABLE]: String(floorMs) },
    // The script's output would mix with the report. It goes where messages go.
    stdio: ["ignore", 2, 2, "pipe"],
    // A group of its own: Ctrl-C must not end the script before it has told what was measured, and its own children end with it.
    detached: process.platform !== "win32",
  });
  const told: Told = {
    beginUs: 0,
    stalls: [],
    report: undefined,
    evidence: NO_EVIDENCE,
    problem: undefined,
    silent: undefined,
    ended: false,
  };
  let onBegin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    onBegin = resolve;
  });
  let onEnd = (): void => {};
  const heard = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  const closed = readChannel(channelOf(child), (message) => {
    take(told, message);
    if (told.beginUs > 0) onBegin();
    if (told.ended) onEnd();
  });
  return { child, told, begun, closed, heard };
}

function channelOf(child: ChildProcess): Duplex {
  return child.stdio[CHANNEL_FD] as Duplex;
}

function take(told: Told, message: ProcessMessage): void {
  if (message.type === "begin" && Number.isFinite(message.beginUs)) told.beginUs = message.beginUs;
  else if (message.type === "stall" && isStall(message.stall)) told.stalls.push(message.stall);
  else if (message.type === "end") {
    told.ended = true;
    told.report = isReport(message.report) ? message.report : undefined;
    told.problem = message.problem;
    told.silent = message.silent;
    if (message.profile !== undefined && told.beginUs > 0)
      told.evidence = { ...NO_EVIDENCE, samples: profileSamples(message.profile, told.beginUs) };
  }
}

/** Reads lines until the channel ends. Ignores lines that are not messages: the script can write to the channel too. */
function readChannel(channel: Duplex, take: (message: ProcessMessage) => void): Promise<void> {
  let parts: string[] = [];
  let length = 0;
  const takeLine = (line: string): void => {
    try {
      take(JSON.parse(line) as ProcessMessage);
    } catch {
      // Not a message.
    }
  };
  return new Promise((resolve) => {
    channel.setEncoding("utf8");
    channel.on("data", (text: string) => {
      const lines = text.split("\n");
      length += lines[0]!.length;
      if (length <= LINE_MAX) parts.push(lines[0]!);
      if (lines.length === 1) return;
      takeLine(parts.join(""));
      for (const line of lines.slice(1, -1)) takeLine(line);
      parts = [lines.at(-1)!];
      length = parts[0]!.length;
    });
    channel.on("error", () => resolve());
    channel.on("close", () => resolve());
  });
}

/** Settles when the script has ended, or must be ended. */
function waitForEnd(
  child: ChildProcess,
  begun: Promise<void>,
  { target, forMs, timeoutMs, signal }: ScriptOptions,
): Promise<End> {
  const name = path.basename(target.file);
  const timers: NodeJS.Timeout[] = [];
  const after = (ms: number, end: () => void): void => void timers.push(setTimeout(end, ms));
  return new Promise<End>((resolve) => {
    child.once("error", (error) =>
      resolve({ outcome: "failed", message: `${name} cannot be started: ${error.message}` }),
    );
    child.once("exit", (code, killedBy) => {
      if (killedBy !== null)
        resolve({ outcome: "crashed", message: `the process of ${name} was ended by ${killedBy}` });
      else if (code === 0) resolve({ outcome: "completed" });
      else resolve({ outcome: "failed", message: `${name} ended with status ${code}; its own message is above` });
    });
    if (forMs !== undefined) void begun.then(() => after(forMs, () => resolve({ outcome: "completed" })));
    after(timeoutMs, () =>
      resolve({
        outcome: "timeout",
        message: `${name} did not end within ${timeoutMs / 1000} s. Raise the limit with --timeout, or measure a part with --wait MS`,
      }),
    );
    const interrupted = (): void => resolve({ outcome: "interrupted", message: `interrupted while ${name} ran` });
    if (signal.aborted) interrupted();
    signal.addEventListener("abort", interrupted, { once: true });
  }).finally(() => {
    for (const timer of timers) clearTimeout(timer);
  });
}

/** Ends the script's process, with the processes that it started. */
function kill(child: ChildProcess): void {
  channelOf(child).destroy();
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // The group has ended.
  }
}

async function scriptRun(
  options: ScriptOptions,
  end: End,
  told: Told,
  startedAt: string,
  elapsedMs: number,
): Promise<Run> {
  const mapper = new SourceMapper(fileReader(options.target.file));
  const open = told.report === undefined && told.silent !== undefined ? openStall(told.silent) : undefined;
  const found = told.report ?? {
    durationMs: told.silent?.endMs ?? elapsedMs,
    stalls: open === undefined ? told.stalls : [...told.stalls, open],
    frames: { hz: 60, expected: 0, dropped: 0, estimated: true },
  };
  const stalls: FoundStall[] = [];
  for (const stall of found.stalls) {
    const { startMs, lengthMs, errorMs } = stall;
    const cause = await locateCause(explain(stall, told.evidence), mapper, undefined);
    stalls.push({ startMs, lengthMs, errorMs, ...(stall === open ? { open: true as const } : {}), during: "", cause });
  }
  const last = end.outcome === "completed" || end.outcome === "failed" ? undefined : lastCause(told.evidence);
  const outcome: End =
    end.outcome === "completed" && told.report === undefined
      ? { outcome: "failed", message: `${path.basename(options.target.file)} sent no report: ${NO_REPORT}` }
      : end;
  return {
    ...outcome,
    startedAt,
    figures: figuresOf([found]),
    stalls,
    ...(last === undefined ? {} : { last: await locateCause(last, mapper, undefined) }),
    notes: [
      ...(told.report === undefined ? ["the script ended without a report"] : []),
      ...(told.problem === undefined ? [] : [`${told.problem}: causes come from the meter alone`]),
      ...mapper.notes,
    ],
    sources: told.report?.sources ?? [],
    reports: told.report === undefined ? [] : [told.report],
  };
}

const NO_REPORT = "it may have removed the listeners of its process, as process.removeAllListeners() does";

/** Returns the stall of a script's thread that did not answer at the end. */
function openStall({ answeredMs, endMs }: Silence): Stall {
  return {
    startMs: answeredMs,
    lengthMs: Math.max(0, endMs - answeredMs),
    errorMs: ANSWER_EVERY_MS,
    cause: "unknown",
    because: "the thread did not answer until the end: it runs code that is not JavaScript, such as execSync",
    machineMs: 0,
    gcMs: 0,
    scripts: [],
    stacks: [],
    marks: [],
  };
}
