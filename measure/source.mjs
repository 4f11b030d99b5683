// SPDX-License-Identifier: MIT OR Apache-2.0
// Imports modules that are not public, so that they can be measured. Bundles their TypeScript sources first.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "node_modules/.cache/clearway/source");

/** Imports a source file by its path from the root. */
export async function source(path) {
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, path.replaceAll("/", "-").replace(/\.ts$/, `-${process.pid}.mjs`));
  await build({
    entryPoints: [join(root, path)],
    alias: { "#host": join(root, "ts/clearway/src/host/node.ts") },
    define: { hasProcesses: "true" },
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "node",
    outfile,
  });
  try {
    return await import(outfile);
  } finally {
    rmSync(outfile);
  }
}
