// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles the task modules of tests. A worker that loads TypeScript uses 90 ms of processor time more than one that loads JavaScript, and
// Node 20 loads none without a hook.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/**
 * Compiles the files `*.tasks.ts` of a folder, and the files that are named in `imported`, into its folder `built`. Strips types per file, as a
 * user's build does. The modules then load the built library through its package exports. Skips unchanged files and replaces changed files
 * atomically, because another project's tests may be reading them. `folder` is a URL that ends with a slash.
 */
export async function compileTaskFixtures(folder, imported = []) {
  const here = fileURLToPath(folder);
  const modules = readdirSync(here).filter((name) => name.endsWith(".tasks.ts") || imported.includes(name));
  const { outputFiles } = await build({
    entryPoints: modules.map((name) => here + name),
    outdir: `${here}built`,
    format: "esm",
    target: "es2022",
    bundle: false,
    write: false,
    // Vitest's browser routes every `import()` through an object that exists in pages but not in workers.
    banner: { js: "globalThis.__vitest_browser_runner__ ??= { wrapDynamicImport: (load) => load() };" },
    logLevel: "warning",
  });
  for (const { path, text } of outputFiles) {
    if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
    mkdirSync(dirname(path), { recursive: true });
    const fresh = `${path}.${process.pid}`;
    writeFileSync(fresh, text);
    renameSync(fresh, path);
  }
}
