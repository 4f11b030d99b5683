// SPDX-License-Identifier: MIT OR Apache-2.0
// Everything that the command prints goes through here, because a page, a record or another process may have written a part of it.
import cliProgress from "cli-progress";
import { Help } from "commander";
import { visible } from "../../../../scripts/terminal-text.mjs";
import { terminalText } from "../report/colours.js";
import { duration } from "../report/number.js";
import type { Step } from "../run/execute.js";

/** Prints a text to the standard output. Makes control characters visible, except those of the lab's own colours. */
export function print(text: string, stream: { write(text: string): unknown } = process.stdout): void {
  stream.write(terminalText(text));
}

/** Prints a text to the standard error. */
export function printError(text: string): void {
  print(text, process.stderr);
}

/** Prints an error that nothing has caught, and ends the command. Node would print its text as it is. */
export function printUncaught(error: unknown): void {
  printError(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}

// `--json`: one JSON value on the standard output, for programs. Everything for people goes to the standard error.

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2) + "\n");
}

/**
 * Keeps the command free of stacks when its output closes. A reader that ends, such as `head`, or a closed terminal does not end the command:
 * it still writes its files, and keeps its exit status. Other errors, such as that of a full disk, end it with status 1.
 */
export function tolerateClosedOutput(): void {
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EIO" || code === "EPIPE" || code === "ERR_STREAM_DESTROYED") return;
    printError(`error: the output could not be written: ${message}\n`);
    process.exit(1);
  });
  process.stderr.on("error", () => {});
}

// The width of the terminal, and text that fits it.

/** Lines beyond these limits are hard to read. */
const WIDTH_MIN = 40;
const WIDTH_MAX = 100;

/**
 * Returns the number of columns for the text of the standard output, 40 to 100. It is the terminal's, or else that of the variable COLUMNS.
 * Returns undefined if neither is known: a file or a pipe, where a line should stay whole.
 */
export function columnsOf(
  stream: { columns?: number | undefined } = process.stdout,
  env: NodeJS.ProcessEnv = process.env,
): number | undefined {
  const columns = stream.columns ?? Number.parseInt(env["COLUMNS"] ?? "", 10);
  return columns > 0 ? Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, columns)) : undefined;
}

/** Breaks a text at its spaces. All lines but the first begin with `indent` spaces. A word that is too long is broken too. */
export function fitted(text: string, width: number | undefined, indent = 0): string[] {
  if (width === undefined || text.length <= width) return [text];
  const lines: string[] = [];
  let line = /^ */.exec(text)?.[0] ?? "";
  let empty = true;
  for (const word of text.trim().split(/ +/)) {
    let rest = word;
    if (!empty && line.length + 1 + rest.length > width) {
      lines.push(line);
      line = " ".repeat(indent);
      empty = true;
    }
    while (empty && line.length + rest.length > width) {
      lines.push(line + rest.slice(0, width - line.length));
      rest = rest.slice(width - line.length);
      line = " ".repeat(indent);
    }
    line += empty ? rest : ` ${rest}`;
    empty = false;
  }
  return [...lines, line];
}

/** Puts a text in a column behind a name. All lines but the first begin with spaces of the name's width. */
export function columned(name: string, text: string, nameWidth: number, width: number | undefined): string[] {
  const blank = " ".repeat(nameWidth);
  const room = width === undefined ? undefined : width - nameWidth;
  // A name that is longer than its column has a line of its own. In a pipe, an entry stays one line.
  if (width !== undefined && name.length > nameWidth)
    return [name.trimEnd(), ...fitted(text, room).map((line) => blank + line)];
  return fitted(text, room).map((line, at) => (at === 0 ? name.padEnd(nameWidth) : blank) + line);
}

/** In narrower terminals, the help of an option gets lines of its own. */
const HELP_WIDE = 80;

/** Formats an item of commander's help. */
export function helpItem(term: string, termWidth: number, description: string, help: Help): string {
  const width = help.helpWidth ?? WIDTH_MAX;
  if (width >= HELP_WIDE || description === "")
    return Help.prototype.formatItem.call(help, term, termWidth, description, help);
  return [`  ${term}`, ...fitted(`      ${description}`, width, 6)].join("\n");
}

// Shows the progress of a run on stderr. A terminal gets a bar with the remaining time; other outputs get a line every 15 s.

export interface Progress {
  step(step: Step): void;
  stop(): void;
}

/** Minimum time between two lines, in milliseconds. Otherwise a log would have a line for each of 300 measurements. */
const LINE_EVERY_MS = 15_000;

export function openProgress(stream: NodeJS.WriteStream, nowMs: () => number = () => performance.now()): Progress {
  return stream.isTTY ? bar(stream) : lines(stream, nowMs);
}

function bar(stream: NodeJS.WriteStream): Progress {
  const format = "{bar} {value}/{total}  {left} left  {name}";
  const single = new cliProgress.SingleBar(
    { stream, format, barsize: 24, clearOnComplete: true, hideCursor: true, gracefulExit: false, fps: 8 },
    cliProgress.Presets.shades_classic,
  );
  let started = false;
  return {
    step: ({ done, planned, leftMs, name }) => {
      const payload = { left: duration(leftMs), name: visible(name.slice(0, 44)) };
      if (started) single.update(done, payload);
      else single.start(planned, done, payload);
      started = true;
    },
    stop: () => single.stop(),
  };
}

function lines(stream: NodeJS.WriteStream, nowMs: () => number): Progress {
  let next = 0;
  return {
    step: ({ done, planned, leftMs, name }) => {
      if (nowMs() < next || name === "") return;
      next = nowMs() + LINE_EVERY_MS;
      print(`${done}/${planned} measured, ${duration(leftMs)} left, now ${name}\n`, stream);
    },
    stop: () => {},
  };
}

// The errors that the command prints without a stack: what was wrong, where, and what to do.

/** A mistake in the command line. The exit status is 2. */
export class UsageError extends Error {}

/** Something that the command needs does not work: a file, a runner, another lab. The exit status is 1. */
export class FailedError extends Error {
  readonly reason: string;
  /** What the user can do about it. */
  readonly next: string;

  constructor(reason: string, next: string) {
    super(`${reason.replace(/\.$/, "")}. To go on: ${next}`);
    this.reason = reason;
    this.next = next;
  }
}
