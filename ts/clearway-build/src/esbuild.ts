// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * The plugin for esbuild: `import clearway from "clearway-build/esbuild"`. For bundles in the format `esm`, and `cjs` in Node.
 *
 * @module clearway-build/esbuild
 */

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, extname, resolve } from "node:path";
import type {
  BuildFailure,
  BuildOptions,
  BuildResult,
  Loader,
  OnLoadResult,
  OutputFile,
  PartialMessage,
  Plugin,
  PluginBuild,
} from "esbuild";
import { sourceFile } from "./parsed-file.js";
import { OffloadRefused } from "./refusal.js";
import { workerModule } from "./rollup-hooks.js";
import { type TaskFile, taskFilePath } from "./task-file.js";
import { TaskStore } from "./task-store.js";
import { mayOffload, type OffloadFile, type References, readOffloads } from "./transform.js";

const pluginName = "clearway-offload";
const workerName = "clearway-offload-worker";
/** The namespace of modules whose value is the URL of a worker's file. */
const urls = "clearway-offload-url";

/** What the main build and the builds of its workers share. */
interface Shared {
  readonly store: TaskStore;
  /** Names of the task files whose bundles are being made, from the outermost to the innermost. */
  readonly chain: readonly string[];
  /** Path of the worker's module, once a file has needed it. */
  readonly worker: { path?: string };
  /** Files that bundles of workers need next to them, by name, such as the bundles of their own offloaded functions. */
  readonly assets: Map<string, OutputFile>;
  /** Files of which bundles of workers were made, or could not be made. They are watched also while a build fails. */
  readonly inputs: Set<string>;
}

/**
 * Moves the functions in calls of `offload()` to task files. Each task file becomes a bundle of its own, next to the app's.
 *
 * The build fails for a function that cannot move to a worker.
 */
export default function clearway(): Plugin {
  return plugin({ store: new TaskStore(), chain: [], worker: {}, assets: new Map(), inputs: new Set() });
}

function plugin(shared: Shared): Plugin {
  return { name: pluginName, setup: (build) => setUp(build, shared) };
}

function setUp(build: PluginBuild, shared: Shared): void {
  const { store } = shared;
  if (shared.chain.length === 0) build.onEnd((result) => addAssets(build.initialOptions, shared.assets, result));
  build.onResolve({ filter: taskFilePath }, ({ path }) => {
    const file = store.find(path);
    return file && { path: file.path };
  });
  build.onResolve({ filter: /^clearway-offload:/ }, ({ path }) => ({
    path: path.slice("clearway-offload:".length) + fileExtension(build.initialOptions),
    namespace: urls,
  }));
  build.onLoad({ filter: /./, namespace: urls }, ({ path }) => bundle(build, shared, path));
  build.onLoad({ filter: sourceFile, namespace: "file" }, async ({ path }) => {
    const task = store.find(path);
    const source = task?.code ?? (await readFile(path, "utf8"));
    if (!task && !mayOffload(source)) return undefined;
    return load(build, shared, path, source, task);
  });
}

async function load(
  build: PluginBuild,
  shared: Shared,
  path: string,
  source: string,
  task: TaskFile | undefined,
): Promise<OnLoadResult | undefined> {
  let file: OffloadFile | undefined;
  try {
    file = readOffloads(path, source, build.initialOptions.absWorkingDir ?? process.cwd());
  } catch (error) {
    if (error instanceof OffloadRefused) return { errors: messagesOf(error) };
    throw error;
  }
  const loader = loaderOf(build, path);
  if (!file) return task && { contents: withMap(task.code, task.map), loader };
  shared.store.add(file.taskFile);
  if (dirname(build.initialOptions.assetNames ?? "").includes("[dir]")) {
    return { errors: [{ text: `offload() needs assetNames without [dir] in it: ${build.initialOptions.assetNames}` }] };
  }
  const base = baseOf(build);
  if (base === undefined)
    return { errors: [{ text: 'offload() needs the format "esm" (for platform "node" also "cjs")' }] };
  const written = file.write(await referencesTo(build, shared, file.taskFile, path, base));
  return { contents: withMap(written.code, written.map), loader };
}

/** Returns the expression for the URL of the bundle. Undefined in formats that have none. */
function baseOf({ initialOptions }: PluginBuild): string | undefined {
  const { platform = "browser", format = platform === "node" ? "cjs" : "iife" } = initialOptions;
  if (format === "esm") return "import.meta.url";
  return format === "cjs" && platform === "node" ? 'require("node:url").pathToFileURL(__filename).href' : undefined;
}

async function referencesTo(
  build: PluginBuild,
  { chain, worker }: Shared,
  task: TaskFile,
  importer: string,
  base: string,
): Promise<References> {
  const own = chain.at(-1) === task.name;
  if (!own && chain.includes(task.name)) {
    throw new Error(
      `offload() in ${importer} is in a circle: ${[...chain, task.name].join(" -> ")}; break it, or use a task module`,
    );
  }
  const { path, external, errors } = await build.resolve(workerModule, {
    kind: "import-statement",
    resolveDir: dirname(importer),
  });
  // An external package stays in node_modules, where `clearway/offload` finds its worker next to itself.
  const bundled = !external && errors.length === 0 && path !== "";
  if (bundled) worker.path ??= path;
  return {
    url: own ? undefined : "__clearwayTaskUrl",
    base,
    worker: bundled ? "__clearwayWorkerUrl" : undefined,
    imports:
      (own ? "" : `import __clearwayTaskUrl from ${JSON.stringify(`clearway-offload:${task.name}`)};\n`) +
      (bundled ? `import __clearwayWorkerUrl from "clearway-offload:${workerName}";\n` : ""),
  };
}

