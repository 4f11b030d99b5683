// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens the example plugin (native/plugins in the repository). Clearway's native cells measure this plugin.
import { existsSync } from "node:fs";
import path from "node:path";
import type { Plugin, PluginOptions } from "clearway-native";
import { packageRoot, packagesMissing } from "../machine/optional-packages.js";

/** A build of an example plugin. Those without `debug` are optimised. */
export type PluginBuild = "c" | "c-debug" | "rust" | "rust-debug";

const BUILDS: Record<PluginBuild, { file: string; command: string }> = {
  c: { file: "plugins/c/build/libclearway_example_c", command: "make native" },
  "c-debug": {
    file: "plugins/c/build/unoptimised/libclearway_example_c",
    command: "make -C native/plugins/c BUILD=build/unoptimised CFLAGS=-O0",
  },
  rust: { file: "target/release/libclearway_example_rust", command: "make native" },
  "rust-debug": {
    file: "target/debug/libclearway_example_rust",
    command: "cargo build --manifest-path native/Cargo.toml -p clearway-example",
  },
};

/** Returns the path of a build in a clone of the repository. */
export function pluginFile(build: PluginBuild): string {
  const extension = process.platform === "darwin" ? "dylib" : "so";
  return path.join(packageRoot(), "../../native", `${BUILDS[build].file}.${extension}`);
}

/** Returns why a build cannot be opened here, and what to do. Returns undefined if it can be opened. */
export async function buildProblem(build: PluginBuild): Promise<string | undefined> {
  const file = pluginFile(build);
  if (!existsSync(file))
    return `the example plugin is not built (${build}): in a clone of Clearway's repository run ${BUILDS[build].command}`;
  return openProblem(file);
}

/** Returns CLEARWAY_LAB_PLUGIN. If it is not set, returns the path to which `make native` builds the plugin. */
function pluginPath(): string {
  return process.env["CLEARWAY_LAB_PLUGIN"] ?? pluginFile("c");
}

/** Returns why no plugin can be opened here, and what to do. Returns undefined if one can be opened. */
export async function pluginProblem(): Promise<string | undefined> {
  const file = pluginPath();
  if (!existsSync(file))
    return `the example plugin is not built (${path.basename(file)}): in a clone of Clearway's repository run make native, or set CLEARWAY_LAB_PLUGIN`;
  return openProblem(file);
}

async function openProblem(file: string): Promise<string | undefined> {
  try {
    const plugin = await openPlugin({}, file);
    await plugin.close();
    return undefined;
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_MODULE_NOT_FOUND")
      return packagesMissing(["clearway-native"], () => false);
    // The addon's message names what is missing.
    return (error as Error).message.split("\n")[0];
  }
}

/** Opens the plugin. The caller closes it. Rejects if the addon or the plugin is missing. */
export async function openPlugin(options: PluginOptions = {}, file = pluginPath()): Promise<Plugin> {
  const { loadPlugin } = await import("clearway-native");
  return loadPlugin(file, options);
}
