// SPDX-License-Identifier: MIT OR Apache-2.0
// `make test`: builds, checks, and tests a change. It has two lanes: TypeScript, and native code with the JVM. It continues after a failure
// and names the failed stage. It writes the time of every stage to out/stages.json. It leaves out the long stages whose files have not
// changed since they passed. What a change seldom breaks is elsewhere: every test on every host and long random runs in deep.mjs, packing
// and installing in release-check.mjs.
import { missing } from "./browsers/engines.mjs";
import { checks, jvmFormat, swiftChecks } from "./check/stages.mjs";
import {
  afterAddon,
  afterJava,
  afterSwift,
  allPlugins,
  buildStages,
  cPlugins,
  engines,
  enginesMissing,
  hasSwift,
  jdk,
  languages,
  newer,
  node,
  tests,
} from "./common-stages.mjs";
import { oldest } from "./maven.mjs";
import { plugins, sayMissing, toolchains } from "./native.mjs";
import { runStages } from "./stages.mjs";
import { missing as swiftMissing } from "./swift.mjs";

if (!newer)
  console.error(`test: no Node 24 is packed for ${process.platform} ${process.arch}; its stages are left out`);
sayMissing("test");
if (!jdk.newest) console.error("test: no JDK 24 or newer was found; the tests of what differs there are left out");
if (!hasSwift) console.error(`test: ${swiftMissing}; what is in Swift is left out`);
for (const engine of enginesMissing) console.error(`test: ${missing(engine)}. Its stages are left out`);

// What the stages of each part read. A stage without such a list reads files of several parts, and runs after each change.
const library = ["ts/clearway", "ts/clearway-build", "conformance", "spec", "measure", "ARCHITECTURE.md"];
const remotePools = ["ts/clearway", "ts/clearway-nats"];
const addon = ["ts/clearway", "ts/clearway-build", "ts/clearway-native", "native", "spec", "conformance"];
const swift = [...addon, "swift"];
const jvm = [...addon, "jvm", "ts/clearway-nats", "lab"];

const pluginCheck = "native/plugins/check/build/plugin-check";
const conforms = (language, after) => ({
  name: `conformance, ${language}`,
  command: [node, "conformance/check.mjs", language],
  after,
  lane: "native",
});
const cargo = (name, ...args) => ({
  name,
  command: [node, "scripts/cargo.mjs", ...args],
  after: ["native: addon"],
  lane: "native",
});

const stages = [
  ...buildStages,
  {
    name: "library, chromium",
    ...tests("ts/clearway", { projects: ["chromium-isolated", "chromium-pure", "chromium"], reads: library }),
  },
  // The tests of what differs between engines. `make deep` runs all, also in pages without isolation.
  ...engines.map((engine) => ({
    name: `library, ${engine}`,
    ...tests("ts/clearway", { projects: [`${engine}-isolated`], reads: library }),
  })),
  {
    name: `library, node ${process.versions.node}`,
    ...tests("ts/clearway", {
      projects: ["node", "pure", "models", "node-port", "node-processes"],
      reads: library,
    }),
  },
  ...(newer
    ? [
        {
          name: "library, node 24",
          ...tests("ts/clearway", { program: newer, projects: ["node-versions"], reads: library }),
        },
      ]
    : []),
  { name: `remote pools, node ${process.versions.node}`, ...tests("ts/clearway-nats", { reads: remotePools }) },
  { name: "lab", ...tests("ts/clearway-lab", { after: ["build", "native: addon"] }) },
  { name: "examples", ...tests("examples", { after: ["build", ...afterAddon, ...afterSwift] }) },
  { name: "packed library", ...tests("test", { files: ["packaging/library", "runs-with/quick-starts"] }) },
  { name: "site", ...tests("test", { files: ["site"] }) },
  { name: "a newcomer's page", ...tests("test", { files: ["browsers"] }) },
  { name: "soak", ...tests("test", { files: ["soak"], after: ["build", ...afterAddon] }) },
  { name: "the checks themselves", ...tests("test", { files: ["checks", "measure"] }) },
  ...(jdk.builds
    ? [
        conforms("jvm", afterJava),
        {
          name: ["jvm tests, JDK", jdk.builds, ...(jdk.newest ? ["and", jdk.newest] : [])].join(" "),
          command: [node, "scripts/jvm.mjs", "test", ...[jdk.builds, jdk.newest].filter(Boolean).map(String)],
          after: [...afterJava, "build", ...afterAddon],
          lane: "native",
          reads: jvm,
        },
      ]
    : [{ name: `jvm tests, JDK ${oldest}`, command: [node, "scripts/jvm.mjs", "test", `${oldest}`], lane: "native" }]),
  ...checks.map((stage) => ({
    lane: "typescript",
    ...stage,
    name: `check: ${stage.name}`,
    after: { built: ["build", "native: addon"], cargo: ["native: addon"] }[stage.needs] ?? [],
  })),
  ...(jdk.builds ? [{ ...jvmFormat, name: `check: ${jvmFormat.name}` }] : []),
  ...(hasSwift
    ? [
        {
          name: "swift: tests",
          command: [node, "scripts/swift.mjs", "test"],
          after: [...afterSwift, ...afterAddon],
          lane: "native",
          reads: swift,
        },
        ...swiftChecks.map((stage) => ({ ...stage, name: `check: ${stage.name}` })),
        conforms("swift", ["swift: tests"]),
      ]
    : []),
  ...(toolchains.rust ? [cargo("native: Rust", "test", "-q"), conforms("rust", ["native: Rust"])] : []),
  ...(toolchains.c
    ? [
        conforms("c", ["native: C codec"]),
        {
          name: "conformance, random cases",
          command: [node, "conformance/fuzz.mjs", ...languages],
          // Cargo and SwiftPM lock their folders, so that the programs would wait for the tests.
          after: [
            "build",
            "native: C codec",
            ...(toolchains.rust ? ["native: Rust"] : []),
            ...afterJava,
            ...(hasSwift ? ["swift: tests"] : []),
          ],
          lane: "native",
        },
        {
          name: "native: C plugins do",
          command: [pluginCheck, plugins.c.example, plugins.c.misbehave],
          after: cPlugins,
          lane: "native",
        },
      ]
    : []),
  ...(toolchains.c && toolchains.rust
    ? [
        {
          name: "native: Rust plugins do",
          command: [pluginCheck, plugins.rust.example, plugins.rust.misbehave],
          after: allPlugins,
          lane: "native",
        },
      ]
    : []),
  {
    name: "one plugin in every host",
    ...tests("test", {
      files: ["plugin-hosts"],
      after: ["build", ...afterAddon, ...afterJava, ...afterSwift],
      lane: "native",
    }),
  },
  {
    name: `native plugins, node ${process.versions.node}`,
    ...tests("ts/clearway-native", { after: afterAddon, lane: "native", reads: addon }),
  },
];

await runStages("test", stages, process.argv.slice(2), { record: "out/stages.json", leaveOutPassed: true });
