// SPDX-License-Identifier: MIT OR Apache-2.0
// The checks, as stages: none writes what another reads. The programs are started by path: `.bin` would go through
// whichever Node comes first.
const node = process.execPath;
const tool = (path, ...args) => [node, `node_modules/${path}`, ...args];
const own = (name, ...args) => [node, `scripts/check/${name}.mjs`, ...args];
const cargo = (...args) => [node, "scripts/cargo.mjs", ...args];
const tsc = (project) => ({ name: `types ${project}`, command: tool("typescript/bin/tsc", "-p", project) });

export const checks = [
  { name: "format and lint", command: tool("@biomejs/biome/bin/biome", "check", "--error-on-warnings", ".") },
  tsc("ts/clearway"),
  tsc("ts/clearway-native"),
  tsc("ts/clearway-lab"),
  tsc("examples"),
  tsc("test"),
  { name: "native format", command: cargo("fmt", "--all", "--check") },
  { name: "native lint", command: cargo("clippy", "-q", "--all-targets", "--", "-D", "warnings") },
  { name: "native header", command: cargo("run", "-q", "-p", "clearway-header") },
  { name: "jvm format", command: [node, "scripts/jvm.mjs", "check-format"] },
  { name: "import rules", command: own("imports") },
  { name: "file sizes", command: own("file-sizes") },
  { name: "licence lines", command: own("licences") },
  { name: "no machine's own paths", command: own("machine-paths") },
  { name: "manifests and lock file", command: own("manifests") },
  { name: "API snapshot", command: own("api") },
  { name: "snippets", command: [node, "scripts/snippets.mjs"] },
  { name: "sizes", command: tool("size-limit/bin.js") },
  { name: "publint clearway", command: tool("publint/src/cli.js", "run", "ts/clearway", "--strict") },
  { name: "publint clearway-native", command: tool("publint/src/cli.js", "run", "ts/clearway-native", "--strict") },
  { name: "publint clearway-lab", command: tool("publint/src/cli.js", "run", "ts/clearway-lab", "--strict") },
  {
    name: "types as packed (attw)",
    command: tool("@arethetypeswrong/cli/dist/index.js", "--pack", "ts/clearway", "--profile", "esm-only"),
  },
].map((stage) => ({ ...stage, beside: true }));
