// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles a user's file, and the worker files that it starts, to JavaScript that Node loads without an option. A loader hook would compile
// when a worker starts, which would count as part of the worker's start. Packages stay where they are: the compiled files import them by
// their full paths, so that they need not be in the user's folder.
import { createHash } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { BuildFailure, Message } from "esbuild";
import { ownSources } from "./own-sources.js";

export interface Compiled {
  /** The URLs of the compiled entries, in the order of the arguments. */
  urls: string[];
  /** Deletes the compiled files. */
  remove(): void;
}

/** The file does not compile. Its message has the places and the reasons. */
export class CompileError extends Error {}

/** A file, or a module that exists only as text. The text may import `file`'s neighbours. */
export interface Entry {
  file: string;
  text?: string;
}

/** Maximum number of rounds in which worker files name further worker files. */
const ROUNDS_MAX = 20;

/** Compiles the entries into a temporary folder. Rejects with a CompileError. */
export async function compile(entries: readonly Entry[]): Promise<Compiled> {
  const { build } = await import("esbuild");
  const folder = makeFolder();
  const remove = () => {
    process.off("exit", remove);
    rmSync(folder, { recursive: true, force: true });
  };
  // A command may end early, for example when the reader of its output closes the pipe.
  process.once("exit", remove);
  try {
    const names = entries.map(({ file, text }) => outputName(text === undefined ? file : `${file}?text`));
    const texts = new Map(entries.flatMap(({ file, text }) => (text === undefined ? [] : [[`${file}?text`, text]])));
    const sources = new Map(
      entries.map(({ file, text }, at) => [names[at] as string, text === undefined ? file : `${file}?text`]),
    );
    for (let round = 0, known = 0; known < sources.size && round < ROUNDS_MAX; round++) {
      known = sources.size;
      const found: string[] = [];
      await build({
        entryPoints: Object.fromEntries(sources),
        outdir: folder,
        bundle: true,
        splitting: true,
        format: "esm",
        platform: "node",
        target: "node20",
        // Without this, esbuild also accepts the condition "module", which Node does not know.
        conditions: [],
        mainFields: ["main"],
        sourcemap: "inline",
        chunkNames: "chunk-[hash]",
        outExtension: { ".js": ".mjs" },
        legalComments: "none",
        logLevel: "silent",
        plugins: [ownSources(texts, (file) => found.push(file), outputName)],
      });
      for (const file of found) sources.set(outputName(file), file);
    }
    return { urls: names.map((name) => pathToFileURL(path.join(folder, `${name}.mjs`)).href), remove };
  } catch (error) {
    remove();
    const { errors } = error as BuildFailure;
    throw Array.isArray(errors) ? new CompileError(errors.slice(0, 5).map(lineOf).join("\n")) : error;
  }
}

function makeFolder(): string {
  try {
    return mkdtempSync(path.join(realpathSync(tmpdir()), "clearway-bench-"));
  } catch (error) {
    const why = (error as Error).message;
    throw new CompileError(`no temporary folder can be made (${why}); set TMPDIR to a folder that can be written`);
  }
}

/** Returns the name of a compiled file. Two files with one name in different folders have different outputs. */
function outputName(file: string): string {
  const hash = createHash("sha256").update(file).digest("hex").slice(0, 8);
  return `${path.basename(file).replace(/[^\w.-]/g, "_")}-${hash}`;
}

function lineOf({ text, location }: Message): string {
  if (location === null) return text;
  const { file, line, column, lineText } = location;
  return `${file}:${line}:${column + 1}: ${text}: \`${lineText.trim().slice(0, 80)}\``;
}
