// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// `import.meta.url` would be shorter. But test runners and bundlers compile the library to CommonJS, where it is a syntax error or undefined.
// The stack has the name of the file in every format.

/** Returns the path of a file URL, and any other text unchanged. */
export function pathOf(file: string): string {
  try {
    return file.startsWith("file:") ? fileURLToPath(file) : file;
  } catch {
    return file;
  }
}

/** Returns the paths of the files in an error's stack, from the top. Source maps do not change them. Empty if the host has none. */
export function filesOf(error: Error): string[] {
  const { prepareStackTrace } = Error;
  try {
    Error.prepareStackTrace = (_, sites) => sites;
  } catch {
    // The app has frozen `Error`. The library then does not know its own place.
    return [];
  }
  try {
    const sites = error.stack as unknown;
    return Array.isArray(sites) ? (sites as NodeJS.CallSite[]).map((site) => pathOf(site.getFileName() ?? "")) : [];
  } catch {
    return [];
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
  }
}

let own: string | undefined;

/** Returns the path of the file that contains this function: the library's entry, or the bundle of an app. Empty if it is not known. */
export function ownFile(): string {
  own ??= filesOf(new Error())[0] ?? "";
  return own;
}

const found = new Map<string, string>();

/**
 * Returns the path of a file that lies beside the library's entry: one with which a worker starts. Returns undefined if a bundler has put
 * the library into the app's own files.
 */
export function libraryFile(name: string): string | undefined {
  const path = found.get(name) ?? (ownFile() && join(dirname(ownFile()), name));
  if (!path || !existsSync(path)) return undefined;
  found.set(name, path);
  return path;
}

/** Returns the path of the file with which a thread starts if it needs a loader for TypeScript. See {@link libraryFile}. */
export const startFile = (): string | undefined => libraryFile("start.mjs");
