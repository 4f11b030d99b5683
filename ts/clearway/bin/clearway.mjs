#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// The command `clearway`. The package clearway-lab has it; without that package, this file says how to install it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

/** Returns the lab's file as a module of `from` finds it. Undefined if the lab is not installed there. */
function findLab(from) {
  try {
    return createRequire(from).resolve("clearway-lab/cli");
  } catch (error) {
    if (error.code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

// The app's lab comes first: a package manager may keep this package in a folder of its own, from which the lab is not found.
const lab = findLab(path.join(process.cwd(), "package.json")) ?? findLab(import.meta.url);
if (lab === undefined) {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  console.error(
    `error: the command clearway is in the package clearway-lab, which is not installed: npm install --save-dev clearway-lab@${version}`,
  );
  process.exitCode = 1;
} else await import(pathToFileURL(lab).href);
