// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

/** The files in src/ways of each way. The page lists the same: src/page/ways.ts. */
export const sourcesOf = {
  "main-thread": ["main-thread"],
  "by-hand": ["by-hand", "by-hand.worker"],
  comlink: ["comlink", "comlink.worker"],
  clearway: ["clearway", "clearway.tasks"],
};

const bundled = /** @type {const} */ ({
  outdir: here("../dist"),
  write: false,
  bundle: true,
  format: "esm",
  splitting: true,
  target: "es2022",
  logLevel: "warning",
});

/**
 * Returns the size of each way: the lines of its code without comments and empty lines, and the bytes that a page and a worker load for it,
 * minified and gzipped, with the jobs' own functions and the library.
 *
 * @returns {Promise<Record<string, { lines: number, bytes: number }>>}
 */
export async function sizesOfWays() {
  const sizes = Object.entries(sourcesOf).map(async ([way, names]) => {
    const entryPoints = names.map((name) => here(`../src/ways/${name}.ts`));
    const { outputFiles, metafile } = await build({ ...bundled, entryPoints, minify: true, metafile: true });
    const paths = Object.keys(metafile.outputs);
    const loaded = new Set(paths.filter((path) => names.some((name) => path.endsWith(`/${name}.js`))));
    for (const path of loaded)
      for (const each of metafile.outputs[path]?.imports ?? []) if (!isForTables(each.path)) loaded.add(each.path);
    const bytes = outputFiles.map(({ path, contents }) =>
      [...loaded].some((each) => path.endsWith(each.slice(each.lastIndexOf("/")))) ? gzipSync(contents).length : 0,
    );
    const lines = entryPoints.map((file) => readFileSync(file, "utf8").split("\n").filter(isCode).length);
    const sum = (/** @type {number[]} */ numbers) => numbers.reduce((total, each) => total + each, 0);
    return [way, { lines: sum(lines), bytes: sum(bytes) }];
  });
  return Object.fromEntries(await Promise.all(sizes));
}

/** The library loads these chunks when a table of records arrives. The jobs have none. */
const isForTables = (/** @type {string} */ path) => /\/(records|clearway-arrow)-[^/]*$/.test(path);

const isCode = (/** @type {string} */ line) => !/^\s*($|\/\/|\/?\*)/.test(line);

/**
 * Bundles the page and its workers in memory, and writes nothing to disk. Each worker is a separate entry next to the page, so that
 * `new URL("./clearway.tasks.js", import.meta.url)` finds it.
 *
 * @returns {Promise<Map<string, Uint8Array>>} file name to contents
 */
export async function bundlePage() {
  const { outputFiles } = await build({
    ...bundled,
    entryPoints: {
      page: here("../src/page/page.ts"),
      "by-hand.worker": here("../src/ways/by-hand.worker.ts"),
      "comlink.worker": here("../src/ways/comlink.worker.ts"),
      "clearway.tasks": here("../src/ways/clearway.tasks.ts"),
    },
    sourcemap: "linked",
  });
  return new Map(outputFiles.map((file) => [file.path.slice(here("../dist/").length), file.contents]));
}
