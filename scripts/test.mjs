// SPDX-License-Identifier: MIT OR Apache-2.0
// `make test`: builds, checks, and runs every test on every supported host. It has two lanes: TypeScript, and native code with the JVM. It
// continues after a failure and names the failed stage. It writes the time of every stage to out/stages.json.
import { checks, swiftChecks } from "./check/stages.mjs";
import { chosen, oldest } from "./maven.mjs";
import { builds, plugins, sayMissing, toolchains } from "./native.mjs";
import { node24 } from "./node24.mjs";
import { runStages } from "./stages.mjs";
import { missing as swiftMissing, toolchain } from "./swift.mjs";

const node = process.execPath;
const vitest = "node_modules/vitest/vitest.mjs";
const tests = (root, { program = node, projects = [], files = [], after = ["build"], lane = "typescript" }) => ({
  command: [program, vitest, "run", "--root", root, ...projects.flatMap((project) => ["--project", project]), ...files],
  after,
  lane,
});

const newer = node24();
if (!newer)
  console.error(`test: no Node 24 is packed for ${process.platform} ${process.arch}; its stages are left out`);

sayMissing("test");
const jdk = chosen();
if (!jdk.newest) console.error("test: no JDK 24 or newer was found; the tests of what differs there are left out");

const swift = toolchain() !== undefined;
if (!swift) console.error(`test: ${swiftMissing}; what is in Swift is left out`);

/** Returns those of `names` that this machine can build. */
const present = (...names) => names.filter((name) => builds.some((build) => build.name === name));
const cPlugins = present("native: C plugins", "native: plugin check");
const realLife = present("native: SQLite plugin", "native: plugins from real life");
const rustPlugins = present("native: Rust plugins");
const allPlugins = [...cPlugins, ...realLife, ...rustPlugins];
const java = jdk.builds ? ["jvm: compile"] : [];

const pluginCheck = "native/plugins/check/build/plugin-check";
const fuzzed = [
  "ts",
  "c",
  ...(toolchains.rust ? ["rust"] : []),
  ...(jdk.builds ? ["jvm"] : []),
  ...(swift ? ["swift"] : []),
];
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

