// SPDX-License-Identifier: MIT OR Apache-2.0
// Parses the arguments of commands: hosts, seeds, times.

import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { InvalidArgumentError } from "commander";
import { didYouMean, orMeant } from "../bench/nearest-name.js";
import { TIME_S_MAX } from "../engine/plan.js";
import type { HostName } from "../protocol/message.js";
import { type DeviceTime, parseDevice } from "../ratio/device-time.js";
import { RatioError } from "../ratio/ratio-file.js";
import { HOST_NAMES } from "../scenario/scenario.js";
import { type Compiled, CompileError, CompilerMissing, compile, type Entry } from "../user-code/compile.js";
import { UsageError } from "./print.js";

export { UsageError };

/** Returns a word of a command line for people to copy: in quotes if a shell would change it. */
export function shellWord(word: string): string {
  return /^[\w@./:#,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The default of `--timeout`, in milliseconds. */
export const TIMEOUT_MS = 60_000;

/** Returns the option `--timeout`, unless it has its default. */
export const timeoutWords = (timeoutMs: number): string[] =>
  timeoutMs === TIMEOUT_MS ? [] : ["--timeout", `${timeoutMs}ms`];

/** Parses the lab's own hosts. */
export function parseHosts(text: string): HostName[] {
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  const stranger = names.find((name) => !(HOST_NAMES as readonly string[]).includes(name));
  if (stranger !== undefined)
    throw new InvalidArgumentError(
      `unknown host "${stranger}". Hosts: ${HOST_NAMES.join(", ")}.${didYouMean(stranger, HOST_NAMES)}`,
    );
  return names;
}

export function parseSeed(text: string): number {
  const seed = Number(text);
  if (!Number.isInteger(seed) || seed < 0 || seed > 0xffffffff)
    throw new InvalidArgumentError("a seed is an integer from 0 to 4294967295");
  return seed;
}

export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds < 1 || seconds > TIME_S_MAX)
    throw new InvalidArgumentError(`the time is 1 to ${TIME_S_MAX} seconds`);
  return seconds;
}

export function parseRounds(text: string): number {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000)
    throw new InvalidArgumentError("rounds are an integer from 1 to 1000");
  return rounds;
}

// `--device FILE|RATIO`: budgets in another device's time.

export const DEVICE_HELP =
  "convert stalls and budgets to another device's time: a file of `clearway ratio`, or a number such as 3.1";

export function parseDeviceOption(text: string): DeviceTime {
  try {
    return parseDevice(text);
  } catch (error) {
    if (error instanceof RatioError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}

/** Longest duration of a timer, in milliseconds. */
const MS_MAX = 2 ** 31 - 1;

/** Parses a duration: `500`, `500ms` or `2s`. Returns milliseconds. */
export function parseDuration(text: string): number {
  const found = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(text.trim());
  const ms = found === null ? Number.NaN : Number(found[1]) * (found[2] === "s" ? 1000 : 1);
  if (!(ms > 0 && ms <= MS_MAX))
    throw new InvalidArgumentError(`"${text}" is not a duration: write milliseconds (500 or 500ms) or seconds (2s)`);
  return ms;
}

// Finds and compiles the file that a command is given.

const KINDS = [".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"];

/** Returns the absolute path of a source file. Throws a UsageError that names the nearest file if there is none. */
export function findFile(name: string): string {
  const file = path.resolve(name);
  const folder = path.dirname(file);
  if (!existsSync(file)) {
    const near = existsSync(folder) ? readdirSync(folder).filter((each) => KINDS.includes(path.extname(each))) : [];
    const hint = existsSync(folder) ? orMeant(path.basename(file), near) : `; there is no folder ${path.dirname(name)}`;
    throw new UsageError(`${name} does not exist${hint}`);
  }
  if (statSync(file).isDirectory()) throw new UsageError(`${name} is a folder: name a file in it`);
  if (!KINDS.includes(path.extname(file)))
    throw new UsageError(`${name} is not a TypeScript or JavaScript file: its name must end in ${KINDS.join(", ")}`);
  return file;
}

/** Compiles entries. Throws a UsageError with the places of the mistakes, or with the compiler to install. */
export async function compileFile(name: string, entries: readonly Entry[]): Promise<Compiled> {
  try {
    return await compile(entries);
  } catch (error) {
    if (error instanceof CompileError) throw new UsageError(`${name} does not compile:\n${error.message}`);
    if (error instanceof CompilerMissing) throw new UsageError(`${name}: ${error.message}`);
    throw error;
  }
}
