#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/swift-lab.mjs`: compiles the lab's runner for Swift, with optimisation. Writes swift/.build/lab/runner.json, which says how the
// lab starts the runner. It is quick if nothing has changed. On failure, prints the reason and exits with status 1.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { libclearway, plugins } from "./native.mjs";
import { isProgram } from "./problems.mjs";
import { build, folder, missing, product, toolchain } from "./swift.mjs";

const target = join(folder, ".build/lab");
const file = join(target, "runner.json");

/** Builds the runner. Returns whether it exists. */
export function buildRunner() {
  const tools = toolchain();
  if (tools === undefined) {
    console.error(`swift-lab: ${missing}`);
    return false;
  }
  // A failed build leaves an old program. The lab must not measure it.
  rmSync(file, { force: true });
  if (build("ClearwayLab") !== 0) return false;
  mkdirSync(target, { recursive: true });
  // The native files may be missing; the cells that need them then report that.
  const native = { plugin: plugins.c.example, library: libclearway };
  writeFileSync(file, JSON.stringify({ program: product("ClearwayLab"), version: tools.version, ...native }, null, 2));
  return true;
}

if (isProgram(import.meta)) process.exitCode = buildRunner() ? 0 : 1;
