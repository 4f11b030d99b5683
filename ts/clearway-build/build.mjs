// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds `dist/`: one ESM file and one .d.ts per bundler. The parser and the other dependencies stay imports.
import { readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const entries = Object.fromEntries(
  ["vite", "rollup", "esbuild", "webpack"].map((name) => [name, here(`./src/${name}.ts`)]),
);

rmSync(here("./dist"), { recursive: true, force: true });
await build({
  // webpack loads its loader by the path of a file.
  entryPoints: { ...entries, "webpack-loader": here("./src/webpack-loader.ts") },
  outdir: here("./dist"),
  bundle: true,
  splitting: true,
  chunkNames: "shared-[hash]",
  packages: "external",
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: false,
  legalComments: "none",
  logLevel: "warning",
});

if (!process.argv.includes("--js-only")) {
  const bundle = await rollup({
    input: entries,
    plugins: [dts({ tsconfig: here("./tsconfig.json"), compilerOptions: { noEmit: false } })],
    external: [/^[^./]/],
    onwarn: (warning) => console.warn(warning.message),
  });
  await bundle.write({ dir: here("./dist"), format: "es", chunkFileNames: "types-[name].d.ts" });
  await bundle.close();
  if (!readdirSync(here("./dist")).includes("vite.d.ts")) throw new Error("no types were written");
}
