// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ThreadOptions } from "../host.js";

/** The task module of a pool, as a worker will load it. */
export interface TaskModule {
  /** What the pool was given. A text that is a URL is a `URL` here. */
  readonly source: URL | string;
  /** The path that the source names. Undefined if it names no file, as a `data:` URL. */
  readonly asked: string | undefined;
  /** The path of the file that the worker loads: the one that the source names, or its twin if only that exists. */
  readonly path: string | undefined;
}

// A compiler writes images.tasks.js for images.tasks.ts. Of the two files, one has the URL and the other one may be there.
const twins: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
  ".jsx": [".tsx"],
  ".ts": [".js"],
  ".mts": [".mjs"],
  ".cts": [".cjs"],
  ".tsx": [".js", ".jsx"],
};

/** Returns whether a file's name is one of TypeScript. */
export const isTypeScript = (path: string): boolean => /\.([cm]?ts|tsx)$/i.test(path);

/** Finds the file of a task module. Reads the file system: once if the file exists. Never throws. */
function taskModule(given: URL | string): TaskModule {
  // A single letter is a Windows drive, not the scheme of a URL.
  const source = typeof given === "string" && /^[a-z][a-z0-9+.-]+:/i.test(given) ? asUrl(given) : given;
  const asked = pathOfSource(source);
  return { source, asked, path: asked && (existsSync(asked) ? asked : (twinOf(asked) ?? asked)) };
}

/** Returns the source of a worker, as messages show it: a file as its path, and a `data:` URL, which may be long, without its data. */
export const shownSource = (source: URL | string): string =>
  taskModule(source).asked ?? String(source).replace(/^(data:[^,]*).*/s, "$1");

function asUrl(text: string): URL | string {
  try {
    return new URL(text);
  } catch {
    return text;
  }
}

function pathOfSource(source: URL | string): string | undefined {
  if (typeof source === "string") {
    // Node refuses any other text, because it may be a path or the name of a package.
    return /^(\.{0,2}[\\/]|[a-z]:[\\/])/i.test(source) ? resolve(source) : undefined;
  }
  try {
    return source.protocol === "file:" ? fileURLToPath(source) : undefined;
  } catch {
    // Node refuses the URL too, for example because it names another machine.
    return undefined;
  }
}

function twinOf(path: string): string | undefined {
  const extension = extname(path);
  const stem = path.slice(0, path.length - extension.length);
  return (twins[extension.toLowerCase()] ?? []).map((twin) => stem + twin).find((twin) => existsSync(twin));
}

/** Returns the names of the files beside `path` that differ from it in the extension only. Never throws. */
export function siblingsOf(path: string): string[] {
  const stem = basename(path, extname(path) in twins ? extname(path) : "");
  try {
    const names = readdirSync(dirname(path));
    return names.filter(
      (name) => name !== basename(path) && extname(name) in twins && basename(name, extname(name)) === stem,
    );
  } catch {
    return [];
  }
}

/** Returns the URL of the file that the worker loads. Keeps the query of the source. */
export function urlOf({ source, asked, path }: TaskModule): URL | string {
  if (path === undefined || path === asked) return source;
  const url = pathToFileURL(path);
  if (typeof source !== "string") url.search = source.search;
  return url;
}

// What a pool tells the file `start.mjs`, with which it starts a worker that needs a loader for TypeScript. Sent as environment data of
// `worker_threads`, because `workerData` may belong to the app.

/** Key of the environment data. */
export const ordersKey = "clearway:start";

/**
 * What loads TypeScript in the thread that starts the worker.
 *
 * - `tsx` and `ts-node` run the app. In many versions of Node, they do not register themselves in workers.
 * - `runner`: a test runner transforms the app's modules itself, in its own threads only.
 * - `inherited`: the worker has what it needs already: Node's own type stripping, or a loader among its command line options.
 */
export type Loader = "tsx" | "ts-node" | "runner" | "inherited";

export interface StartOrders {
  /** URL of the task module. */
  readonly url: string;
  readonly loader: Loader;
  /** Whether a transformer of the app's node_modules may compile the module if no loader does. */
  readonly mayTransform: boolean;
}

const tsNodeInstance = Symbol.for("ts-node.register.instance");

/** Returns whether ts-node is registered in this thread, with the command `ts-node` or by the app. */
export const hasTsNode = (): boolean => (process as unknown as Record<symbol, unknown>)[tsNodeInstance] !== undefined;

