// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** Serves a folder below `/some/base/`, on this machine only. */
export async function serve(folder: string): Promise<{ url: string; close(): Promise<void> }> {
  const base = "/some/base/";
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    const file = normalize(path.slice(base.length));
    try {
      if (!path.startsWith(base) || file.startsWith("..")) throw new Error("not here");
      const body = await readFile(join(folder, path.endsWith("/") ? join(file, "index.html") : file));
      response.writeHead(200, { "content-type": types[extname(file)] ?? "text/html; charset=utf-8" }).end(body);
    } catch {
      response.writeHead(404).end("not here");
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
