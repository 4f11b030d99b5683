// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds and compiles the file that a command is given.
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { orMeant } from "../bench/nearest-name.js";
import { type Compiled, CompileError, CompilerMissing, compile, type Entry } from "../user-code/compile.js";
import { UsageError } from "./select.js";

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
