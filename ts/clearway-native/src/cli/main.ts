#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// The command `clearway-native`. The exit status is 0 after success, 1 if `--check` found a stale file or if
// `build` failed, and 2 for a wrong argument.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { visible } from "../../../../scripts/terminal-text.mjs";
import { UsageError } from "../error.js";
import { gen } from "../gen/gen.js";
import { build } from "./build.js";

const HELP = `Usage: clearway-native gen <schema> [options]
       clearway-native build [--out <file>]

gen writes a C header and a Rust module for a plugin, from the schema of a channel.
<schema> is a JSON file, or an ES module that exports the schema.

build compiles the addon from source, for a system without a prebuilt one. It needs
Rust 1.88 or newer and a C++ compiler.

Options of gen:
  --c <file>       output file for the C header; - is the standard output
  --rust <file>    output file for the Rust module; - is the standard output
  --name <name>    the channel's name in the code; default: the last part of the channel's name
  --export <name>  the module's export with the schema; default: its only schema
  --check          write nothing; exit with status 1 if a file differs from the generated code

Options of build:
  --out <file>     output file for the addon; default: where clearway-native loads it from

  --help           print this text
  --version        print the version of clearway-native
`;

const OPTIONS = {
  c: { type: "string" },
  rust: { type: "string" },
  name: { type: "string" },
  export: { type: "string" },
  check: { type: "boolean" },
  out: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parse(args);
  const { help, version, out, ...options } = values;
  if (version) {
    const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
    process.stdout.write(`${(JSON.parse(manifest) as { version: string }).version}\n`);
    return 0;
  }
  if (help) {
    process.stdout.write(HELP);
    return 0;
  }
  const [command, schema, ...rest] = positionals;
  if (command === "build") {
    const [odd] = [...positionals.slice(1), ...Object.keys(options).map((name) => `--${name}`)];
    if (odd !== undefined) throw new UsageError(`build takes only --out; also given: ${odd}`);
    return build(out);
  }
  if (command !== "gen") {
    const given = command === undefined ? "no command is given" : `unknown command: command=${command}`;
    throw new UsageError(`${given}. The commands are gen and build; see clearway-native --help`);
  }
  if (out !== undefined) throw new UsageError("gen has no option --out; name the files with --c and --rust");
  if (schema === undefined) throw new UsageError("name the file of a schema: clearway-native gen <schema>");
  if (rest.length > 0) throw new UsageError(`gen reads one schema; also given: ${rest.join(" ")}`);
  return await gen(schema, options);
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) {
    // Node would print the error's text as it is.
    process.stderr.write(visible(`${error instanceof Error ? error.stack : String(error)}\n`));
    process.exit(1);
  }
  process.stderr.write(visible(`error: ${error.message}\n`));
  process.exitCode = 2;
}
