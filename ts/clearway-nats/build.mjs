// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds `dist/`: one ESM file for each entry and for the command, one for the code that they share, and the entries' types. The code of `durable`
// mode is a file of its own, which is loaded when a pool or a server has that mode.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { declarations } from "../../scripts/declarations.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const entries = { index: here("./src/index.ts"), serve: here("./src/serve.ts") };

rmSync(here("./dist"), { recursive: true, force: true });
await build({
  entryPoints: { ...entries, cli: here("./src/cli/main.ts") },
  outdir: here("./dist"),
  bundle: true,
  splitting: true,
  chunkNames: "part-[hash]",
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: false,
  legalComments: "none",
  logLevel: "warning",
  packages: "external",
});

if (!process.argv.includes("--js-only")) {
  const bundle = await rollup({
    input: entries,
    plugins: [dts({ tsconfig: here("./tsconfig.json"), compilerOptions: { noEmit: false, stripInternal: true } })],
    external: [/^node:/, /^clearway/, /^@nats-io\//],
    onwarn: (warning) => console.warn(warning.message),
  });
  await bundle.write({
    dir: here("./dist"),
    format: "es",
    chunkFileNames: "types-[name].d.ts",
    plugins: [declarations],
  });
  await bundle.close();
}
