// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

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
