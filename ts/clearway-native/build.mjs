// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds `dist/`: one ESM file for each entry, their types, the addon `clearway.node`, and in `addon/` the addon's sources for systems
// without a prebuilt one. Cargo builds the addon from native/crates/node, and downloads only the crates in Cargo.lock. Without a Rust toolchain, everything except the addon is built. Loading a plugin then fails
// with a message that names what is missing. `--js-only` builds neither the addon nor the types.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { declarations } from "../../scripts/declarations.mjs";
import { writeFiles } from "../../scripts/write-files.mjs";
import { copyAddonSources } from "./addon-sources.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const jsOnly = process.argv.includes("--js-only");

await build({
  entryPoints: [here("./src/index.ts"), here("./src/channel.ts"), { in: here("./src/cli/main.ts"), out: "cli" }],
  outdir: here("./dist"),
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: false,
  legalComments: "none",
  logLevel: "warning",
  external: ["clearway", "clearway/*"],
});

if (!jsOnly) {
  const bundle = await rollup({
    input: { index: here("./src/index.ts"), channel: here("./src/channel.ts") },
    plugins: [dts({ tsconfig: here("./tsconfig.json"), compilerOptions: { noEmit: false, stripInternal: true } })],
    external: [/^node:/, /^clearway/],
    onwarn: (warning) => console.warn(warning.message),
  });
  await bundle.write({
    dir: here("./dist"),
    format: "es",
    chunkFileNames: "types-[name].d.ts",
    plugins: [declarations],
  });
  await bundle.close();
  copyAddonSources(here("../../native"), here("./dist/addon"));
  buildAddon();
}

function buildAddon() {
  const manifest = here("../../native/Cargo.toml");
  if (!existsSync(manifest)) return; // this is an installed package without the sources of the addon
  const { error } = spawnSync("cargo", ["--version"], { stdio: "ignore" });
  if (error) {
    rmSync(here("./dist/clearway.node"), { force: true });
    console.warn(
      "build: clearway-native has no addon: Rust is missing. Everything else is built. Add it with https://rustup.rs, " +
        "or `apt-get install cargo` where that is 1.88 or newer, and run this again.",
    );
    return;
  }
  const cargo = ["build", "--release", "--manifest-path", manifest, "-p", "clearway-node"];
  const { status } = spawnSync("cargo", [...cargo, "--quiet"], { stdio: "inherit" });
  if (status !== 0) {
    console.error(`build: clearway-native: cargo ${cargo.join(" ")} failed; its message stands above`);
    process.exit(1);
  }
  mkdirSync(here("./dist"), { recursive: true });
  const [name] = { darwin: ["libclearway_node.dylib"], win32: ["clearway_node.dll"] }[process.platform] ?? [
    "libclearway_node.so",
  ];
  const target = process.env.CARGO_TARGET_DIR ?? here("../../native/target");
  // Copies to another name and then renames. A process that has loaded the old addon keeps using the old file.
  writeFiles({ [here("./dist/clearway.node")]: readFileSync(`${target}/release/${name}`) }, { mode: 0o777 });
}
