// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles native/addon.c and native/plain.c, the native peers, into a temporary folder, once per run.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { packageRoot, packagesMissing } from "../machine/optional-packages.js";

/** The environment variable that gives runners the paths of the peers, or the reason that there are no peers. */
export const PEERS_VARIABLE = "CLEARWAY_LAB_NATIVE_PEERS";

export type NativePeers = { addon: string; plain: string } | { unavailable: string };

export interface CompiledPeers {
  peers: NativePeers;
  /** Removes the folder. */
  remove(): void;
}

/** Returns the peers that the lab compiled for the whole run. If there are none, compiles them, which blocks for half a second. */
export function compilePeers(): CompiledPeers {
  const fromEnvironment = process.env[PEERS_VARIABLE];
  if (fromEnvironment !== undefined) return { peers: JSON.parse(fromEnvironment) as NativePeers, remove: () => {} };
  if (process.platform !== "linux")
    return { peers: { unavailable: "the native peers are written for Linux: run it there" }, remove: () => {} };
  const folder = mkdtempSync(path.join(tmpdir(), "clearway-lab-native-"));
  const peers = compileInto(folder);
  return { peers, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function compileInto(folder: string): NativePeers {
  const compiler = process.env["CC"] || "cc";
  const missing = packagesMissing(["node-api-headers", "msgpackr"]);
  if (missing !== undefined) return { unavailable: missing };
  const headers = createRequire(import.meta.url)("node-api-headers") as { include_dir: string };
  const sources = path.join(packageRoot(), "native");
  const peers = { addon: path.join(folder, "addon.node"), plain: path.join(folder, "plain.so") };
  for (const [name, file] of Object.entries(peers)) {
    const source = path.join(sources, `${name}.c`);
    // The options of a release build, so that the peers run at the speed that their authors intended.
    const flags = ["-O2", "-shared", "-fPIC", "-I", headers.include_dir, source, "-o", file];
    const { error, status, stderr } = spawnSync(compiler, flags, { encoding: "utf8" });
    if (error !== undefined)
      return { unavailable: `no C compiler: install one (Debian: apt-get install gcc) or set CC to its path` };
    if (status !== 0 || !existsSync(file))
      return { unavailable: `${compiler} could not compile native/${name}.c: ${stderr.trim().split("\n")[0]}` };
  }
  return peers;
}
