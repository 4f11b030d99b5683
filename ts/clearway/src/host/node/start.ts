// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ThreadOptions } from "../host.js";
import {
  hasTsNode,
  isTypeScript,
  type Loader,
  names,
  type StartOrders,
  type TaskModule,
  taskModule,
  urlOf,
} from "./task-module.js";

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
