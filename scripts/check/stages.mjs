// SPDX-License-Identifier: MIT OR Apache-2.0
// The checks, as stages. No stage writes files that another one reads. `needs` says when a stage may start: "built" means after the build
// of the npm packages, and "cargo" means after the build that locks Cargo's target folder.
// Programs are started by path, because the scripts in node_modules/.bin would use the first Node on the PATH.
import { toolchain } from "../swift.mjs";

const node = process.execPath;
const tool = (path, ...args) => [node, `node_modules/${path}`, ...args];
const own = (name, ...args) => [node, `scripts/check/${name}.mjs`, ...args];
const cargo = (...args) => [node, "scripts/cargo.mjs", ...args];

const projects = [
  ...["clearway", "clearway-build", "clearway-native", "clearway-nats", "clearway-lab"].map((name) => `ts/${name}`),
  "examples",
  "test",
];

export const checks = [
  { name: "format and lint", command: tool("@biomejs/biome/bin/biome", "check", "--error-on-warnings", ".") },
  {
    // Version 7 takes a fifth of the processor time of version 6, which stays for the tools that load it as a library (typedoc, the declaration
    // bundler, the checks). One process checks all projects. Each project writes a .tsbuildinfo, so that the next run checks only changed files.
    name: "types",
    command: tool("typescript-7/bin/tsc", "-b", ...projects),
    needs: "built",
  },
  { name: "native format", command: cargo("fmt", "--all", "--check"), lane: "native" },
  {
    name: "native lint",
    command: cargo(
      "clippy",
      "-q",
      "--workspace",
      "--exclude",
      "clearway-header",
      "--all-targets",
      "--",
      "-D",
      "warnings",
    ),
    needs: "cargo",
    lane: "native",
  },
  { name: "import rules", command: own("imports") },
  { name: "globals", command: own("globals") },
  { name: "files", command: own("files") },
  { name: "manifests and lock file", command: own("manifests") },
  { name: "versions", command: [node, "scripts/release/version.mjs"] },
  { name: "API snapshot", command: own("api"), needs: "built" },
  { name: "public names have comments", command: [node, "scripts/reference.mjs", "--check"] },
  { name: "snippets", command: [node, "scripts/snippets.mjs"] },
  { name: "features of browsers in the docs", command: [node, "scripts/browsers/page.mjs"] },
  { name: "figures in the docs", command: [node, "scripts/figures/page.mjs"] },
  { name: "the published experiments", command: [node, "scripts/figures/experiments.mjs"], needs: "built" },
  { name: "sizes", command: tool("size-limit/bin.js"), needs: "built" },
];

/** The C header is what Rust's code says. `make check` and `make deep` compare them, because cbindgen takes as long to compile as all our Rust. */
export const headerCheck = {
  name: "native header",
  command: cargo("run", "-q", "-p", "clearway-header"),
  needs: "cargo",
  lane: "native",
};

/** The formatting of Kotlin and Java, for a machine with a JDK. */
export const jvmFormat = {
  name: "jvm format",
  command: [node, "scripts/jvm.mjs", "check-format"],
  lane: "native",
};

/** The formatting of Swift, where Swift is installed. */
export const swiftChecks = toolchain()
  ? [{ name: "swift format", command: [node, "scripts/swift.mjs", "check-format"], lane: "native" }]
  : [];
