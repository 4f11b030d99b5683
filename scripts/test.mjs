// SPDX-License-Identifier: MIT OR Apache-2.0
// `make test`: build, check, and every test on every host that we promise. Goes on after a failure and names it.
import { checks } from "./check/stages.mjs";
import { chosen, oldest } from "./maven.mjs";
import { builds, plugins, sayMissing, toolchains } from "./native.mjs";
import { node24 } from "./node24.mjs";
import { runStages } from "./stages.mjs";

const node = process.execPath;
const vitest = "node_modules/vitest/vitest.mjs";
const library = (projects, program = node) => [
  ...[program, vitest, "run", "--root", "ts/clearway"],
  ...projects.flatMap((project) => ["--project", project]),
];

const newer = node24();
if (!newer) console.error(`test: no Node 24 is packed for ${process.platform} ${process.arch}; its stage is left out`);

sayMissing("test");
const jdk = chosen();
if (!jdk.newest) console.error("test: no JDK 24 or newer was found; the stage of the JVM's newest is left out");

const pluginCheck = "native/plugins/check/build/plugin-check";
const fuzzed = ["ts", "c", ...(toolchains.rust ? ["rust"] : []), ...(jdk.builds ? ["jvm"] : [])];
const stages = [
  { name: "build", command: [node, "scripts/build.mjs"], needed: true },
  ...checks.map((stage) => ({ ...stage, name: `check: ${stage.name}` })),
  { name: `library, node ${process.versions.node}`, command: library(["node", "node-alone", "models"]) },
  { name: "library, node by port", command: library(["node-port"]) },
  ...(newer ? [{ name: "library, node 24", command: library(["node", "node-alone"], newer) }] : []),
  // Side by side: by itself each leaves a core idle for half of its time.
  { name: "library, chromium", command: library(["chromium", "chromium-isolated"]) },
  ...(toolchains.rust ? [{ name: "native: Rust", command: [node, "scripts/cargo.mjs", "test", "-q"] }] : []),
  ...builds,
  ...(toolchains.rust ? [{ name: "conformance, rust", command: [node, "conformance/check.mjs", "rust"] }] : []),
  ...(jdk.builds ? [{ name: "jvm: compile", command: [node, "scripts/jvm.mjs", "compile"] }] : []),
  ...(jdk.builds ? [{ name: "conformance, jvm", command: [node, "conformance/check.mjs", "jvm"] }] : []),
  ...(toolchains.c
    ? [
        { name: "conformance, c", command: [node, "conformance/check.mjs", "c"] },
        { name: "conformance, random cases", command: [node, "conformance/fuzz.mjs", ...fuzzed] },
        { name: "native: C plugins do", command: [pluginCheck, ...Object.values(plugins.c)] },
      ]
    : []),
  ...(toolchains.c && toolchains.rust
    ? [{ name: "native: Rust plugins do", command: [pluginCheck, ...Object.values(plugins.rust)] }]
    : []),
  {
    name: `native plugins, node ${process.versions.node}`,
    command: [node, vitest, "run", "--root", "ts/clearway-native"],
  },
  ...(newer
    ? [{ name: "native plugins, node 24", command: [newer, vitest, "run", "--root", "ts/clearway-native"] }]
    : []),
  { name: "lab", command: [node, vitest, "run", "--root", "ts/clearway-lab"] },
  { name: "examples", command: [node, vitest, "run", "--root", "examples"] },
  { name: "the checks themselves", command: [node, vitest, "run", "--root", "test", "checks"] },
  { name: `jvm, JDK ${jdk.builds ?? oldest}`, command: [node, "scripts/jvm.mjs", "test", `${jdk.builds ?? oldest}`] },
  ...(jdk.newest
    ? [{ name: `jvm, JDK ${jdk.newest}`, command: [node, "scripts/jvm.mjs", "test", `${jdk.newest}`] }]
    : []),
  { name: "benchmark and budgets", command: [node, vitest, "run", "--root", "test", "bench"] },
  { name: "packaging", command: [node, vitest, "run", "--root", "test", "packaging"] },
];

await runStages("test", stages, process.argv.slice(2));
