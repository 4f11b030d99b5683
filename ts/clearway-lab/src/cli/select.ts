// SPDX-License-Identifier: MIT OR Apache-2.0
// Parses the arguments of commands: hosts, seeds, times.
import { InvalidArgumentError } from "commander";
import type { HostName } from "../protocol/message.js";
import { HOST_NAMES } from "../scenario/scenario.js";
import { UsageError } from "./errors.js";
import { didYouMean } from "./nearest.js";

export { UsageError };

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
  if (!Number.isFinite(seconds) || seconds < 1 || seconds > 3600)
    throw new InvalidArgumentError("the time is 1 to 3600 seconds");
  return seconds;
}

export function parseRounds(text: string): number {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000)
    throw new InvalidArgumentError("rounds are an integer from 1 to 1000");
  return rounds;
}
