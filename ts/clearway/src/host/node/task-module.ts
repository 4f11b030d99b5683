// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, extname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

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
export function taskModule(given: URL | string): TaskModule {
  // A single letter is a Windows drive, not the scheme of a URL.
  const source = typeof given === "string" && /^[a-z][a-z0-9+.-]+:/i.test(given) ? asUrl(given) : given;
  const asked = pathOfSource(source);
  return { source, asked, path: asked && (existsSync(asked) ? asked : (twinOf(asked) ?? asked)) };
}

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
