// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds what may follow on the command line: commands, options, values of options, arguments. Reads commander's program.
import { readdirSync } from "node:fs";
import type { Argument, Command, Option } from "commander";
import { FORMAT_NAMES } from "../export/formats.js";
import { PROMISE_PROFILES } from "../promises/scenario.js";
import { loadScenarios } from "../scenario/load.js";
import { FAMILY_NAMES, HOST_NAMES, PROFILE_NAMES } from "../scenario/scenario.js";

export interface Candidate {
  value: string;
  text: string;
}

/** Values that commander does not know, by the name of the option or argument. */
const VALUES: Record<string, (begun: string) => Candidate[]> = {
  family: () => plain(FAMILY_NAMES),
  host: listOf(HOST_NAMES),
  profile: () => plain([...PROFILE_NAMES, ...PROMISE_PROFILES]),
  format: () => plain(FORMAT_NAMES),
  what: names,
};

/** A placeholder that stands for a path, such as `<dir>`. */
const PATH = /^(dir|folder|file|files|run|path|base|a|b)$/i;

/** Returns what may replace the last of the words. The words follow the command's name. */
export function candidates(program: Command, words: readonly string[]): Candidate[] {
  // Bash makes three words of --name=value.
  const all = words.filter((word, at) => word !== "=" || !words[at - 1]?.startsWith("-"));
  const begun = words.at(-1) === "=" ? "" : (all.pop() ?? "");
  const { command, position, pending, ended } = walk(program, all);
  if (pending !== undefined) return starting(valuesOf(pending, begun), begun);
  if (!ended && begun.startsWith("-")) return optionCandidates(command, all, begun);
  const subcommands = position > 0 || ended ? [] : command.createHelp().visibleCommands(command);
  const own = subcommands.map((each) => ({ value: each.name(), text: each.description() }));
  const args = command.registeredArguments;
  const last = args.at(-1);
  const argument = args[position] ?? (last?.variadic ? last : undefined);
  return starting([...own, ...(argument === undefined ? [] : valuesOf(argument, begun))], begun);
}

interface Place {
  command: Command;
  /** The number of arguments of the command so far. */
  position: number;
  /** The option whose value follows. */
  pending?: Option;
  /** Whether `--` ended the options. */
  ended: boolean;
}

function walk(program: Command, words: readonly string[]): Place {
  let command = program;
  let position = 0;
  let pending: Option | undefined;
  let ended = false;
  for (const word of words) {
    if (pending !== undefined) pending = undefined;
    else if (word === "--" && !ended) ended = true;
    else if (word.startsWith("-") && !ended) {
      const option = command.options.find(({ long, short }) => word === long || word === short);
      if (option?.required || option?.optional) pending = option;
    } else {
      const next = position === 0 && !ended ? command.commands.find((each) => each.name() === word) : undefined;
      if (next === undefined) position++;
      else command = next;
    }
  }
  return { command, position, ...(pending && { pending }), ended };
}

function optionCandidates(command: Command, earlier: readonly string[], begun: string): Candidate[] {
  const help = command.createHelp();
  const at = begun.indexOf("=");
  if (at > 0) {
    const option = command.options.find(({ long }) => long === begun.slice(0, at));
    const [head, value] = [begun.slice(0, at + 1), begun.slice(at + 1)];
    const values = option === undefined ? [] : starting(valuesOf(option, value), value);
    return values.map((each) => ({ ...each, value: head + each.value }));
  }
  const free = help.visibleOptions(command).filter(({ long }) => long !== undefined && !earlier.includes(long));
  return starting(
    free.map(({ long, description }) => ({ value: long ?? "", text: description })),
    begun,
  );
}

function valuesOf(of: Option | Argument, begun: string): Candidate[] {
  const name = of.name();
  if (of.argChoices !== undefined) return plain(of.argChoices);
  const known = VALUES[name];
  if (known !== undefined) return known(begun);
  const placeholder = "flags" in of ? (/[<[](\w+)/.exec(of.flags)?.[1] ?? "") : name;
  return PATH.test(placeholder) ? paths(begun) : [];
}

const plain = (values: readonly string[]): Candidate[] => values.map((value) => ({ value, text: "" }));

function starting(all: readonly Candidate[], begun: string): Candidate[] {
  const unescaped = begun.replace(/\\(.)/g, "$1");
  return all.filter(({ value }) => value.startsWith(unescaped));
}

/** Completes the last element of a list with commas. */
function listOf(values: readonly string[]): (begun: string) => Candidate[] {
  return (begun) => {
    const head = begun.slice(0, begun.lastIndexOf(",") + 1);
    return plain(values.filter((value) => !head.split(",").includes(value)).map((value) => head + value));
  };
}

/** Completes families, scenarios and, after a scenario's name and a slash, its cells. */
function names(begun: string): Candidate[] {
  const all: Candidate[] = [{ value: "list", text: "the cells that can run here" }];
  for (const family of FAMILY_NAMES) all.push({ value: family, text: "family" });
  for (const { name, mechanisms } of loadScenarios()) {
    all.push({ value: name, text: "scenario" });
    if (begun.startsWith(`${name}/`))
      all.push(...mechanisms.map((each) => ({ value: `${name}/${each.name}`, text: each.title })));
  }
  return all;
}

/** Completes folders and files. Hidden ones are offered only if the word begins with a dot. */
function paths(begun: string): Candidate[] {
  const word = begun.replace(/\\(.)/g, "$1");
  const folder = word.slice(0, word.lastIndexOf("/") + 1);
  const hidden = word.slice(folder.length).startsWith(".");
  try {
    return readdirSync(folder === "" ? "." : folder, { withFileTypes: true })
      .filter(({ name }) => hidden || !name.startsWith("."))
      .map((entry) => ({ value: `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`, text: "" }));
  } catch {
    // There is no such folder, so it has nothing to offer.
    return [];
  }
}
