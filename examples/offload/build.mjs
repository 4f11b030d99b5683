// SPDX-License-Identifier: MIT OR Apache-2.0

// #region build
import clearway from "clearway-build/esbuild";
import { build } from "esbuild";

await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: ["main.ts"],
  outdir: "dist",
  bundle: true,
  format: "esm",
  platform: "node",
  plugins: [clearway()],
});
// #endregion build
