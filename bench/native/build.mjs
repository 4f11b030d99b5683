// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles the benchmark's peers and plugin with the system's C compiler, into out/native.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { missing as rustMissing } from "../../scripts/cargo.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Returns the folder of Node-API's header: next to this Node, or in the packed Node 24, whose Node-API is a superset. */
function headers() {
  const beside = join(dirname(process.execPath), "../include/node");
  const require = createRequire(import.meta.url);
  const packed = () => {
    try {
      return join(dirname(require.resolve(`node-${process.platform}-${process.arch}/package.json`)), "include/node");
    } catch {
      return beside; // not every platform has one
    }
  };
  return [() => beside, packed].map((place) => place()).find((place) => existsSync(join(place, "node_api.h")));
}

function compile(from, to, ...options) {
  const out = join(root, "out/native");
  mkdirSync(out, { recursive: true });
  const file = join(out, to);
  const always = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"];
  execFileSync("cc", [...always, ...options, join(root, from), "-o", file, "-lpthread"], { stdio: "inherit" });
  return file;
}

let built;

/**
 * Returns `files`, the hand-written peers and the plugin, compiled on first use; or `why` there are none, with what to do. Throws an
 * Error if a compiler fails; it has then printed its own messages.
 */
export function nativeFiles() {
  built ??= make();
  return built;
}

function make() {
  if (!existsSync(join(root, "ts/clearway-native/dist/clearway.node")))
    return {
      why: spawnSync("cargo", ["--version"]).error
        ? `${rustMissing}; then run make bench again`
        : "the addon was not built: npm run build -w clearway-native",
    };
  if (spawnSync("cc", ["--version"]).error)
    return { why: "no C compiler (cc). Debian: apt-get install build-essential; then run make bench again" };
  const include = headers();
  if (include === undefined)
    return { why: "node_api.h stands neither beside Node nor with the packed Node 24: run make setup" };
  return {
    files: {
      bare: compile("bench/native/bare.c", "bare.node", "-I", include),
      plugin: compile("ts/clearway-native/test/fixtures/probe.c", "probe.so", "-I", join(root, "native/include")),
    },
  };
}
