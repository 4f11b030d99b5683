// SPDX-License-Identifier: MIT OR Apache-2.0
// `make sanitize`: runs the C codec, the conformance program and the example plugins under the compiler's sanitizers, with every vector,
// the corpus and random cases. Also runs the Rust crates under the sanitizers of nightly Rust. The builds have separate folders, so that no
// other build uses them.
import { spawnSync } from "node:child_process";
import { missing } from "./cargo.mjs";
import { toolchains } from "./native.mjs";
import { isProgram } from "./problems.mjs";
import { runStages } from "./stages.mjs";

const node = process.execPath;
// The first report of a sanitizer ends the program, so that a stage with a report never passes.
const common = "-O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all";
const kinds = {
  address: `${common} -fsanitize=address,undefined`,
  thread: `${common} -fsanitize=thread`,
};
const build = (folder, kind) => [
  "make",
  "-s",
  "-C",
  `native/${folder}`,
  `BUILD=build/${kind}`,
  `CFLAGS=${kinds[kind]}`,
];
const plugins = ["example", "misbehave"];

const cStages = [
  { name: "C codec, address: build", command: build("c", "address") },
  ...["every vector", "random cases"].map((what) => ({
    name: `C codec, address: ${what}`,
    after: ["C codec, address: build"],
    command: [
      node,
      ...(what === "every vector" ? ["conformance/check.mjs", "c"] : ["conformance/fuzz.mjs", "ts", "c"]),
    ],
    env: { CLEARWAY_CONFORMANCE_C: "native/c/build/address/conformance-c" },
  })),
  ...Object.keys(kinds).flatMap((kind) => [
    { name: `C plugins, ${kind}: build`, command: build("plugins/c", kind) },
    { name: `C plugin check, ${kind}: build`, command: build("plugins/check", kind) },
    {
      name: `C plugins, ${kind}`,
      after: [`C plugins, ${kind}: build`, `C plugin check, ${kind}: build`],
      command: [
        `native/plugins/check/build/${kind}/plugin-check`,
        ...plugins.map((name) => `native/plugins/c/build/${kind}/libclearway_${name}_c.so`),
      ],
    },
  ]),
];

const nightly = toolchains.rust && spawnSync("cargo", ["+nightly", "--version"]).status === 0;
// Sanitizers need a named target. Without one, build scripts and macros would also be built with sanitizers.
const host = () =>
  /host: (\S+)/.exec(spawnSync("rustc", ["-vV"], { encoding: "utf8" }).stdout ?? "")?.[1] ?? "x86_64-unknown-linux-gnu";
const rustStages = () => [
  {
    name: "Rust, address",
    // biome-ignore format: a command reads best on few lines.
    command: ["cargo", "+nightly", "test", "-q", "--target", host(), "--target-dir", "target/address",
      "-p", "clearway-codec", "-p", "clearway-core", "-p", "clearway-abi", "--lib", "--tests",
      // The skipped test measures the memory of the process, and the sanitizer keeps freed memory.
      "--", "--skip", "memory_does_not_grow_with_the_number_of_messages"],
    cwd: "native",
    // The panic guard deliberately leaks the payload of a caught panic. `make leaks` checks for other leaks.
    env: { RUSTFLAGS: "-Zsanitizer=address", ASAN_OPTIONS: "detect_leaks=0" },
  },
];

if (isProgram(import.meta)) {
  if (!toolchains.c) console.error("sanitize: no C compiler (cc) or no make; what is in C is left out");
  if (!toolchains.rust) console.error(`sanitize: ${missing}`);
  else if (!nightly) console.error("sanitize: no nightly Rust; add it with: rustup toolchain install nightly");
  await runStages(
    "sanitize",
    [...(toolchains.c ? cStages : []), ...(nightly ? rustStages() : [])],
    process.argv.slice(2),
  );
}