const swiftProducts = swift ? ["swift: products"] : [];
const addon = { after: ["native: addon", ...allPlugins] };
const stages = [
  {
    name: "build",
    command: [node, "scripts/build.mjs", "clearway", "clearway-nats", "clearway-lab"],
    lane: "typescript",
  },
  // Long stages come first in each lane, so that no lane ends with a long stage.
  ...(jdk.builds ? [{ name: "jvm: compile", command: [node, "scripts/jvm.mjs", "compile"], lane: "native" }] : []),
  // Cargo locks its target folder. The other stages with Cargo therefore start after this one, instead of waiting for the lock.
  { name: "native: addon", command: [node, "scripts/build.mjs", "clearway-native"], after: ["build"], lane: "native" },
  {
    name: "library, chromium",
    ...tests("ts/clearway", { projects: ["chromium", "chromium-isolated", "chromium-pure"] }),
  },
  { name: `library, node ${process.versions.node}`, ...tests("ts/clearway", { projects: ["node", "pure", "models"] }) },
  { name: "library, node by port", ...tests("ts/clearway", { projects: ["node-port"] }) },
  { name: "library, child processes", ...tests("ts/clearway", { projects: ["node-processes"] }) },
  ...(newer
    ? [
        {
          name: "library, node 24",
          ...tests("ts/clearway", { program: newer, projects: ["node"] }),
          // Runs the first 60 of the random orders of events that the stage with the machine's own Node runs.
          env: { CLEARWAY_FUZZ_RUNS: "60" },
        },
      ]
    : []),
  { name: `remote pools, node ${process.versions.node}`, ...tests("ts/clearway-nats", {}) },
  ...(newer ? [{ name: "remote pools, node 24", ...tests("ts/clearway-nats", { program: newer }) }] : []),
  { name: "lab", ...tests("ts/clearway-lab", { after: ["build", "native: addon", ...swiftProducts] }) },
  { name: "examples", ...tests("examples", { after: ["build", ...addon.after, ...swiftProducts] }) },
  { name: "packaging", ...tests("test", { files: ["packaging"], after: ["build", "native: addon", ...cPlugins] }) },
  { name: "release", ...tests("test", { files: ["release"], after: ["build", "native: addon"] }) },
  { name: "runs with", ...tests("test", { files: ["runs-with"] }) },
  { name: "site", ...tests("test", { files: ["site"] }) },
  { name: "soak", ...tests("test", { files: ["soak"], after: ["build", ...addon.after, ...java] }) },
  { name: "the checks themselves", ...tests("test", { files: ["checks", "measure"] }) },
  ...checks.map((stage) => ({
    lane: "typescript",
    ...stage,
    name: `check: ${stage.name}`,
    after: { built: ["build", "native: addon"], cargo: ["native: addon"], jvm: java }[stage.needs] ?? [],
  })),
  ...builds.map((build) => ({ ...build, after: build.cargo ? ["native: addon"] : [], lane: "native" })),
  ...(swift
    ? [
        {
          name: "swift: products",
          command: [node, "scripts/swift.mjs", "build"],
          lane: "native",
        },
        // After the products, because SwiftPM and the compiler take every core.
        {
          name: "swift: tests",
          command: [node, "scripts/swift.mjs", "test"],
          after: ["swift: products", ...addon.after],
          lane: "native",
        },
        ...swiftChecks.map((stage) => ({ ...stage, name: `check: ${stage.name}`, after: ["swift: tests"] })),
        conforms("swift", ["swift: products"]),
      ]
    : []),
  ...(toolchains.rust
    ? [
        cargo("native: Rust", "test", "-q"),
        {
          name: "native: packed crates",
          ...tests("test", { files: ["tarballs/crates"], after: ["native: addon"], lane: "native" }),
        },
        { ...cargo("native: loom", "loom"), command: [node, "scripts/loom.mjs"] },
        conforms("rust", ["native: Rust"]),
      ]
    : []),
  ...(toolchains.c
    ? [
        conforms("c", ["native: C codec"]),
        {
          name: "conformance, random cases",
          command: [node, "conformance/fuzz.mjs", ...fuzzed],
          after: ["build", "native: C codec", ...(toolchains.rust ? ["native: Rust"] : []), ...java, ...swiftProducts],
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
    name: "plugin templates",
    ...tests("test", {
      files: ["templates"],
      after: ["build", ...addon.after, ...java, ...swiftProducts],
      lane: "native",
    }),
  },
  {
    name: "archives of C and Swift",
    ...tests("test", { files: ["tarballs/c.test", "tarballs/swift"], after: swiftProducts, lane: "native" }),
  },
  {
    name: "one plugin in every host",
    ...tests("test", {
      files: ["plugin-hosts"],
      after: ["build", ...addon.after, ...java, ...swiftProducts],
      lane: "native",
    }),
  },
  {
    name: `native plugins, node ${process.versions.node}`,
    ...tests("ts/clearway-native", { ...addon, lane: "native" }),
  },
  ...(newer
    ? [
        {
          name: "native plugins, node 24",
          ...tests("ts/clearway-native", { ...addon, program: newer, lane: "native" }),
        },
      ]
    : []),
  ...(jdk.builds
    ? [
        conforms("jvm", java),
        {
          name: ["jvm tests, JDK", jdk.builds, ...(jdk.newest ? ["and", jdk.newest] : [])].join(" "),
          command: [node, "scripts/jvm.mjs", "test", ...[jdk.builds, jdk.newest].filter(Boolean).map(String)],
          after: [...java, "build", ...addon.after],
          lane: "native",
        },
        {
          name: "jvm: published artifacts",
          ...tests("test", { files: ["maven/"], after: [...java, ...addon.after], lane: "native" }),
        },
      ]
    : [{ name: `jvm tests, JDK ${oldest}`, command: [node, "scripts/jvm.mjs", "test", `${oldest}`], lane: "native" }]),
];

await runStages("test", stages, process.argv.slice(2), { record: "out/stages.json" });
