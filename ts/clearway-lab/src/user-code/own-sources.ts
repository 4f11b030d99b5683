// SPDX-License-Identifier: MIT OR Apache-2.0
// The esbuild plugin that compiles only the user's own files. Packages, CommonJS and native modules are imported from where they are. In the
// user's files, the URLs of other files keep their meaning, and the URL of a TypeScript file becomes that of its compiled form.
import { existsSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Loader, OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from "esbuild";

/** Matches `new URL("./file", import.meta.url)`, which bundlers also look for, and the properties of `import.meta` with a place. */
const PLACES =
  /new\s+URL\(\s*(["'`])(\.{1,2}\/[^"'`$]+)\1\s*,\s*import\.meta\.url\s*,?\s*\)|\bimport\.meta\.(url|filename|dirname)\b/g;

/** The sources that Node 20 cannot load, by the extension that an import may write instead. */
const SOURCES: Record<string, string[]> = {
  ".js": [".ts", ".tsx", ".jsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
};
const NEEDS_COMPILER = /\.([mc]?ts|[jt]sx)$/;
const LOADERS: Record<string, Loader> = { ts: "ts", mts: "ts", cts: "ts", tsx: "tsx", jsx: "jsx", js: "js", mjs: "js" };

const resolving = Symbol("resolving");

/**
 * `texts` are modules without a file, by their paths. `onWorker` receives each file whose URL the code makes and that Node cannot load
 * as it is. `outputName` returns the name of a compiled file.
 */
export function ownSources(
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
  const isSource = NEEDS_COMPILER.test(file) && !/[\\/]node_modules[\\/]/.test(file);
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
export function isCommonJs(text: string): boolean {
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
  if (existsSync(target)) return NEEDS_COMPILER.test(target) || isMisplacedModule(target) ? target : undefined;
  const extension = path.extname(target);
  const stem = target.slice(0, target.length - extension.length);
  return SOURCES[extension]?.map((each) => stem + each).find((each) => existsSync(each));
}
