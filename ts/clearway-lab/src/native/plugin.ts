// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens the example plugin (native/plugins in the repository). Clearway's native cells measure this plugin.
import { existsSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "clearway-native";
import { packageRoot } from "../machine/package-root.js";

/** Returns CLEARWAY_LAB_PLUGIN. If it is not set, returns the path to which `make native` builds the plugin. */
function pluginPath(): string {
  const library = process.platform === "darwin" ? "libclearway_example_c.dylib" : "libclearway_example_c.so";
  const built = path.join(packageRoot(), "../../native/plugins/c/build", library);
  return process.env["CLEARWAY_LAB_PLUGIN"] ?? built;
}

/** Returns why no plugin can be opened here, and what to do. Returns undefined if one can be opened. */
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
    // The addon's message names what is missing.
    return (error as Error).message.split("\n")[0];
  }
}

/** Opens the plugin. The caller closes it. Rejects if the addon or the plugin is missing. */
export async function openPlugin(): Promise<Plugin> {
  const { loadPlugin } = await import("clearway-native");
  return loadPlugin(pluginPath());
}
