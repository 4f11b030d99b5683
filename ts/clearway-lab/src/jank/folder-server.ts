// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves a local page and the files below its folder, on 127.0.0.1 only and only while a run lasts.
import { createReadStream, realpathSync, statSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

export interface FolderServer {
  /** The address of the page. */
  readonly url: string;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".htm": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".avif": "image/avif",
  ".ico": "image/x-icon",
  ".wasm": "application/wasm",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
  ".mp4": "video/mp4",
  ".webm": "video/webm",
};

/** Serves the folder of `file`. Files above that folder, hidden files and links that lead out of it are refused. */
export async function serveFolder(file: string): Promise<FolderServer> {
  const root = realpathSync(path.dirname(file));
  let host = "";
  const server = http.createServer((request, response) => {
    // A page of another site may have its name resolved to this machine.
    if (request.headers.host !== host) return refuse(response, 403);
    if (request.method !== "GET" && request.method !== "HEAD") return refuse(response, 405);
    const found = findFile(root, request.url ?? "/");
    if (found === undefined) return refuse(response, 404);
    response.writeHead(200, {
      "content-type": TYPES[path.extname(found.file).toLowerCase()] ?? "application/octet-stream",
      "content-length": found.bytes,
      "cache-control": "no-store",
    });
    if (request.method === "HEAD") response.end();
    else
      createReadStream(found.file)
        .on("error", () => response.destroy())
        .pipe(response);
  });
  await new Promise<void>((ready, failed) => {
    server.once("error", failed);
    server.listen(0, "127.0.0.1", ready);
  });
  server.unref();
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/${encodeURIComponent(path.basename(file))}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** Returns the file of an address, or undefined if it is not a visible regular file in `root`. */
export function findFile(root: string, address: string): { file: string; bytes: number } | undefined {
  let name: string;
  try {
    name = decodeURIComponent(address.replace(/[?#].*$/s, ""));
  } catch {
    return undefined;
  }
  const parts = name.split("/").filter((part) => part !== "");
  if (parts.some((part) => part.startsWith(".") || part.includes("\\") || part.includes("\0"))) return undefined;
  try {
    const file = realpathSync(path.join(root, ...parts));
    if (!isInside(root, file)) return undefined;
    const stats = statSync(file);
    if (stats.isDirectory())
      return name.endsWith("/") ? findFile(root, `${address.replace(/[?#].*$/s, "")}index.html`) : undefined;
    return stats.isFile() ? { file, bytes: stats.size } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether a real path lies in a folder. */
export function isInside(root: string, file: string): boolean {
  const relative = path.relative(root, file);
  return relative !== "" && relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

function refuse(response: http.ServerResponse, status: number): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(http.STATUS_CODES[status]);
}