/** Bundles a task file, or the worker, and returns it as a file whose URL is the module's value. */
async function bundle(build: PluginBuild, shared: Shared, file: string): Promise<OnLoadResult> {
  const extension = fileExtension(build.initialOptions);
  const name = file.slice(0, -extension.length);
  const task = shared.store.byName(name);
  const entry = name === workerName ? shared.worker.path : task?.path;
  if (entry === undefined) return { errors: [{ text: `no offloaded functions are called ${name}` }] };
  const chain = task ? [...shared.chain, task.name] : shared.chain;
  const options = inherited(build.initialOptions, plugin({ ...shared, chain }));
  const watched = (files: readonly string[]): string[] => {
    const paths = files.map((path) => resolve(options.absWorkingDir ?? "", path));
    for (const path of paths) if (!taskFilePath.test(path)) shared.inputs.add(path);
    return [...shared.inputs];
  };
  try {
    const { outputFiles, metafile, warnings } = await build.esbuild.build({ ...options, entryPoints: [entry] });
    const watchFiles = watched(Object.keys(metafile.inputs));
    const code = entryName + (options.outExtension?.[".js"] ?? ".js");
    const contents = outputFiles.find(({ path }) => basename(path) === code)?.contents;
    if (contents === undefined) return { errors: [{ text: `the bundle of ${name} has no file ${code}` }], watchFiles };
    for (const each of outputFiles) {
      const base = basename(each.path);
      if (!base.startsWith(`${entryName}.`)) shared.assets.set(base, each);
    }
    return { contents, loader: "file", watchFiles, warnings };
  } catch (error) {
    const { errors } = error as Partial<BuildFailure>;
    if (errors === undefined) throw error;
    return { errors, watchFiles: watched(errors.flatMap(({ location }) => location?.file ?? [])) };
  }
}

// Node takes a file with this extension for an ES module, whatever the app's package.json says.
const fileExtension = ({ platform, outExtension }: BuildOptions): string =>
  platform === "node" ? ".mjs" : (outExtension?.[".js"] ?? ".js");

/** The name of a worker's bundle in memory. Other files of its build are assets. */
const entryName = "clearway-offload-entry";

/** Adds the assets of the workers' bundles to the app's build, in the folder of its assets. */
async function addAssets(options: BuildOptions, assets: Shared["assets"], result: BuildResult): Promise<void> {
  for (const [name, file] of result.errors.length === 0 ? assets : []) {
    const path = resolve(assetFolder(options, extname(name)), name);
    if (options.write === false) {
      if (!result.outputFiles?.some((each) => each.path === path)) result.outputFiles?.push({ ...file, path });
    } else {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, file.contents);
    }
  }
}

/** Returns the folder of the output in which assets with this extension are. */
function assetFolder(options: BuildOptions, extension: string): string {
  const { absWorkingDir = "", outfile = "", outdir = dirname(outfile), assetNames = "" } = options;
  return resolve(absWorkingDir, outdir, dirname(assetNames).replaceAll("[ext]", extension.slice(1)));
}

/** The options of the app's build that also hold for the bundle of a worker: one file, in memory. */
function inherited(options: BuildOptions, own: Plugin) {
  const { entryPoints, stdin, outfile, splitting, globalName, publicPath, plugins = [], ...rest } = options;
  return {
    ...rest,
    entryNames: entryName,
    // All files of workers are in one folder, so they find each other by their names.
    assetNames: basename(options.assetNames ?? "[name]-[hash]"),
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    logLevel: "silent",
    // The bundle becomes an asset. Paths to modules that stay outside of it are relative to this folder.
    outdir: assetFolder(options, fileExtension(options)),
    sourcemap: options.sourcemap ? "inline" : false,
    plugins: [own, ...plugins.filter(({ name }) => name !== pluginName)],
  } as const satisfies BuildOptions;
}

function loaderOf({ initialOptions }: PluginBuild, path: string): Loader {
  const extension = extname(path);
  const byDefault: Record<string, Loader> = { ".ts": "ts", ".mts": "ts", ".cts": "ts", ".tsx": "tsx", ".jsx": "jsx" };
  return initialOptions.loader?.[extension] ?? byDefault[extension] ?? "js";
}

const withMap = (code: string, map: { toUrl(): string }): string => `${code}\n//# sourceMappingURL=${map.toUrl()}`;

function messagesOf({ file, refusals }: OffloadRefused): PartialMessage[] {
  return refusals.map(({ message, line, column, length, text }) => ({
    text: message,
    location: { file, line, column, length, lineText: text },
  }));
}
