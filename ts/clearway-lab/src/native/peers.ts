// SPDX-License-Identifier: MIT OR Apache-2.0
// The native peers: compiles native/addon.c and native/plain.c into a temporary folder, once per run, and loads them: the hand-written addon,
// and the plain C library through koffi.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import type koffi from "koffi";
import { packageRoot, packagesMissing } from "../machine/optional-packages.js";

/** The environment variable that gives runners the paths of the peers, or the reason that there are no peers. */
export const PEERS_VARIABLE = "CLEARWAY_LAB_NATIVE_PEERS";

type NativePeers = { addon: string; plain: string } | { unavailable: string };

interface CompiledPeers {
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

/** The functions of native/addon.c. `echo` and `ask` copy the bytes. `fill` writes in place, and `take` only returns null. */
export interface Addon {
  fill(bytes: Uint8Array, value: number): void;
  echo(bytes: Uint8Array): Uint8Array;
  take(bytes: Uint8Array): null;
  ask(answer: (bytes: Uint8Array) => Uint8Array, bytes: Uint8Array): Uint8Array;
}

/** Returns why the peers cannot run here, and how to make them run. Returns undefined if they can run. */
export async function peersProblem(): Promise<string | undefined> {
  const peers = compiledPeers();
  return "unavailable" in peers ? peers.unavailable : undefined;
}

/** Returns the same for koffi, which also needs the compiled C library. */
export async function koffiProblem(): Promise<string | undefined> {
  const missing = packagesMissing(["koffi"]);
  if (missing !== undefined) return missing;
  try {
    await loadKoffi();
  } catch (error) {
    const why = (error as Error).message.split("\n")[0];
    return `koffi does not load here (${why}): it has no build for every platform`;
  }
  return peersProblem();
}

let compiled: NativePeers | undefined;

function compiledPeers(): NativePeers {
  if (compiled === undefined) {
    const { peers, remove } = compilePeers();
    process.once("exit", remove);
    compiled = peers;
  }
  return compiled;
}

function peerFiles(): { addon: string; plain: string } {
  const peers = compiledPeers();
  if ("unavailable" in peers) throw new Error(peers.unavailable);
  return peers;
}

export function loadAddon(): Addon {
  return createRequire(import.meta.url)(peerFiles().addon) as Addon;
}

async function loadKoffi(): Promise<typeof koffi> {
  return (await import("koffi")).default;
}

export async function loadPlain() {
  const ffi = await loadKoffi();
  return { ffi, library: ffi.load(peerFiles().plain) };
}
