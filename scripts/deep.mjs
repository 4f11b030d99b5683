// SPDX-License-Identifier: MIT OR Apache-2.0
// `make deep`: runs the tests that take too long for `make test`. They are every test on every host, random orders of events from a new seed,
// all interleavings with loom, jcstress, miri, sanitizers and coverage-guided fuzzing. If a tool is missing, leaves out its stages and prints
// how to install it.
// These variables set the numbers of random orders:
//
// - CLEARWAY_DEEP_ORDERS: of pools and of callbacks. The default is 20,000. An order takes 86 ms on two cores, so 1,000,000 take a day.
// - CLEARWAY_DEEP_CHANNEL_ORDERS: of channels, in TypeScript. The default is 100,000.
// - CLEARWAY_DEEP_JVM_ORDERS: of the JVM's executor and channels. The default is 100,000.
import { spawnSync } from "node:child_process";
import { missing } from "./browsers/engines.mjs";
import { headerCheck } from "./check/stages.mjs";
import {
  afterAddon,
  afterJava,
  afterSwift,
  buildStages,
  engines,
  enginesMissing,
  hasSwift,
  jdk,
  languages,
  newer,
  node,
  tests,
} from "./common-stages.mjs";
import { sayMissing, toolchains } from "./native.mjs";
import { runStages } from "./stages.mjs";
import { missing as swiftMissing } from "./swift.mjs";

/** Returns the number in an environment variable. Ends the process if it is not a number of orders. */
function ordersOf(name, otherwise) {
  const asked = process.env[name] ?? String(otherwise);
  const orders = Number(asked);
  if (Number.isInteger(orders) && orders >= 1) return orders;
  console.error(`deep: ${name} must be a whole number, 1 or more: ${name}=${asked}`);
  process.exit(2);
}

const orders = ordersOf("CLEARWAY_DEEP_ORDERS", 20_000);
const channelOrders = ordersOf("CLEARWAY_DEEP_CHANNEL_ORDERS", 100_000);
const jvmOrders = ordersOf("CLEARWAY_DEEP_JVM_ORDERS", 100_000);
const has = (...command) => spawnSync(command[0], command.slice(1), { stdio: "ignore" }).status === 0;
const nightly = toolchains.rust && has("cargo", "+nightly", "--version");
const miri = nightly && has("cargo", "+nightly", "miri", "--version");
const fuzzer = nightly && has("cargo", "+nightly", "fuzz", "--version");

sayMissing("deep");
if (!miri) console.error("deep: miri is missing. Add it with: rustup toolchain install nightly -c miri,rust-src");
if (!fuzzer) console.error("deep: cargo-fuzz is missing. Add it with: cargo install cargo-fuzz");

if (!hasSwift) console.error(`deep: ${swiftMissing}`);
for (const engine of enginesMissing) console.error(`deep: ${missing(engine)}. Its stages are left out`);
if (!newer)
  console.error(`deep: no Node 24 is packed for ${process.platform} ${process.arch}; its stages are left out`);

// A failing test prints this seed. To repeat its random choices, set CLEARWAY_FUZZ_SEED to the seed.
const seed = process.env.CLEARWAY_FUZZ_SEED ?? String(Date.now() % 2 ** 31);
console.log(`deep: CLEARWAY_FUZZ_SEED=${seed}`);
const random = (runs) => ({ CLEARWAY_FUZZ_SEED: seed, CLEARWAY_FUZZ_RUNS: String(runs) });
// With this variable, a test also checks by how many bytes the heap grows. No stage of `make test` sets it.
const heap = { CLEARWAY_FUZZ_HEAP: "1" };
const vitest = (...args) => [node, "node_modules/vitest/vitest.mjs", "run", "--root", "ts/clearway", ...args];
const everyTest = (name, options) => ({
  name: `every test, ${name}`,
  ...tests("ts/clearway", options),
  env: { CLEARWAY_EVERY_TEST: "1", CLEARWAY_FUZZ_SEED: seed },
});

