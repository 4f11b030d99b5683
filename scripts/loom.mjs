#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `make loom`: tests every interleaving of threads in the native core's lock-free parts with loom. This takes more than a
// quarter of an hour of processor time; with loom's own variable LOOM_MAX_PREEMPTIONS=3, it takes seconds. A test may set its own bound.
import { cargo } from "./cargo.mjs";

const env = {
  ...process.env,
  RUSTFLAGS: "--cfg loom",
  // The build is for this run only. Without link-time optimisation it takes 22 s of processor time instead of 44 s.
  CARGO_PROFILE_RELEASE_LTO: "off",
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "16",
  CARGO_PROFILE_RELEASE_DEBUG: "0",
};
process.exitCode = cargo(["test", "-q", "--release", "--target-dir", "target/loom", "-p", "clearway-core", "--lib"], {
  env,
});
