// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * The plugin for Vite: `import clearway from "clearway-build/vite"`. It also works in Vitest.
 *
 * @module clearway-build/vite
 */

import { existsSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin, ResolvedConfig, UserConfig } from "vite";
import { emitChunks, loadTaskFile, readModule, resolveTaskFile, slashes, workerModule } from "./rollup-hooks.js";
import type { TaskFile } from "./task-file.js";
import { TaskStore } from "./task-store.js";
import type { OffloadFile, References } from "./transform.js";

/**
 * Moves the functions in calls of `offload()` to task files. Vite serves and builds them as files of workers.
 *
 * Works in `vite dev` and `vite build`, for browsers and for servers, and in Vitest. The build fails, and the dev server shows an error, for
 * a function that cannot move to a worker.
 */
export default function clearway(): Plugin {
  return plugin(new TaskStore(), false);
}

// Vite bundles each worker with plugins of its own.
function plugin(store: TaskStore, inWorker: boolean): Plugin {
  let config: ResolvedConfig;
  let workerPlugins: NonNullable<UserConfig["worker"]>["plugins"];
  // The bundler's references to emitted files, of all builds: a watching build and builds of several environments share this plugin.
  const emitted = new Set<string>();
  let ownTaskFile: string | undefined;
  return {
    name: "clearway-offload",
    // Sees the file as the user wrote it, before TypeScript is compiled.
    enforce: "pre",
    config: {
      // After other plugins have added theirs to `worker.plugins`.
      order: "post",
      handler({ worker }) {
        if (inWorker) return undefined;
        workerPlugins = worker?.plugins;
        return {
          worker: { plugins: () => [plugin(store, true)] },
          // Vite's dev server otherwise finds the second import only with the first call, and reloads the page.
          optimizeDeps: { include: ["clearway/offload"] },
        };
      },
    },
    configResolved(resolved) {
      config = resolved;
      const bundled = bundleChainOf(config).at(-1);
      ownTaskFile = bundled === undefined ? undefined : store.find(bundled)?.name;
    },
    resolveId: { order: "pre", handler: (id) => resolveTaskFile(store, id) },
    // A module with the query `?worker` is one that Vite writes.
    load: { order: "pre", handler: (id) => (/[?&]worker(&|$)/.test(id) ? undefined : loadTaskFile(store, id)) },
    // In a server's build, a file's URL is relative to the module. Vite would write one that is relative to the site.
    resolveFileUrl({ fileName, chunkId, referenceId }) {
      if (!emitted.has(referenceId)) return undefined;
      const path = JSON.stringify(relativeUrl(chunkId, fileName));
      return `new URL(${path}, import.meta.url).href`;
    },
    async transform(code, id) {
      const file = readModule(this, store, { code, id, root: config.root });
      if (!file) return undefined;
      const { consumer, resolve } = this.environment.config;
      const forServer = consumer === "server";
      const serving = config.command === "serve";
      const references = async (): Promise<References> => {
        if (!forServer) return workerFiles(file, ownTaskFile);
        if (!serving) return emitChunks(this, file, id, emitted);
        // Older configurations of Vite have a list.
        const theirs = typeof workerPlugins === "function" ? workerPlugins() : workerPlugins;
        const plugins = [theirs, plugin(store, false)];
        return nodeFile(config, resolve, plugins, file.taskFile);
      };
      const written = file.write(await references());
      return { code: written.code, map: written.map.toString() };
    },
  };
}

/** Returns the URL of a file of the output, relative to another one. */
function relativeUrl(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
}

// The files for which Vite makes the bundle of a worker, from the outermost worker to the innermost.
function bundleChainOf(config: ResolvedConfig): readonly string[] {
  return (config as { bundleChain?: readonly string[] }).bundleChain ?? [];
}

function workerFiles(file: OffloadFile, ownTaskFile: string | undefined): References {
  const own = file.taskFile.name === ownTaskFile;
  const path = JSON.stringify(`${slashes(file.taskFile.path)}?worker&url`);
  return {
    url: own ? undefined : "__clearwayTaskUrl",
    base: "import.meta.url",
    worker: "__clearwayWorkerUrl",
    imports:
      (own ? "" : `import __clearwayTaskUrl from ${path};\n`) +
      `import __clearwayWorkerUrl from ${JSON.stringify(`${workerModule}?worker&url`)};\n`,
  };
}

/**
 * Bundles a task file for Node into Vite's folder of caches: a dev server has no files that a worker of Node could load. Vitest loads
 * modules from such a server.
 */
async function nodeFile(
  config: ResolvedConfig,
  { external: _external, noExternal: _noExternal, ...resolve }: ResolvedConfig["environments"][string]["resolve"],
  plugins: UserConfig["plugins"],
  { path, name }: TaskFile,
): Promise<References> {
  const outDir = join(cacheOf(config), "clearway-offload");
  const { build } = await import("vite");
  await build({
    configFile: false,
    root: config.root,
    mode: config.mode,
    envDir: config.envDir,
    envPrefix: config.envPrefix ?? "VITE_",
    logLevel: "warn",
    define: config.define ?? {},
    // Packages stay outside of the file, also in Vitest, which sets `noExternal`.
    environments: { ssr: { resolve } },
    resolve: { alias: config.resolve.alias },
    plugins,
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      target: "node20",
      minify: false,
      sourcemap: "inline",
      rollupOptions: {
        input: { [name]: path },
        output: { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
      },
    },
  });
  const url = JSON.stringify(pathToFileURL(join(outDir, `${name}.mjs`)).href);
  return { url, base: "import.meta.url", worker: undefined, imports: "" };
}

/** Returns Vite's folder of caches. One outside of the app's package is replaced: Node looks for packages from the importing file upwards. */
function cacheOf({ root, cacheDir }: ResolvedConfig): string {
  let app = root;
  while (!existsSync(join(app, "package.json"))) {
    if (dirname(app) === app) return cacheDir;
    app = dirname(app);
  }
  return slashes(cacheDir).startsWith(`${slashes(app)}/`) ? cacheDir : join(app, "node_modules/.vite");
}
