// SPDX-License-Identifier: MIT OR Apache-2.0
// `make deep`: runs the tests that take too long for `make test`. They are random orders of events from a new seed, all interleavings with
// loom, jcstress, miri, sanitizers and coverage-guided fuzzing. If a tool is missing, leaves out its stages and prints how to install it.
// CLEARWAY_DEEP_ORDERS is the number of random orders for pools and channels. The default is 20,000; 1,000,000 orders take a day.
import { spawnSync } from "node:child_process";
import { chosen } from "./maven.mjs";
import { builds, sayMissing, toolchains } from "./native.mjs";
import { runStages } from "./stages.mjs";

const node = process.execPath;
const asked = process.env.CLEARWAY_DEEP_ORDERS ?? "20000";
const orders = Number(asked);
if (!Number.isInteger(orders) || orders < 1) {
  console.error(`deep: CLEARWAY_DEEP_ORDERS must be a whole number, 1 or more: CLEARWAY_DEEP_ORDERS=${asked}`);
  process.exit(2);
}
const has = (...command) => spawnSync(command[0], command.slice(1), { stdio: "ignore" }).status === 0;
const nightly = toolchains.rust && has("cargo", "+nightly", "--version");
const miri = nightly && has("cargo", "+nightly", "miri", "--version");
const fuzzer = nightly && has("cargo", "+nightly", "fuzz", "--version");

sayMissing("deep");
if (!miri) console.error("deep: miri is missing. Add it with: rustup toolchain install nightly -c miri,rust-src");
if (!fuzzer) console.error("deep: cargo-fuzz is missing. Add it with: cargo install cargo-fuzz");

// A failing test prints this seed. To repeat its random choices, set CLEARWAY_FUZZ_SEED to the seed.
const seed = process.env.CLEARWAY_FUZZ_SEED ?? String(Date.now() % 2 ** 31);
console.log(`deep: CLEARWAY_FUZZ_SEED=${seed}`);
const random = (runs) => ({ CLEARWAY_FUZZ_SEED: seed, CLEARWAY_FUZZ_RUNS: String(runs) });
// With this variable, a test also checks by how many bytes the heap grows. No stage of `make test` sets it.
const heap = { CLEARWAY_FUZZ_HEAP: "1" };
const timeoutMinutes = 24 * 60;
const vitest = (...args) => [node, "node_modules/vitest/vitest.mjs", "run", "--root", "ts/clearway", ...args];
const java = chosen();

const stages = [
  { name: "build", command: [node, "scripts/build.mjs"], lane: "typescript" },
  ...builds.map((build) => ({ ...build, after: build.cargo ? ["build"] : [], lane: "native" })),
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
    name: "channels: orders",
    command: vitest("--project", "node", "test/channel/endpoint/no-hang.test.ts"),
    // The test has eight combinations of carrier and wire. Each one runs this number of random orders.
    env: random(Math.ceil(orders / 8)),
    after: ["build"],
    lane: "typescript",
  },
  {
    name: "channels: orders, and what they leave behind",
    command: vitest("--project", "node", "test/channel/endpoint/no-leak.node.test.ts"),
    env: { ...random(orders), ...heap },
    after: ["build"],
    lane: "typescript",
  },
  {
    name: "foreign code: every misdeed at every point",
    command: vitest("--project", "node", "test/pool/foreign-code.node.test.ts", "test/task/foreign-code.node.test.ts"),
    env: { CLEARWAY_FUZZ_ALL: "1" },
    after: ["build"],
    lane: "typescript",
  },
  {
    name: "every property of the library",
    command: vitest("--project", "node", "--project", "pure"),
    env: { CLEARWAY_FUZZ_SEED: seed },
    after: ["build"],
    lane: "typescript",
  },
  ...(toolchains.c
    ? [
        {
          name: "codecs agree on random cases",
          command: [node, "conformance/fuzz.mjs", "ts", "c"],
          env: random(orders * 50),
          after: ["build", "native: C codec"],
          lane: "native",
        },
      ]
    : []),
  ...(java.builds
    ? [
        {
          name: "JVM: orders",
          command: [node, "scripts/jvm.mjs", "test", String(java.builds)],
          env: random(orders),
          after: ["build"],
          lane: "native",
        },
        { name: "JVM: jcstress", command: [node, "scripts/jvm-stress.mjs", "default"], lane: "native" },
      ]
    : []),
  ...(toolchains.rust
    ? [{ name: "loom: every order", command: [node, "scripts/loom.mjs", "all"], lane: "native" }]
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
  { name: "sanitizers", command: [node, "scripts/sanitize.mjs"], after: ["build"], lane: "native" },
  ...(fuzzer ? [{ name: "fuzzing", command: [node, "native/fuzz/fuzz.mjs", "--seconds", "600"], lane: "native" }] : []),
];

await runStages(
  "deep",
  stages.map((stage) => ({ timeoutMinutes, ...stage })),
  process.argv.slice(2),
  { record: "out/deep.json" },
);
