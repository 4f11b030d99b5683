// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens the example plugin (native/plugins of the repository), with which Clearway's cells are measured.
import { existsSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "clearway-native";
import { packageRoot } from "../machine/package-root.js";

/** Returns CLEARWAY_LAB_PLUGIN, or the path to which `make native` builds the plugin. */
function pluginPath(): string {
  const library = process.platform === "darwin" ? "libclearway_example_c.dylib" : "libclearway_example_c.so";
  const built = path.join(packageRoot(), "../../native/plugins/c/build", library);
  return process.env["CLEARWAY_LAB_PLUGIN"] ?? built;
}

/** Returns why no plugin can be opened here, and what to do; undefined if one can. */
export async function pluginProblem(): Promise<string | undefined> {
  const file = pluginPath();
  if (!existsSync(file))
    return `the example plugin is not built (${path.basename(file)}): in a clone of Clearway's repository run make native, or set CLEARWAY_LAB_PLUGIN`;
  try {
    const plugin = await openPlugin();
    await plugin.close();
    return undefined;
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_MODULE_NOT_FOUND")
      return "clearway-native is not installed: npm install clearway-native beside clearway-lab, or use a clone of Clearway's repository";
    // The addon's own message says what it needs.
    return (error as Error).message.split("\n")[0];
  }
}

/** Opens the plugin; the caller closes it. Rejects if there is no addon or no plugin. */
export async function openPlugin(): Promise<Plugin> {
  const { loadPlugin } = await import("clearway-native");
  return loadPlugin(pluginPath());
}
