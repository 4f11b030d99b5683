// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

export interface Site extends AsyncDisposable {
  /** The address of the site. It ends with a slash. */
  readonly url: string;
}

/** Serves a folder of static files on loopback, on a free port, without cross-origin isolation headers. */
export async function serve(folder: string): Promise<Site> {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://localhost").pathname);
    readFile(join(folder, path)).then(
      (body) =>
        response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream" }).end(body),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
