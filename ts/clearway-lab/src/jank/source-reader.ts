// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads scripts and source maps: over HTTP for pages, from the disk for Node scripts. Nothing is read that the run did not load, and no map
// from elsewhere than its script.
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isInside } from "../../../../scripts/local-server.mjs";
import { MAP_BYTES_MAX, type ReadResult, SCRIPT_BYTES_MAX, type SourceReader } from "./source-map.js";
import { hasEsbuild, TYPESCRIPT, withoutTypes } from "./typescript.js";

const READ_MS_MAX = 10_000;

/** Reads what a page loaded. `loaded` has the addresses of its scripts and documents. */
export function httpReader(loaded: ReadonlySet<string>): SourceReader {
  return {
    readScript: async (url) =>
      loaded.has(url) ? fetchText(url, SCRIPT_BYTES_MAX, "the script") : { problem: undefined },
    readMap: async (url, scriptUrl) =>
      new URL(url).origin === new URL(scriptUrl).origin
        ? fetchText(url, MAP_BYTES_MAX, "it")
        : { problem: `it is on another host than its script (${new URL(url).host || new URL(url).protocol})` },
  };
}

async function fetchText(url: string, bytesMax: number, what: string): Promise<ReadResult> {
  if (!/^https?:/.test(url)) return { problem: undefined };
  try {
    // A redirect may lead to another host.
    const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(READ_MS_MAX) });
    if (!response.ok) {
      await response.body?.cancel();
      return { problem: `${what} cannot be read again: status ${response.status}` };
    }
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += part.byteLength;
      if (bytes > bytesMax) return { problem: `${what} is larger than ${bytesMax >> 20} MB` };
      parts.push(part);
    }
    const mapUrl = response.headers.get("sourcemap") ?? response.headers.get("x-sourcemap") ?? undefined;
    return { text: Buffer.concat(parts).toString("utf8"), mapUrl };
  } catch (error) {
    const { name, cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    const why =
      name === "TimeoutError" ? `no answer in ${READ_MS_MAX / 1000} s` : (cause?.code ?? cause?.message ?? message);
    return { problem: `${what} cannot be read again: ${why}` };
  }
}

/** Reads scripts and maps of the package that `script` belongs to: the nearest folder with a package.json, else the script's own folder. */
export function fileReader(script: string): SourceReader {
  const root = packageFolder(path.dirname(script)) ?? path.dirname(script);
  return {
    readScript: async (url) => {
      const read = readInside(root, url, SCRIPT_BYTES_MAX, false);
      if ("problem" in read || !TYPESCRIPT.test(url) || !hasEsbuild()) return read;
      try {
        return { text: await withoutTypes(read.text, path.basename(fileURLToPath(url))) };
      } catch {
        return { problem: "it is not valid TypeScript" };
      }
    },
    readMap: async (url) => readInside(root, url, MAP_BYTES_MAX, true),
  };
}

function readInside(root: string, url: string, bytesMax: number, isMap: boolean): ReadResult {
  if (!url.startsWith("file:")) return { problem: isMap ? "it is not a file" : undefined };
  try {
    const file = realpathSync(fileURLToPath(url));
    if (!isInside(root, file)) return { problem: isMap ? "it is outside of the script's package" : undefined };
    const stats = statSync(file);
    if (!stats.isFile()) return { problem: isMap ? "it is not a regular file" : undefined };
    if (stats.size > bytesMax) return { problem: `the file is larger than ${bytesMax >> 20} MB` };
    return { text: readFileSync(file, "utf8") };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: isMap ? `it cannot be read: ${code === "ENOENT" ? "there is no such file" : code}` : undefined };
  }
}

function packageFolder(folder: string): string | undefined {
  if (existsSync(path.join(folder, "package.json"))) return folder;
  const parent = path.dirname(folder);
  return parent === folder ? undefined : packageFolder(parent);
}
