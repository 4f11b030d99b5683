#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `node native/fuzz/fuzz.mjs [TARGET ...] [--seconds N] [--keep]` fuzzes the targets, beginning with the committed corpora. Without a
// TARGET it fuzzes all targets. `--seconds` sets the time per target; the default is 60. `--keep` then minimizes the corpora, and packs
// new cases into corpus/.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { pack, targets, unpack } from "./corpus.mjs";

const native = fileURLToPath(new URL("..", import.meta.url));
const options = { seconds: { type: "string", default: "60" }, keep: { type: "boolean", default: false } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const unknown = positionals.filter((name) => !targets.includes(name));
if (unknown.length > 0 || !/^[1-9]\d*$/.test(values.seconds)) {
  const what =
    unknown.length > 0
      ? `no target is called ${unknown.join(" or ")}`
      : `--seconds must be a whole number: ${values.seconds}`;
  console.error(`fuzz: ${what}; targets: ${targets.join(", ")}`);
  process.exit(2);
}

const has = (...args) => spawnSync("cargo", args, { stdio: "ignore" }).status === 0;
if (!has("+nightly", "fuzz", "--version")) {
  console.error(
    "fuzz: cargo-fuzz on nightly Rust is missing. Add it with: rustup toolchain install nightly && cargo install cargo-fuzz",
  );
  process.exit(1);
}

function fuzz(...args) {
  const { status, error } = spawnSync("cargo", ["+nightly", "fuzz", ...args], { cwd: native, stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

for (const target of positionals.length > 0 ? positionals : targets) {
  const folder = unpack(target);
  console.log(`fuzz: ${target}, ${values.seconds} s`);
  fuzz("run", target, folder, "--", `-max_total_time=${values.seconds}`);
  if (!values.keep) continue;
  fuzz("cmin", target, folder);
  console.log(`fuzz: ${target}: ${pack(target)} cases are packed`);
}
