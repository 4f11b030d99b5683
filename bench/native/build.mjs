// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles the peers and the plugin that the benchmark uses, with the system's C compiler, into out/native.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Node-API's header: beside this Node, or with the packed Node 24, whose Node-API is a superset. */
function headers() {
  const beside = join(dirname(process.execPath), "../include/node");
  const require = createRequire(import.meta.url);
  const packed = () =>
    join(dirname(require.resolve(`node-${process.platform}-${process.arch}/package.json`)), "include/node");
  const found = [() => beside, packed].map((place) => place()).find((place) => existsSync(join(place, "node_api.h")));
  if (!found) throw new Error("bench: node_api.h was found neither beside Node nor with the packed Node 24");
  return found;
}

function compile(from, to, ...options) {
  const out = join(root, "out/native");
  mkdirSync(out, { recursive: true });
  const file = join(out, to);
  const always = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"];
  execFileSync("cc", [...always, ...options, join(root, from), "-o", file, "-lpthread"], { stdio: "inherit" });
  return file;
}

export const bareAddon = () => compile("bench/native/bare.c", "bare.node", "-I", headers());
export const probePlugin = () =>
  compile("ts/clearway-native/test/fixtures/probe.c", "probe.so", "-I", join(root, "native/include"));
