// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Bundles the page and its workers in memory, and writes nothing to disk. Each worker is a separate entry next to the page, so that
 * `new URL("./clearway.tasks.js", import.meta.url)` finds it.
 *
 * @returns {Promise<Map<string, Uint8Array>>} file name to contents
 */
export async function bundlePage() {
  const { outputFiles } = await build({
    entryPoints: {
      page: here("../src/page/page.ts"),
      "by-hand.worker": here("../src/ways/by-hand.worker.ts"),
      "comlink.worker": here("../src/ways/comlink.worker.ts"),
      "clearway.tasks": here("../src/ways/clearway.tasks.ts"),
    },
    outdir: here("../dist"),
    write: false,
    bundle: true,
    format: "esm",
    target: "es2022",
    sourcemap: "linked",
    logLevel: "warning",
  });
  return new Map(outputFiles.map((file) => [file.path.slice(here("../dist/").length), file.contents]));
}
