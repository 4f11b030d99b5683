// SPDX-License-Identifier: MIT OR Apache-2.0
// `make fmt`: fixes everything that a program can fix. Review its changes, above all those of the committed API.
import { runStages } from "./stages.mjs";
import { toolchain } from "./swift.mjs";

const node = process.execPath;
const own = (path) => [node, `scripts/${path}.mjs`, "--write"];

// The stages run one after the other, in this order. `format` comes after the stages that write code.
const after = ["build"];
const stages = [
  { name: "build", command: [node, "scripts/build.mjs"] },
  { name: "API snapshot", command: own("check/api"), after },
  { name: "import rules in ARCHITECTURE.md", command: own("check/imports") },
  { name: "format", command: [node, "node_modules/@biomejs/biome/bin/biome", "check", "--write", "."] },
  { name: "snippets", command: own("snippets") },
  { name: "features of browsers in the docs", command: own("browsers/page") },
  { name: "figures in the docs", command: [node, "scripts/figures/page.mjs", "--write"] },
  { name: "the published experiments", command: [node, "scripts/figures/experiments.mjs", "--write"] },
  { name: "native format", command: [node, "scripts/cargo.mjs", "fmt", "--all"] },
  { name: "jvm format", command: [node, "scripts/jvm.mjs", "format"] },
  ...(toolchain() ? [{ name: "swift format", command: [node, "scripts/swift.mjs", "format"] }] : []),
  {
    name: "native header",
    command: [node, "scripts/cargo.mjs", "run", "-q", "-p", "clearway-header", "--", "--write"],
  },
];

await runStages("fmt", stages, process.argv.slice(2), { lanes: 1 });
