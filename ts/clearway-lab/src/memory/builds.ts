// SPDX-License-Identifier: MIT OR Apache-2.0
// The same fills with builds that are not optimised: the plugins in C and in Rust, and V8 without its optimising compiler. The
// counterpart of the authors' comparison of debug and release builds.
import v8 from "node:v8";
import { openPlugin, type PluginBuild, pluginFile } from "../native/plugin.js";
import type { Mechanism } from "../protocol/measured.js";
import { memoryOf } from "./clearway.js";
import { memoryKoffi, memoryReference } from "./peers.js";

/** The fills that every build has: through a copying method channel, and in shared memory. */
const FILLS = { copied: "clearway-copied", shared: "clearway-shared" } as const;

/** Returns the mechanisms of one build of a plugin. They are named by the build: `copied-c`, `shared-rust-debug`. */
export function memoryOfBuild(build: PluginBuild): Record<string, Mechanism> {
  const own = memoryOf(() => openPlugin({}, pluginFile(build)));
  return Object.fromEntries(Object.entries(FILLS).map(([name, fill]) => [`${name}-${build}`, own[fill]!]));
}

/**
 * Returns a mechanism that first switches V8's optimising compiler off, for the rest of the process. Each measurement has a process of its
 * own, in which little code was compiled before.
 */
export function unoptimised(mechanism: Mechanism): Mechanism {
  return (work) => {
    v8.setFlagsFromString("--no-opt");
    return mechanism(work);
  };
}

const loop = memoryKoffi["loop"]!;

/** The conversion in JavaScript, which is the code that V8 optimises, and the fill in C beside it. */
export const loopBuilds: Record<string, Mechanism> = {
  c: memoryReference["c"]!,
  loop,
  "loop-no-opt": unoptimised(loop),
};

/** The optimised plugin in C, called from code that V8 does not optimise. */
export const memoryNoOpt: Record<string, Mechanism> = Object.fromEntries(
  Object.entries(memoryOfBuild("c")).map(([name, mechanism]) => [`${name}-no-opt`, unoptimised(mechanism)]),
);
