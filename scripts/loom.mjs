#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/loom.mjs [PREEMPTIONS]`: tests the interleavings of threads in the native core's lock-free parts with loom. The default is
// three preemptions, which take seconds. `all` tests every order, which takes minutes. A test may set its own bound.
import { cargo } from "./cargo.mjs";

const asked = process.argv[2] ?? "3";
if (!/^(all|[1-9]\d?)$/.test(asked)) {
  console.error(`loom: PREEMPTIONS must be "all" or a whole number from 1 to 99: PREEMPTIONS=${asked}`);
  process.exit(2);
}
const env = {
  ...process.env,
  RUSTFLAGS: "--cfg loom",
  ...(asked !== "all" && { LOOM_MAX_PREEMPTIONS: asked }),
  // The build is for this run only. Without link-time optimisation it takes 22 s of processor time instead of 44 s.
  CARGO_PROFILE_RELEASE_LTO: "off",
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "16",
  CARGO_PROFILE_RELEASE_DEBUG: "0",
};
process.exitCode = cargo(["test", "-q", "--release", "--target-dir", "target/loom", "-p", "clearway-core", "--lib"], {
  env,
});
