// SPDX-License-Identifier: MIT OR Apache-2.0
// `make native`: builds the C codec and the example plugins. Names the parts that it leaves out because a toolchain is missing.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { missing as rustMissing } from "./cargo.mjs";
import { isProgram } from "./problems.mjs";
import { root } from "./sources.mjs";
import { runStages } from "./stages.mjs";

const has = (program) => spawnSync(program, ["--version"]).status === 0;
const library = (name) => (process.platform === "darwin" ? `lib${name}.dylib` : `lib${name}.so`);
const built = {
  c: (name) => join(root, "native/plugins/c/build", library(`clearway_${name}_c`)),
  rust: (name) => join(root, "native/target/release", library(`clearway_${name}_rust`)),
};

const pathsOf = (language, ...names) => Object.fromEntries(names.map((name) => [name, built[language](name)]));

/** The paths of the built plugins of native/plugins/README.md, by language and name. */
export const plugins = {
  c: {
    ...pathsOf("c", "example", "misbehave"),
    sqlite: join(root, "native/plugins/sqlite/build", library("clearway_sqlite_c")),
  },
  rust: pathsOf("rust", "example", "misbehave", "safe", "image", "sensor"),
};

/** The library with which languages other than JavaScript load plugins. The build of the Rust plugins makes it. */
export const libclearway = join(root, "native/target/release", library("clearway"));

/** Whether this machine has the tools that C and Rust need. */
export const toolchains = { c: has("cc") && has("make"), rust: has("cargo") };

/** Whether the C compiler finds SQLite's header. Without it, the plugin that reads SQLite is left out. */
export const hasSqlite =
  toolchains.c && spawnSync("cc", ["-fsyntax-only", "-include", "sqlite3.h", "-xc", "/dev/null"]).status === 0;

const make = (folder) => ["make", "-s", "-C", `native/${folder}`];

const cargoBuild = (name, ...crates) => ({
  name,
  cargo: true,
  command: ["cargo", "build", "-q", "--release", ...crates.flatMap((crate) => ["-p", `clearway-${crate}`])],
  cwd: "native",
});

/** The stages that build the native parts. */
export const builds = [
  ...(toolchains.c
    ? [
        { name: "native: C codec", command: make("c") },
        { name: "native: C plugins", command: make("plugins/c") },
        { name: "native: plugin check", command: make("plugins/check") },
        ...(hasSqlite ? [{ name: "native: SQLite plugin", command: make("plugins/sqlite") }] : []),
      ]
    : []),
  ...(toolchains.rust
    ? [
        cargoBuild("native: Rust plugins", "example", "misbehave", "safe", "abi"),
        cargoBuild("native: plugins from real life", "image", "sensor"),
      ]
    : []),
];

/** Prints which toolchains are missing. */
export function sayMissing(title) {
  if (!toolchains.c)
    console.error(
      `${title}: no C compiler (cc) or no make; what is in C is left out. Debian: apt-get install build-essential`,
    );
  else if (!hasSqlite)
    console.error(
      `${title}: no header of SQLite; its example plugin is left out. Debian: apt-get install libsqlite3-dev`,
    );
  if (!toolchains.rust) console.error(`${title}: ${rustMissing}; what is in Rust is left out`);
}

if (isProgram(import.meta)) {
  sayMissing("native");
  await runStages("native", builds, process.argv.slice(2));
}
