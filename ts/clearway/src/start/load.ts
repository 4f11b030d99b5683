// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync, readFileSync } from "node:fs";
import { createRequire, register } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { hasTsNode, isTypeScript, names, type StartOrders } from "../host/node/task-module.js";
import { useTransformer } from "./typescript-hooks.js";

/** Imports the task module, with the loader that the app uses. Rejects with the error of the module or of its loader. */
export async function loadTaskModule({ url, loader, mayTransform }: StartOrders): Promise<void> {
  const path = fileURLToPath(url);
  // Node has put this file's path there.
  process.argv[1] = path;
  const near = [url, pathToFileURL(join(process.cwd(), "/")).href];
  if (loader === "tsx") await registerTsx(near);
  else if (loader === "ts-node" && isTypeScript(path)) {
    const require = registerTsNode(path, near);
    if (require) return void require(path);
  }
  const transforms = loader === "runner" && useTransformer(near);
  try {
    await import(url);
  } catch (reason) {
    if (transforms || !mayTransform || !isUnknownExtension(reason) || !useTransformer(near)) throw reason;
    // Node remembers by its URL that the module could not be loaded.
    await import(`${url}${url.includes("?") ? "&" : "?"}clearway`);
  }
}

const isUnknownExtension = (reason: unknown): boolean =>
  (reason as { code?: unknown } | null | undefined)?.code === "ERR_UNKNOWN_FILE_EXTENSION";

const commandLine = (): string => [...process.execArgv, process.env["NODE_OPTIONS"]].join("\n");

// In Node 20, and in several versions of Node 22 and 24, tsx registers itself on the main thread only.
async function registerTsx(near: readonly string[]): Promise<void> {
  if (await transpilesHere()) return;
  const places = [
    ...commandLine()
      .split(/[\s=]+/)
      .flatMap(placeOf),
    ...near,
  ];
  const loader = resolveFrom("tsx", places)?.path;
  // A version of tsx without this file is too old to be registered. The import of the task module then fails with Node's error.
  const api = loader && join(dirname(loader), "esm/api/index.mjs");
  if (!api || !existsSync(api)) return;
  const { register } = (await import(pathToFileURL(api).href)) as { register(): unknown };
  register();
}

// Returns whether a module with an enum can be imported. Node's type stripping refuses it.
async function transpilesHere(): Promise<boolean> {
  // A variable, because the compiler and bundlers would look for the file.
  const probe = "./probe.ts";
  return import(probe).then(
    () => true,
    () => false,
  );
}

// Returns the place of a loader that the command line names by its path or URL.
function placeOf(text: string): string[] {
  if (/^file:/i.test(text)) return [text];
  return existsSync(text) ? [pathToFileURL(text).href] : [];
}

// Registers ts-node. Returns `require` for a CommonJS module, which must be loaded with it, and undefined for an ES module. Does not check
// types: the app's main thread and its editor do.
function registerTsNode(path: string, near: readonly string[]): NodeJS.Require | undefined {
  const found = resolveFrom("ts-node", near);
  if (isCommonJs(path)) {
    if (!hasTsNode()) (found?.require(found.path) as TsNode | undefined)?.register({ transpileOnly: true });
    return createRequire(path);
  }
  // The options `--loader` and `--import` apply to this worker too. The command `ts-node --esm` passes a loader that works only in the
  // process that the command has started.
  const line = commandLine();
  if (found && (!names(line, "ts-node") || line.includes("child-loader")))
    register(pathToFileURL(found.require.resolve("ts-node/esm/transpile-only")).href);
  return undefined;
}

interface TsNode {
  register(options: { transpileOnly: boolean }): unknown;
}

/** Returns the first copy of a package that one of the places can load, and the place's `require`. */
function resolveFrom(name: string, places: readonly string[]): { path: string; require: NodeJS.Require } | undefined {
  for (const place of places) {
    try {
      const require = createRequire(place);
      return { path: require.resolve(name), require };
    } catch {
      // The next place may have the package.
    }
  }
  return undefined;
}

// Returns whether Node loads a file as CommonJS: by its extension, or by the nearest package.json.
function isCommonJs(path: string): boolean {
  if (/\.(mts|mjs)$/i.test(path)) return false;
  if (/\.(cts|cjs)$/i.test(path)) return true;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (existsSync(file)) return (JSON.parse(readFileSync(file, "utf8")) as { type?: unknown }).type !== "module";
    if (folder === dirname(folder)) return true;
  }
}
