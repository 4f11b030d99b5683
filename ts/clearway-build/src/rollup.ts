// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * The plugin for Rollup: `import clearway from "clearway-build/rollup"`. For output in the format `es`.
 *
 * @module clearway-build/rollup
 */

import type { Plugin } from "rollup";
import { emitChunks, loadTaskFile, readModule, resolveTaskFile } from "./rollup-hooks.js";
import { TaskStore } from "./task-store.js";
import { mayOffload } from "./transform.js";

/**
 * Moves the functions in calls of `offload()` to task files, which become chunks of the bundle.
 *
 * Works before and after a plugin that compiles TypeScript. The build fails for a function that cannot move to a worker.
 */
export default function clearway(): Plugin {
  const store = new TaskStore();
  return {
    name: "clearway-offload",
    // A plugin for TypeScript may look for the task file on disk.
    resolveId: { order: "pre", handler: (id) => resolveTaskFile(store, id) },
    load: { order: "pre", handler: (id) => loadTaskFile(store, id) },
    async transform(code, id) {
      const file = readModule(this, store, { code, id, root: process.cwd() });
      if (!file) return undefined;
      const written = file.write(await emitChunks(this, file, id));
      return { code: written.code, map: written.map.toString() };
    },
    // Rollup's cache has the module's code, but this instance does not have its task file.
    shouldTransformCachedModule: ({ code }) => mayOffload(code),
    renderStart({ format }) {
      if (store.size > 0 && format !== "es") this.error(`offload() needs the output format "es": format=${format}`);
    },
  };
}
