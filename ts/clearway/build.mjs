// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds `dist/`: one ESM file an entry and host (Node, browser), and one bundled .d.ts an entry. One file, because every
// file that a worker imports costs its start a fraction of a millisecond; classes that stand in two entries know each
// other by brand.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const entries = Object.fromEntries(
  ["index", "worker", "meter"].map((name) => [name, here(`./src/${name}.ts`)]).filter(([, file]) => existsSync(file)),
);
const typesToo = !process.argv.includes("--js-only");

// White space and comments are half of what a worker parses at its start; the source maps have the sources.
for (const host of ["node", "browser"]) {
  await build({
    minifyWhitespace: true,
    minifySyntax: true,
    entryPoints: entries,
    outdir: here(`./dist/${host}`),
    bundle: true,
    format: "esm",
    target: host === "node" ? "node20" : "es2022",
    platform: host === "node" ? "node" : "browser",
    alias: { "#host": here(`./src/host/${host}.ts`), "#meter-host": here(`./src/meter/host/${host}.ts`) },
    sourcemap: true,
    legalComments: "none",
    logLevel: "warning",
  });
}

if (typesToo) {
  const bundle = await rollup({
    input: entries,
    plugins: [dts({ tsconfig: here("./tsconfig.json"), compilerOptions: { noEmit: false } })],
    external: [/^node:/],
    onwarn: (warning) => console.warn(warning.message),
  });
  await bundle.write({ dir: here("./dist"), format: "es", chunkFileNames: "types-[name].d.ts" });
  await bundle.close();
}
