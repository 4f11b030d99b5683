// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles the C of the native peers (native/*.c), once a run, into a folder that goes with it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { packageRoot } from "../machine/package-root.js";

/** The environment variable through which the lab tells its runners where the peers are, or why there are none. */
export const PEERS_VARIABLE = "CLEARWAY_LAB_NATIVE_PEERS";

export type NativePeers = { addon: string; plain: string } | { unavailable: string };

export interface CompiledPeers {
  peers: NativePeers;
  /** Removes the folder. */
  remove(): void;
}

/** Those that the lab has compiled for the whole run, else its own. Takes half a second, in which it blocks. */
export function compilePeers(): CompiledPeers {
  const given = process.env[PEERS_VARIABLE];
  if (given !== undefined) return { peers: JSON.parse(given) as NativePeers, remove: () => {} };
  if (process.platform !== "linux")
    return { peers: { unavailable: "the native peers are written for Linux: run it there" }, remove: () => {} };
  const folder = mkdtempSync(path.join(tmpdir(), "clearway-lab-native-"));
  const peers = compileInto(folder);
  return { peers, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function compileInto(folder: string): NativePeers {
  const compiler = process.env["CC"] || "cc";
  const headers = createRequire(import.meta.url)("node-api-headers") as { include_dir: string };
  const sources = path.join(packageRoot(), "native");
  const made = { addon: path.join(folder, "addon.node"), plain: path.join(folder, "plain.so") };
  for (const [name, file] of Object.entries(made)) {
    const source = path.join(sources, `${name}.c`);
    // What a release has; the peers are to be as fast as their authors would have them.
    const flags = ["-O2", "-shared", "-fPIC", "-I", headers.include_dir, source, "-o", file];
    const { error, status, stderr } = spawnSync(compiler, flags, { encoding: "utf8" });
    if (error !== undefined)
      return { unavailable: `no C compiler: install one (Debian: apt-get install gcc) or set CC to its path` };
    if (status !== 0 || !existsSync(file))
      return { unavailable: `${compiler} could not compile native/${name}.c: ${stderr.trim().split("\n")[0]}` };
  }
  return made;
}