/** Returns whether a command line contains the package of this name, as a name or in a path. */
export const names = (commandLine: string, name: string): boolean =>
  new RegExp(`(^|[\\\\/=\\s"'@])${name}([\\\\/\\s"']|$)`).test(commandLine);

// `import.meta.url` would be shorter. But test runners and bundlers compile the library to CommonJS, where it is a syntax error or undefined.
// The stack has the name of the file in every format.

function ownFile(): string {
  const { prepareStackTrace } = Error;
  try {
    Error.prepareStackTrace = (_, [site]) => site?.getFileName() ?? "";
    const file = String(new Error().stack);
    return file.startsWith("file:") ? fileURLToPath(file) : file;
  } catch {
    // The app has frozen `Error`. The library then does not know its own place.
    return "";
  } finally {
    // Does nothing if the app has frozen `Error`.
    Reflect.set(Error, "prepareStackTrace", prepareStackTrace);
  }
}

let own: string | undefined;
const found = new Map<string, string>();

/**
 * Returns the path of a file that lies beside the library's entry: one with which a worker starts. Returns undefined if a bundler has put
 * the library into the app's own files.
 */
export function libraryFile(name: string): string | undefined {
  own ??= ownFile();
  const path = found.get(name) ?? (own && join(dirname(own), name));
  if (!path || !existsSync(path)) return undefined;
  found.set(name, path);
  return path;
}

/** Returns the path of the file with which a thread starts if it needs a loader for TypeScript. See {@link libraryFile}. */
export const startFile = (): string | undefined => libraryFile("start.mjs");

/** How a worker starts. */
export interface Start {
  readonly module: TaskModule;
  /** What Node's `Worker` loads. */
  readonly entry: URL | string;
  /** Undefined if the worker starts with the task module itself. */
  readonly orders: StartOrders | undefined;
}

/**
 * Decides how a worker starts: with the task module itself, or with `start.mjs`, which registers a loader for TypeScript and then imports
 * the task module. JavaScript starts directly, because a further file costs time, and because Node passes on the other loaders.
 */
export function startOf(source: URL | string, options: ThreadOptions): Start {
  const module = taskModule(source);
  const entry = urlOf(module);
  const direct = { module, entry, orders: undefined };
  if (module.path === undefined) return direct;
  const loader = loaderOf(options);
  const typeScript = isTypeScript(module.path);
  if (!needsLoader(loader, typeScript)) return direct;
  const file = startFile();
  if (file === undefined) return direct;
  const url = typeof entry === "string" ? pathToFileURL(module.path) : entry;
  const mayTransform = loader === "runner" || isTypeScript(module.asked ?? "");
  return { module, entry: file, orders: { url: url.href, loader, mayTransform } };
}

/** Returns the URL of the task module for a worker that imports it. Throws for a text that names neither a file nor a URL. */
export function taskUrl({ module, orders }: Start): string {
  if (orders) return orders.url;
  const entry = urlOf(module);
  if (typeof entry !== "string") return entry.href;
  if (module.path !== undefined) return pathToFileURL(module.path).href;
  throw new TypeError(
    `the task module must be a URL, an absolute path, or a path that begins with ./ or ../: ${entry}`,
  );
}

function needsLoader(loader: Loader, typeScript: boolean): boolean {
  const { versions, features } = process as { versions: NodeJS.ProcessVersions; features: { typescript?: unknown } };
  // Bun's and Deno's workers load TypeScript.
  if (versions["bun"] ?? versions["deno"]) return false;
  if (loader === "inherited") return typeScript && !features.typescript;
  // Under tsx, a module of JavaScript may import one of TypeScript.
  return typeScript || loader === "tsx";
}

function loaderOf({ execArgv = process.execArgv, env }: ThreadOptions): Loader {
  const variables = typeof env === "object" ? env : process.env;
  const commandLine = [...execArgv, variables["NODE_OPTIONS"]].join("\n");
  if (names(commandLine, "tsx")) return "tsx";
  if (names(commandLine, "ts-node") || hasTsNode()) return "ts-node";
  // The runners set these variables in the processes and threads that run tests.
  return process.env["VITEST"] || process.env["JEST_WORKER_ID"] ? "runner" : "inherited";
}
