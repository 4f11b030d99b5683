// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles a user's file, and the worker files that it starts, to JavaScript that Node loads without an option. A loader hook would compile
// when a worker starts, which would count as part of the worker's start. Packages stay where they are: the compiled files import them by
// their full paths, so that they need not be in the user's folder. Without esbuild, Node loads the files as they are.

import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { BuildFailure, Loader, Message, OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from "esbuild";
import { packagesMissing } from "../machine/optional-packages.js";

export interface Compiled {
  /** The URLs of the compiled entries, in the order of the arguments. */
  urls: string[];
  /** Deletes the compiled files. */
  remove(): void;
  /** Returns what to add to the message of a file that does not load: the compiler that would have helped, or nothing. */
  hint(message: string): string;
}

/** The file does not compile. Its message has the places and the reasons. */
export class CompileError extends Error {}

/** The file needs a compiler that is not installed. */
export class CompilerMissing extends Error {}

/** A file, or a module that exists only as text. The text may import `file`'s neighbours. */
export interface Entry {
  file: string;
  text?: string;
}

/** Maximum number of rounds in which worker files name further worker files. */
const ROUNDS_MAX = 20;

/** Compiles the entries into a temporary folder. Rejects with a CompileError. */
export async function compile(entries: readonly Entry[]): Promise<Compiled> {
  const missing = packagesMissing(["esbuild"]);
  if (missing !== undefined) return loadAsTheyAre(entries, missing);
  const { build } = await import("esbuild");
  const folder = makeFolder();
  const remove = () => {
    process.off("exit", remove);
    rmSync(folder, { recursive: true, force: true });
  };
  // A command may end early, for example when the reader of its output closes the pipe.
  process.once("exit", remove);
  try {
    const names = entries.map(({ file, text }) => outputName(text === undefined ? file : `${file}?text`));
    const texts = new Map(entries.flatMap(({ file, text }) => (text === undefined ? [] : [[`${file}?text`, text]])));
    const sources = new Map(
      entries.map(({ file, text }, at) => [names[at] as string, text === undefined ? file : `${file}?text`]),
    );
    for (let round = 0, known = 0; known < sources.size && round < ROUNDS_MAX; round++) {
      known = sources.size;
      const found: string[] = [];
      await build({
        entryPoints: Object.fromEntries(sources),
        outdir: folder,
        bundle: true,
        splitting: true,
        format: "esm",
        platform: "node",
        target: "node20",
        // Without this, esbuild also accepts the condition "module", which Node does not know.
        conditions: [],
        mainFields: ["main"],
        sourcemap: "inline",
        chunkNames: "chunk-[hash]",
        outExtension: { ".js": ".mjs" },
        legalComments: "none",
        logLevel: "silent",
        plugins: [ownSources(texts, (file) => found.push(file), outputName)],
      });
      for (const file of found) sources.set(outputName(file), file);
    }
    return { urls: names.map((name) => pathToFileURL(path.join(folder, `${name}.mjs`)).href), remove, hint: () => "" };
  } catch (error) {
    remove();
    const { errors } = error as BuildFailure;
    throw Array.isArray(errors) ? new CompileError(errors.slice(0, 5).map(lineOf).join("\n")) : error;
  }
}

const JAVASCRIPT = /\.[cm]?js$/;
const TYPESCRIPT = /\.[cm]?ts$/;
/** The messages of Node about files that esbuild would have compiled or found. */
const NEEDS_COMPILER = /Unknown file extension|Cannot find module|strip-only/;
/** The messages of Node about a module that a package.json with `"type": "commonjs"` makes CommonJS, as `npm init` writes it. */
const NOT_COMMONJS = /Unexpected token 'export'|import statement outside a module/;

/** Returns the URLs of the files themselves. Throws a CompilerMissing if this Node cannot load one. */
function loadAsTheyAre(entries: readonly Entry[], missing: string): Compiled {
  const runsTypeScript = Boolean((process.features as { typescript?: unknown }).typescript);
  for (const { file } of entries) {
    if (JAVASCRIPT.test(file) || (runsTypeScript && TYPESCRIPT.test(file))) continue;
    throw new CompilerMissing(`this Node does not run ${path.extname(file)} files, and ${missing}`);
  }
  let folder: string | undefined;
  const remove = () => {
    process.off("exit", remove);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", remove);
  const urls = entries.map(({ file, text }) => {
    if (text === undefined) return pathToFileURL(file).href;
    folder ??= makeFolder();
    const written = path.join(folder, `${outputName(`${file}?text`)}.mjs`);
    writeFileSync(written, withPlacesOfImports(text, file));
    return pathToFileURL(written).href;
  });
  const hint = (message: string): string => {
    if (NEEDS_COMPILER.test(message)) return `; esbuild would compile TypeScript: ${missing}`;
    if (NOT_COMMONJS.test(message))
      return '; its package.json makes it CommonJS: name it .mjs, or set "type": "module" there';
    return "";
  };
  return { urls, remove, hint };
}

/** Returns a text whose imports lead from any folder to the modules that they name in the folder of `file`. */
function withPlacesOfImports(text: string, file: string): string {
  return text.replace(/(\bfrom )("[^"]+")/g, (_, from: string, quoted: string) => {
    const name = JSON.parse(quoted) as string;
    return from + JSON.stringify(path.isAbsolute(name) ? pathToFileURL(name).href : resolveFor(name, file));
  });
}

/** Returns the URL of a package for `file`. A lab that is not installed in the user's folder has its own. */
function resolveFor(name: string, file: string): string {
  try {
    return pathToFileURL(createRequire(file).resolve(name)).href;
  } catch {
    return import.meta.resolve(name);
  }
}

function makeFolder(): string {
  try {
    return mkdtempSync(path.join(realpathSync(tmpdir()), "clearway-bench-"));
  } catch (error) {
    const why = (error as Error).message;
    throw new CompileError(`no temporary folder can be made (${why}); set TMPDIR to a folder that can be written`);
  }
}

/** Returns the name of a compiled file. Two files with one name in different folders have different outputs. */
function outputName(file: string): string {
  const hash = createHash("sha256").update(file).digest("hex").slice(0, 8);
  return `${path.basename(file).replace(/[^\w.-]/g, "_")}-${hash}`;
}

function lineOf({ text, location }: Message): string {
  if (location === null) return text;
  const { file, line, column, lineText } = location;
  return `${file}:${line}:${column + 1}: ${text}: \`${lineText.trim().slice(0, 80)}\``;
}

// The esbuild plugin that compiles only the user's own files. Packages, CommonJS and native modules are imported from where they are. In the
// user's files, the URLs of other files keep their meaning, and the URL of a TypeScript file becomes that of its compiled form.

/** Matches `new URL("./file", import.meta.url)`, which bundlers also look for, and the properties of `import.meta` with a place. */
const PLACES =
  /new\s+URL\(\s*(["'`])(\.{1,2}\/[^"'`$]+)\1\s*,\s*import\.meta\.url\s*,?\s*\)|\bimport\.meta\.(url|filename|dirname)\b/g;

/** The sources that Node 20 cannot load, by the extension that an import may write instead. */
const SOURCES: Record<string, string[]> = {
  ".js": [".ts", ".tsx", ".jsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
};
const COMPILED = /\.([mc]?ts|[jt]sx)$/;
const LOADERS: Record<string, Loader> = { ts: "ts", mts: "ts", cts: "ts", tsx: "tsx", jsx: "jsx", js: "js", mjs: "js" };

const resolving = Symbol("resolving");

/**
 * `texts` are modules without a file, by their paths. `onWorker` receives each file whose URL the code makes and that Node cannot load
 * as it is. `outputName` returns the name of a compiled file.
 */
function ownSources(
  texts: ReadonlyMap<string, string>,
  onWorker: (file: string) => void,
  outputName: (file: string) => string,
): Plugin {
  return {
    name: "own sources",
    setup(build) {
      build.onResolve({ filter: /./ }, async (args) => {
        if (args.pluginData === resolving) return undefined;
        if (texts.has(args.path)) return { path: args.path, namespace: "text" };
        if (args.kind === "entry-point") return undefined;
        if (isBuiltin(args.path) || /^(file|data|https?):/.test(args.path)) return { path: args.path, external: true };
        return resolve(build, args);
      });
      build.onLoad({ filter: /./, namespace: "text" }, ({ path: file }) => ({
        contents: texts.get(file) as string,
        loader: "js",
        resolveDir: path.dirname(file),
      }));
      build.onLoad({ filter: /\.([mc]?ts|[jt]sx|m?js)$/ }, ({ path: file }) => ({
        contents: withPlaces(readFileSync(file, "utf8"), file, onWorker, outputName),
        loader: LOADERS[path.extname(file).slice(1)] as Loader,
        resolveDir: path.dirname(file),
      }));
    },
  };
}

async function resolve(build: PluginBuild, args: OnResolveArgs): Promise<OnResolveResult> {
  const { kind, importer, resolveDir } = args;
  const isPackage = !/^\.{0,2}(\/|$)/.test(args.path) && !path.isAbsolute(args.path);
  // The lab is always this lab: a scenario must not load a second one.
  const found =
    args.path === "clearway-lab"
      ? undefined
      : await build.resolve(args.path, { kind, importer, resolveDir, pluginData: resolving });
  if (found === undefined || found.errors.length > 0) {
    const own = /^clearway(-lab)?(\/|$)/.test(args.path) ? ownPackage(args.path) : undefined;
    return own === undefined ? { errors: found?.errors ?? [] } : { path: own, external: true };
  }
  const file = found.path;
  if (found.external || found.namespace !== "file") return { path: file, external: true };
  const isSource = COMPILED.test(file) && !/[\\/]node_modules[\\/]/.test(file);
  if (!isSource && (isPackage || isNative(file)))
    return { path: kind.startsWith("require") ? file : pathToFileURL(file).href, external: true };
  return { path: file };
}

/** Returns the URL of a package that the lab itself uses. A lab that is not installed in the user's folder still has `clearway`. */
function ownPackage(specifier: string): string | undefined {
  try {
    if (specifier === "clearway-lab") return new URL("./index.js", import.meta.url).href;
    return import.meta.resolve(specifier);
  } catch {
    return undefined;
  }
}

/** Returns whether Node must load a file itself: native modules, CommonJS. */
function isNative(file: string): boolean {
  if (/\.(node|cjs|wasm)$/.test(file)) return true;
  return file.endsWith(".js") && isCommonJs(readFileSync(file, "utf8"));
}

/** Returns whether Node takes a module for CommonJS, because of its package.json. `npm init` writes such a package.json. */
function isMisplacedModule(file: string): boolean {
  if (!file.endsWith(".js") || !/^\s*(import|export)\b/m.test(readFileSync(file, "utf8"))) return false;
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const manifest = path.join(folder, "package.json");
    if (existsSync(manifest)) return typeOf(readFileSync(manifest, "utf8")) !== "module";
    if (folder === path.dirname(folder)) return false;
  }
}

/** Returns the `type` of a package. Node reports a package.json that is not JSON when it loads the package. */
function typeOf(manifest: string): unknown {
  try {
    return (JSON.parse(manifest) as { type?: unknown } | null)?.type;
  } catch {
    return undefined;
  }
}

/** Returns whether a text is CommonJS: it has none of the words of a module, and one of CommonJS. */
function isCommonJs(text: string): boolean {
  return !/^\s*(import|export)\b/m.test(text) && /\b(module\.exports|exports\.\w|require\s*\()/.test(text);
}

function withPlaces(
  text: string,
  file: string,
  onWorker: (file: string) => void,
  outputName: (file: string) => string,
): string {
  const folder = path.dirname(file);
  const places = { url: pathToFileURL(file).href, filename: file, dirname: folder };
  return text.replace(PLACES, (_, __, relative: string | undefined, property: keyof typeof places) => {
    if (relative === undefined) return JSON.stringify(places[property]);
    const target = fileURLToPath(new URL(relative, places.url));
    const source = sourceOf(target);
    if (source === undefined) return `new URL(${JSON.stringify(relative)}, ${JSON.stringify(places.url)})`;
    onWorker(source);
    return `new URL(${JSON.stringify(`./${outputName(source)}.mjs`)}, import.meta.url)`;
  });
}

/** Returns the source that must be compiled so that `target` can be loaded. Undefined if Node can load `target`, or nothing is there. */
function sourceOf(target: string): string | undefined {
  if (existsSync(target)) return COMPILED.test(target) || isMisplacedModule(target) ? target : undefined;
  const extension = path.extname(target);
  const stem = target.slice(0, target.length - extension.length);
  return SOURCES[extension]?.map((each) => stem + each).find((each) => existsSync(each));
}
