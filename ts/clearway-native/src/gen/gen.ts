// SPDX-License-Identifier: MIT OR Apache-2.0
// Implements `clearway-native gen`. Reads a schema, and writes a C header and a Rust module for a plugin.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { SchemaShape } from "clearway/channel";
import { UsageError } from "../cli/usage.js";
import { generateC } from "./c.js";
import { buildModel, type Model } from "./model.js";
import { UnsupportedSchemaError, words } from "./names.js";
import { generateRust } from "./rust.js";
import { rustfmt } from "./rustfmt.js";

export interface GenOptions {
  readonly c?: string;
  readonly rust?: string;
  readonly name?: string;
  readonly export?: string;
  readonly check?: boolean;
}

/**
 * Writes the files that `options` names, from the schema in `file`. With `check`, writes nothing and compares the files with the generated
 * code. Returns the exit status: 0, or 1 if `check` found a file that differs. Throws {@link UsageError}.
 */
export async function gen(file: string, options: GenOptions): Promise<number> {
  const outputs = [
    { to: options.c, make: generateC },
    {
      to: options.rust,
      make: (model: Model, title: string) => rustfmt(generateRust(model, title), folderOf(options.rust)),
    },
  ].filter(({ to }) => to !== undefined);
  if (outputs.length === 0) throw new UsageError("name what to write: --c FILE, --rust FILE, or both");
  const schema = await schemaOf(file, options.export);
  const title = options.name ?? words(schema.channel.split("/").at(-1) ?? "").join(" ");
  if (words(title).length === 0 || /^\d/.test(words(title)[0] ?? ""))
    throw new UsageError(`${JSON.stringify(schema.channel)} gives no name; give one with --name`);
  let stale = 0;
  try {
    const model = buildModel(schema);
    for (const { to = "-", make } of outputs)
      if (!writeOrCompare(to, make(model, title), options.check === true)) stale++;
  } catch (error) {
    if (error instanceof UnsupportedSchemaError) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
  return stale === 0 ? 0 : 1;
}

const folderOf = (to = "-"): string => (to === "-" ? "." : path.dirname(to));

/** Writes a file, or compares it if `check` is set. Returns false if `check` found a difference. */
function writeOrCompare(to: string, text: string, check: boolean): boolean {
  if (to === "-") {
    process.stdout.write(text);
    return true;
  }
  const same = existsSync(to) && readFileSync(to, "utf8") === text;
  if (!same && check) process.stderr.write(`${to} is not what the schema generates; write it again without --check\n`);
  if (!same && !check) writeFileSync(to, text);
  return same || !check;
}

/** Returns the schema in a file, which is JSON or a module. `name` selects an export of the module. Throws {@link UsageError}. */
async function schemaOf(file: string, name: string | undefined): Promise<SchemaShape> {
  if (!existsSync(file)) throw new UsageError(`${file} does not exist`);
  const module = file.endsWith(".json")
    ? { default: readJson(file) }
    : await import(pathToFileURL(path.resolve(file)).href);
  const exports = Object.entries(module as Record<string, unknown>);
  const candidates = exports.filter(([each, value]) => (name === undefined ? isSchema(value) : each === name));
  // A module may export the same schema by name and as its default.
  const [found, ...others] = new Map(candidates.map(([each, value]) => [value, each])).keys();
  if (found === undefined || others.length > 0) {
    const names = exports.map(([each]) => each).join(", ");
    throw new UsageError(
      `${file}: ${found === undefined ? "no" : "more than one"} schema among its exports (${names}); name one with --export`,
    );
  }
  if (isCheckedSchema(found)) return found.shape;
  const { readSchema } = await loadChannelModule();
  try {
    return readSchema(found);
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
}

/** Loads the module that reads schemas. It is not imported statically, because the package `clearway` is an optional peer dependency. */
async function loadChannelModule(): Promise<typeof import("clearway/channel")> {
  try {
    return await import("clearway/channel");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new UsageError("the package clearway, which reads schemas, is not installed: npm install clearway");
  }
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
}

/** Returns whether a value is a result of `schema({...})`, which has already checked the schema. */
function isCheckedSchema(value: unknown): value is { shape: SchemaShape } {
  const shape = (value as { shape?: Partial<SchemaShape> } | null | undefined)?.shape;
  return typeof shape?.channel === "string" && Array.isArray(shape.methods) && Array.isArray(shape.events);
}

function isSchema(value: unknown): boolean {
  return isCheckedSchema(value) || (typeof value === "object" && value !== null && "channel" in value);
}