const stages = [
  ...buildStages,
  everyTest(`node ${process.versions.node}`, { projects: ["node", "pure", "models", "node-port", "node-processes"] }),
  {
    name: "every test, lab",
    ...tests("ts/clearway-lab", { after: ["build", "native: addon"] }),
    env: { CLEARWAY_EVERY_TEST: "1" },
  },
  everyTest("chromium", { projects: ["chromium-isolated", "chromium-pure", "chromium"] }),
  // "bare": WebKitGTK as it is shipped, in isolated pages without shared memory.
  ...engines.map((engine) =>
    everyTest(engine, {
      projects: ["", "-isolated", "-pure", ...(engine === "webkit" ? ["-bare"] : [])].map((kind) => engine + kind),
    }),
  ),
  {
    name: "pages in every browser",
    ...tests("test", { files: ["browsers", "site"] }),
    env: { CLEARWAY_EVERY_TEST: "1" },
  },
  ...(newer
    ? [
        everyTest("node 24", { program: newer, projects: ["node", "pure"] }),
        { name: "remote pools, node 24", ...tests("ts/clearway-nats", { program: newer }) },
        { name: "native plugins, node 24", ...tests("ts/clearway-native", { program: newer, after: afterAddon }) },
      ]
    : []),
  {
    name: "pools: orders, ring",
    command: vitest("--project", "node", "test/pool/no-hang.node.test.ts"),
    env: { ...random(orders), ...heap },
    after: ["build"],
    lane: "typescript",
  },
  {
    name: "pools: orders, port",
    command: vitest("--project", "node-port", "test/pool/no-hang.node.test.ts"),
    env: { ...random(orders), ...heap },
    after: ["build"],
    lane: "typescript",
  },
  {
    name: "pools: orders, child processes",
    command: vitest("--project", "node-processes", "test/pool/no-hang.node.test.ts"),
    // A process takes several times as long to start as a thread.
    env: { ...random(Math.ceil(orders / 8)), ...heap },
    after: ["build"],
    lane: "typescript",
  },
  {
    name: "pools: orders of callbacks",
    command: vitest("--project", "node", "test/pool/callback-orders.node.test.ts"),
    env: { ...random(orders), ...heap },
    after: ["build"],
    lane: "typescript",
  },
  {
    name: "channels: orders",
    command: vitest("--project", "node", "test/channel/endpoint/no-hang.test.ts"),
    // The test has eight combinations of carrier and wire. Each one runs this number of random orders.
    env: random(Math.ceil(channelOrders / 8)),
    after: ["build"],
    lane: "typescript",
  },
  {
    name: "channels: orders, and what they leave behind",
    command: vitest("--project", "node", "test/channel/endpoint/no-leak.node.test.ts"),
    env: { ...random(channelOrders), ...heap },
    after: ["build"],
    lane: "typescript",
  },
  {
    name: "foreign code: every misdeed at every point",
    command: vitest("--project", "node", "foreign-code.node.test.ts"),
    env: { CLEARWAY_FUZZ_ALL: "1" },
    after: ["build"],
    lane: "typescript",
  },
  ...(toolchains.c
    ? [
        {
          name: "codecs agree on random cases",
          command: [node, "conformance/fuzz.mjs", ...languages],
          env: random(orders * 10),
          after: ["build", "native: addon", "native: C codec", ...afterJava, ...afterSwift],
          lane: "native",
        },
      ]
    : []),
  ...(jdk.builds
    ? [
        {
          name: "JVM: orders",
          command: [node, "scripts/jvm.mjs", "test", ...[jdk.builds, jdk.newest].filter(Boolean).map(String)],
          env: { ...random(jvmOrders), CLEARWAY_EVERY_TEST: "1" },
          after: ["build", ...afterAddon],
          lane: "native",
        },
        { name: "JVM: jcstress", command: [node, "scripts/jvm-stress.mjs", "default"], lane: "native" },
      ]
    : []),
  ...(toolchains.rust
    ? [
        { ...headerCheck, name: `check: ${headerCheck.name}`, after: ["native: addon"] },
        { name: "loom: every order", command: [node, "scripts/loom.mjs"], lane: "native" },
      ]
    : []),
  ...(miri
    ? [
        {
          name: "miri",
          // biome-ignore format: a command reads best on few lines.
          command: ["cargo", "+nightly", "miri", "test", "-q", "--target-dir", "target/miri", "-p", "clearway-core",
            "-p", "clearway-codec"],
          cwd: "native",
          env: { MIRIFLAGS: "-Zmiri-disable-isolation -Zmiri-ignore-leaks" },
          lane: "native",
        },
      ]
    : []),
  ...(hasSwift
    ? [{ name: "Swift: thread sanitizer", command: [node, "scripts/swift.mjs", "test-thread"], lane: "native" }]
    : []),
  { name: "sanitizers", command: [node, "scripts/sanitize.mjs"], after: ["build"], lane: "native" },
  ...(fuzzer ? [{ name: "fuzzing", command: [node, "native/fuzz/fuzz.mjs", "--seconds", "600"], lane: "native" }] : []),
];

await runStages("deep", stages, process.argv.slice(2), { record: "out/deep.json" });
