// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * The plugin for webpack 5: `import clearway from "clearway-build/webpack"`. For bundles for browsers.
 *
 * @module clearway-build/webpack
 */

import { fileURLToPath } from "node:url";
import type { Compiler, WebpackPluginInstance } from "webpack";
import { offloadModule } from "./find-calls.js";
import { sourceFile } from "./parsed-file.js";
import { storeOf, TaskStore } from "./task-store.js";

const loader = fileURLToPath(new URL("./webpack-loader.js", import.meta.url));

/**
 * Moves the functions in calls of `offload()` to task files. webpack builds them as entries of workers.
 *
 * The compilation has an error for a function that cannot move to a worker.
 */
export default function clearway(): WebpackPluginInstance {
  const store = new TaskStore();
  return {
    apply(compiler: Compiler): void {
      storeOf.set(compiler, store);
      // Before the loaders that compile TypeScript and JSX.
      compiler.options.module.rules.push({ test: sourceFile, enforce: "pre", use: [{ loader }] });
      compiler.hooks.environment.tap("clearway-offload", () => {
        const { parser } = compiler.options.module;
        const javascript: { worker?: unknown } = { ...parser["javascript"] };
        const worker = Array.isArray(javascript.worker) ? javascript.worker : ["..."];
        // webpack then builds the file that is named in `new WorkerFile(new URL(…))` as the entry of a worker.
        parser["javascript"] = { ...javascript, worker: [`WorkerFile from ${offloadModule}`, ...worker] };
      });
    },
  };
}
