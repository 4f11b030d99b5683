// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads the native peers: the hand-written addon, and the plain C library through koffi.
import { createRequire } from "node:module";
import type koffi from "koffi";
import { packagesMissing } from "../machine/optional-packages.js";
import { compilePeers, type NativePeers } from "./compile.js";

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

export async function loadKoffi(): Promise<typeof koffi> {
  return (await import("koffi")).default;
}

export async function loadPlain() {
  const ffi = await loadKoffi();
  return { ffi, library: ffi.load(peerFiles().plain) };
}
